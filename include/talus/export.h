/* TALUS_API marks what the shared library offers; every other symbol stays inside it. */
#ifndef TALUS_EXPORT_H
#define TALUS_EXPORT_H

#if defined(__GNUC__)
#define TALUS_API __attribute__((visibility("default")))
#else
#define TALUS_API
#endif

#endif
