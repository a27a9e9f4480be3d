# SPDX-License-Identifier: GPL-2.0-or-later
# What libpager is made of, for the host's tests. A task takes behind.c, confirm.c and receive.c as well.

LIBPAGER_SOURCES := borrow.c counters.c kept.c level.c lock.c memcpy.c merge.c object.c pager.c \
	pagemap.c policy.c request.c return.c write.c

# It must find MIG's server side of mach/memory_object.defs as "memory_object_server.h", generated
# with -DSEQNOS=0 (no sequence numbers) and -DSERVERPREFIX=S_ (the functions' prefix, as in our own
# interfaces; mach_types.defs knows the macro):
#
#   gcc -E ... -DSEQNOS=0 -DSERVERPREFIX=S_ mach/memory_object.defs |
#       i686-gnu-migcom -n -user /dev/null -header /dev/null \
#       -server memory_object_server.c -sheader memory_object_server.h
