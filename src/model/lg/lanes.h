/* Eight doubles at a time: arithmetic of a compiler's vector types, and the few functions they lack. Inside of
 * local.c and its tests. */
#ifndef TL_MODEL_LG_LANES_H
#define TL_MODEL_LG_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* everything here is inlined: no vector crosses a call */
#endif

typedef double v8 __attribute__((vector_size(64)));
typedef int64_t m8 __attribute__((vector_size(64))); /* masks: all bits of a lane or none */

#define V8_INLINE static inline __attribute__((always_inline))

V8_INLINE v8 v8_all(double x) { return (v8){x, x, x, x, x, x, x, x}; }
V8_INLINE v8 v8_select(m8 m, v8 yes, v8 no) { return (v8)(((m8)yes & m) | ((m8)no & ~m)); }
V8_INLINE v8 v8_abs(v8 x) { return (v8)((m8)x & INT64_MAX); }
V8_INLINE v8 v8_min(v8 a, v8 b) { return v8_select(a < b, a, b); }
V8_INLINE v8 v8_max(v8 a, v8 b) { return v8_select(a > b, a, b); }
V8_INLINE v8 v8_sign_of(v8 size, v8 sign) { return (v8)(((m8)size & INT64_MAX) | ((m8)sign & INT64_MIN)); }
V8_INLINE v8 v8_sqrt(v8 x)
{
    v8 r = x;
    for (int l = 0; l < 8; l++) r[l] = sqrt(r[l]);
    return r;
}
V8_INLINE bool v8_any(m8 m)
{
    int64_t any = 0;
    for (int l = 0; l < 8; l++) any |= m[l];
    return any != 0;
}

/* ln of positive normal numbers, to 2 units in the last place: x = 2^e m, m in [0.7, 1.42), and the series of
 * atanh((m - 1) / (m + 1)). */
V8_INLINE v8 v8_log(v8 x)
{
    const int64_t half_root = 0x3fe6a09e667f3bcd; /* bits of sqrt(1/2) */
    m8 bits = (m8)x - half_root, e = bits >> 52;
    v8 m = (v8)((m8)x - (e << 52)), f = (m - 1) / (m + 1), z = f * f, s = v8_all(1.0 / 23);
    for (int k = 21; k >= 3; k -= 2) s = s * z + 1.0 / k;
    v8 exponent = __builtin_convertvector(e, v8);
    return exponent * 0x1.62e42fefa38p-1 + (exponent * 0x1.ef35793c7673p-45 + 2 * f + 2 * f * z * s);
}

#endif
