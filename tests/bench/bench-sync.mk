# SPDX-License-Identifier: GPL-2.0-or-later
#
# make bench-sync: how long writing out takes under each policy, beside a plain loop of device_writes.
# It takes the variables of `make run`; all boots are of one JOB.

BENCH_SYNC_JOB = $(if $(call is_given,JOB),$(JOB),jobs/default.job)
BENCH_SYNC_POLICIES = $(if $(call is_given,POLICY),$(POLICY),page,chunk2,run128,merge)
BENCH_SYNC_VARIABLES = $(filter-out JOB=% NAME=% POLICY=%,$(RUN_VARIABLES))

bench-sync: $(RUNNER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_MEDIUM) $(SERVER_IMAGES)
	$(GIVE_TURN)
	$(Q)exec tests/bench/sync.sh $(call quote,$(N)) $(BUILD)/bench/sync.txt $(call quote,$(BENCH_SYNC_JOB)) \
		$(call quote,$(BENCH_SYNC_POLICIES)) $(RUNNER) $(RUN_FILES) \
		$(call options_given,$(BENCH_SYNC_VARIABLES))
