#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

void tl_log_write(const tl_log *log, int level, const char *format, ...)
{
    if (!log || !log->write || level > log->level) return;
    char message[512], plain[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    tl_text_quote(plain, sizeof plain, message);
    log->write(log->user, level, plain);
}
