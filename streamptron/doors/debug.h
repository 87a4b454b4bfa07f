/* Built with -DSTREAMPTRON_DEBUG, a model checks everything it holds at the end of every call. */

#ifndef STREAMPTRON_DEBUG_H
#define STREAMPTRON_DEBUG_H

#ifdef STREAMPTRON_DEBUG
  #define SP_DEBUG 1
#else
  #define SP_DEBUG 0
#endif

#endif
