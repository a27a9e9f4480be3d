// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef EXT2_RPC_H
#define EXT2_RPC_H

#include "librt/mach.h"

/* Answer a request of the interfaces io and fs. => as ports_demuxer_t. */
boolean_t rpc_demux(mach_msg_header_t *request, mach_msg_header_t *reply);

#endif
