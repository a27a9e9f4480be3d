# SPDX-License-Identifier: GPL-2.0-or-later
#
# make bench-trace: what recording every event costs the job. It takes the variables of `make run`.

N := 7

bench-trace: $(RUNNER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_ISO) $(SERVER_IMAGES)
	$(Q)tests/bench/trace.sh $(call quote,$(N)) $(BUILD)/bench/trace.txt $(RUNNER) $(RUN_FILES) \
		$(RUN_GIVEN)
