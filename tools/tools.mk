# SPDX-License-Identifier: GPL-2.0-or-later
#
# What runs on the host. The top Makefile includes this file; alone it works as well:
#
#   make -f tools/tools.mk
#
# Everything is built below $(B). HOST_CFLAGS are for every host program, unit tests too.

B ?= $(or $(BUILD),build)
SAY ?= @:
HOST_CC ?= gcc
PKG_CONFIG ?= pkg-config

HOST_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -Iservers -Itools
JANSSON_CFLAGS = $(shell $(PKG_CONFIG) --cflags jansson)
JANSSON_LIBS = $(shell $(PKG_CONFIG) --libs jansson)

RUNNER := $(B)/host/machbed-run
RUN_SOURCES := $(wildcard tools/run/*.c) servers/libpattern/pattern.c
RUN_OBJECTS := $(RUN_SOURCES:%.c=$(B)/host/obj/%.o)

# The trace's reader uses the runner's readers.
TRACER := $(B)/host/machbed-trace
TRACE_SOURCES := $(wildcard tools/trace/*.c) $(filter-out tools/run/main.c,$(RUN_SOURCES))
TRACE_OBJECTS := $(TRACE_SOURCES:%.c=$(B)/host/obj/%.o)

FRAGMENT := $(B)/host/machbed-fragment
FRAGMENT_OBJECTS := $(B)/host/obj/tools/fragment/fragment.o
EXT2FS_LIBS = $(shell $(PKG_CONFIG) --libs ext2fs com_err)

.PHONY: tools
tools: $(RUNNER) $(TRACER) $(FRAGMENT)

# What html-page.c puts into the program.
HTML_PAGE := $(wildcard tools/trace/page/*)
$(B)/host/obj/tools/trace/html-page.o: $(HTML_PAGE)

$(RUNNER): $(RUN_OBJECTS)
	$(SAY) "  LINK    $@"
	$(Q)$(HOST_CC) -o $@ $^ $(JANSSON_LIBS)

$(TRACER): $(TRACE_OBJECTS)
	$(SAY) "  LINK    $@"
	$(Q)$(HOST_CC) -o $@ $^ $(JANSSON_LIBS) -lbabeltrace2 -lm

$(FRAGMENT): $(FRAGMENT_OBJECTS)
	$(SAY) "  LINK    $@"
	$(Q)$(HOST_CC) -o $@ $^ $(EXT2FS_LIBS)

$(B)/host/obj/%.o: %.c tools/tools.mk
	$(SAY) "  CC      $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(JANSSON_CFLAGS) -MMD -MP -c -o $@ $<

-include $(sort $(RUN_OBJECTS:.o=.d) $(TRACE_OBJECTS:.o=.d)) $(FRAGMENT_OBJECTS:.o=.d)
