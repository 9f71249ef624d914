/* A folder for a test's files, gone when the test is. */
#ifndef TL_TESTS_TEMPDIR_H
#define TL_TESTS_TEMPDIR_H

#define TL_TEMPDIR_MAX 256

void tl_tempdir_create(char path[TL_TEMPDIR_MAX]); /* below TMPDIR or /tmp; stops the program when it cannot */
void tl_tempdir_remove(const char *path);          /* with the files and folders in it */
int tl_tempdir_files(const char *path);            /* how many files are in it */

#endif
