# SPDX-License-Identifier: GPL-2.0-or-later
#
# make bench-trace: what recording every event costs the job, as text and as CTF, or in the form TRACE.
# It takes the variables of `make run`.

N := 7

bench-trace: $(RUNNER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_MEDIUM) $(SERVER_IMAGES)
	$(GIVE_TURN)
	$(Q)exec tests/bench/trace.sh $(call quote,$(N)) \
		$(call quote,$(if $(call is_given,TRACE),$(filter-out off,$(TRACE)),text ctf)) $(BUILD)/bench/trace.txt \
		$(RUNNER) $(RUN_FILES) $(RUN_GIVEN)
