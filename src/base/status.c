#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

const char *talus_status_name(talus_status status)
{
    switch (status) {
    case TALUS_OK: return "ok";
    case TALUS_BAD_INPUT: return "bad input";
    case TALUS_NO_MEMORY: return "no memory";
    case TALUS_IO: return "file error";
    case TALUS_NOT_DEFINITE: return "not positive definite";
    case TALUS_UNSUPPORTED: return "unsupported";
    case TALUS_INTERRUPTED: return "interrupted";
    }
    return "unknown status";
}

talus_status tl_fail(talus_error *err, talus_status status, const char *format, ...)
{
    if (err) {
        char message[sizeof err->message]; /* an argument may be err->message itself */
        va_list args;
        va_start(args, format);
        vsnprintf(message, sizeof message, format, args);
        va_end(args);
        tl_text_quote(err->message, sizeof err->message, message);
        err->status = status;
    }
    return status;
}

#ifdef TL_CHECKED
void tl_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
    abort();
}
#endif
