/* What waiting needs from the system: sleeping for some microseconds, a clock in seconds, and an
   int that one thread changes while others read it. */

#ifndef STREAMPTRON_CLOCK_H
#define STREAMPTRON_CLOCK_H

#ifdef _WIN32
  #ifndef WIN32_LEAN_AND_MEAN
    #define WIN32_LEAN_AND_MEAN     /* the rest defines small and far, which are names here */
  #endif
  #ifndef NOMINMAX
    #define NOMINMAX
  #endif
  #include <windows.h>
  #define sp_usleep(us) Sleep(((us) + 999) / 1000)
  static inline double sp_seconds(void) { return 1e-3 * (double)GetTickCount64(); }
#else
  #include <time.h>
  #include <unistd.h>
  #define sp_usleep(us) usleep(us)
  static inline double sp_seconds(void)
  {
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  }
#endif

#if defined(__GNUC__) || defined(__clang__)
  #define sp_atomic_look(place) __atomic_load_n(place, __ATOMIC_RELAXED)
  #define sp_atomic_add(place, n) ((void)__atomic_fetch_add(place, n, __ATOMIC_RELAXED))
#else
  #define sp_atomic_look(place) (*(const volatile int *)(place))
  #define sp_atomic_add(place, n) ((void)(*(volatile int *)(place) += (n)))
#endif

#endif
