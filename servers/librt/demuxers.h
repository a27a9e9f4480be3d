// SPDX-License-Identifier: GPL-2.0-or-later
/* MIG's server functions, one for each interface. MIG defines them but declares them nowhere. */
#ifndef LIBRT_DEMUXERS_H
#define LIBRT_DEMUXERS_H

#include "librt/mach.h"

boolean_t exc_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t fs_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t io_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t memory_object_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t notify_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t pager_server_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t server_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t startup_server(mach_msg_header_t *request, mach_msg_header_t *reply);

#endif
