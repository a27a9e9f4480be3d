// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How packets of CTF reach the host: by memory that the machine shares with it. The runner reads
 * this file, too.
 *
 * The memory is an array of slots of CTF_PACKET_BYTES. The first has a struct ctf_memory at its
 * beginning; each of the others takes one packet. A server takes the next slot by adding to
 * `taken`, copies a packet into it, and writes the packet's first word, CTF's magic number, last.
 * So a slot with that number holds a whole packet, also when a server or the machine is ended in
 * the middle of its work, and no lock is between servers, nor between them and the host.
 */
#ifndef LIBTRACE_CTF_PACKET_H
#define LIBTRACE_CTF_PACKET_H

#include <stdint.h>

#define CTF_PACKET_BYTES 4096u
#define CTF_MEMORY_BYTES (64u << 20) /* a power of two, as PCI wants it */
#define CTF_MEMORY_SLOTS (CTF_MEMORY_BYTES / CTF_PACKET_BYTES)
#define CTF_MEMORY_LAST  256u  /* of the slots, the last so many are for last packets of streams */
#define CTF_MEMORY_SLOT  0x10u /* of the machine's PCI bus, where nothing else is */
#define CTF_MAGIC        0xc1fc1fc1u

struct ctf_memory {
    uint32_t taken; /* how many slots have been asked for; atomic; can be more than there are */
};

/* How a packet begins: what servers/libtrace/ctf.yaml makes of it. */
struct ctf_packet_head {
    uint32_t magic;
    uint8_t stream_type; /* there is one: 0 */
    uint32_t packet_bits;
    uint32_t content_bits;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t discarded; /* events of its stream, up to its end */
    uint32_t sequence;  /* of its stream, from 0 */
    char names[];       /* the server's and the thread's, each with a zero behind it */
} __attribute__((packed));

#endif
