/* Wall-clock seconds for reports. Time never changes a result. */
#ifndef TL_BASE_TIMER_H
#define TL_BASE_TIMER_H

double tl_seconds(void);     /* monotonic, from an arbitrary origin */
double tl_cpu_seconds(void); /* processor time of the whole process, all threads */
double tl_thread_seconds(
    void); /* processor time of the calling thread: about the wall clock's, were the machine its own */

#endif
