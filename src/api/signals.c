#include <signal.h>
#include <string.h>
#include <talus/program.h>

#include "base/cancel.h"

static volatile sig_atomic_t came;
static int depth;
static bool caught; /* the handler below is in place */
static struct sigaction before;

static void on_interrupt(int number)
{
    (void)number;
    came = 1;
    tl_cancel_set(true);
}

void talus_signals_begin(void)
{
    if (depth++ > 0) return;
    came = 0;
    caught = sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL;
    if (!caught) return;
    struct sigaction own;
    memset(&own, 0, sizeof own);
    own.sa_handler = on_interrupt;
    own.sa_flags = SA_RESTART;
    caught = sigaction(SIGINT, &own, NULL) == 0;
}

int talus_signals_end(void)
{
    if (depth == 0 || --depth > 0) return 0;
    if (caught) sigaction(SIGINT, &before, NULL);
    caught = false;
    if (!came) return 0;
    came = 0;
    tl_cancel_set(false);
    return 1;
}
