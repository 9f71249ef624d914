/* The processes that this one has joined. */
#ifndef TL_API_CLUSTER_H
#define TL_API_CLUSTER_H

#include "base/comm.h"

const tl_comm *tl_cluster_joined(void); /* NULL: none */

#endif
