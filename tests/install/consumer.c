/* A program of someone else that links to an installed talus. */
#include <stdio.h>
#include <string.h>
#include <talus/status.h>

int main(void)
{
    if (strcmp(talus_status_name(TALUS_OK), "ok") != 0) return 1;
    puts("linked and ran");
    return 0;
}
