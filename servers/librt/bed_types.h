// SPDX-License-Identifier: GPL-2.0-or-later
/* C types of the interfaces in servers/defs; the sizes are those of bed_types.defs. */
#ifndef LIBRT_BED_TYPES_H
#define LIBRT_BED_TYPES_H

typedef char *bed_text_t;
typedef char bed_name_t[64];
typedef const char *const_bed_name_t;
typedef char bed_reason_t[512];
typedef const char *const_bed_reason_t;

#endif
