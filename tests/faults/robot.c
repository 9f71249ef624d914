/* Robots' files cut off anywhere and with bytes changed: links and joints, or a message with a line. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>

#include "fuzz_robot.h"

static void damaged(uint8_t *data, size_t n)
{
    static const char bytes[] = "<>/='\" 0-e\n&a!";
    for (size_t cut = 0; cut < n; cut += 7) fuzz_robot(data, cut);
    for (size_t i = 0; i < n; i += 3) {
        const uint8_t was = data[i];
        data[i] = (uint8_t)bytes[i % (sizeof bytes - 1)];
        fuzz_robot(data, n);
        data[i] = was;
    }
}

static void corpus_is_harmless(void **state)
{
    (void)state;
    DIR *dir = opendir(TL_SOURCE_DIR "/tests/fuzz/corpus/robot");
    assert_non_null(dir);
    int files = 0;
    for (struct dirent *d; (d = readdir(dir));) {
        if (d->d_name[0] == '.') continue;
        char path[4096];
        static uint8_t data[1 << 16];
        snprintf(path, sizeof path, "%s/%.200s", TL_SOURCE_DIR "/tests/fuzz/corpus/robot", d->d_name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        const size_t n = fread(data, 1, sizeof data, f);
        fclose(f);
        fuzz_robot(data, n);
        damaged(data, n);
        files++;
    }
    closedir(dir);
    assert_true(files >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(corpus_is_harmless)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
