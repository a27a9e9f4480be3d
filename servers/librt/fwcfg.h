// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU's firmware configuration device: items that QEMU was given, by their names. Small ones are
 * read byte by byte, large ones as a stream by DMA, which is a copy of the host's.
 */
#ifndef LIBRT_FWCFG_H
#define LIBRT_FWCFG_H

#include <stddef.h>
#include <stdint.h>

#include "librt/error.h"
#include "librt/mach.h"

/* Let this task use the device. => once, before the other calls; may block; an error is the
   kernel's. */
kern_return_t rt_fwcfg_setup(mach_port_t device_master);

/* Read the item called NAME into TEXT, a string of at most SIZE - 1 bytes. ENOENT: no such item, or
   no such device. EMSGSIZE: it is larger. */
error_t rt_fwcfg_read(const char *name, char *text, size_t size);

/* Leave a mark in QEMU's trace (docs/protocol.md, section 3). */
void rt_fwcfg_mark(unsigned int mark);

/* An item that is being read from its start to its end. */
struct rt_fwcfg_stream {
    uint32_t left; /* bytes */
    uint32_t next; /* the control word of the next read */
    struct rt_fwcfg_request *request;
    uint64_t physical; /* its address */
};

/* Begin to read the item called NAME; HOST is the privileged port. => may block; ENOENT: as above;
   ENOMEM; ENOTSUP: the device knows no DMA. */
error_t rt_fwcfg_stream_init(struct rt_fwcfg_stream *stream, const char *name, mach_port_t host);

/* Read the next BYTES to the physical address TO, or to DATA (which then takes a few only).
   => do not block; EIO: the item has less, or QEMU says so. */
error_t rt_fwcfg_stream_read(struct rt_fwcfg_stream *stream, uint64_t to, uint32_t bytes);
error_t rt_fwcfg_stream_take(struct rt_fwcfg_stream *stream, void *data, uint32_t bytes);

void rt_fwcfg_stream_destroy(struct rt_fwcfg_stream *stream);

#endif
