#include <stdio.h>
#include <talus/status.h>

int main(void)
{
    printf("talus: %s\n", talus_status_name(TALUS_OK));
    return 0;
}
