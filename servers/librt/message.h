// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef LIBRT_MESSAGE_H
#define LIBRT_MESSAGE_H

#include "librt/mach.h"

#define RT_MESSAGE_MAX 16384 /* bytes: bed_text_t inline, and room */

/*
 * Release what MESSAGE, which was received or could not be sent, carries: the rights in its header
 * and in its body, and out-of-line memory. The message's own memory stays the caller's.
 * => may block; trusts the kernel's description of the body (msgh_size, types), not the sender's.
 */
void rt_message_destroy(mach_msg_header_t *message);

#endif
