#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The orders that keep a server from waiting for itself are checked while it runs: a violation ends
# the run with both places, also when nothing has come of it. Every other system test shows that
# they do not fire without one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

# A boot whose job has FAULT ends with 99 and SAYS.
sub violates
{
    my ($fault, $says, $name) = @_;
    my $run = run_make($fault, "JOB=tests/system/jobs/fault-$fault.job", 'BOOT=direct', 'SIZE=1M',
        'POLICY=page');

    ends_with($run, 99, $says, $name);
    return $run;
}

my $run = violates('lock_order', 'pager: lock order: fault_first is taken at ' .
    'fault_take_in_other_order\+0x\w+ < .* with fault_second held; but fault_second was taken at ' .
    'fault_take_in_order\+0x\w+ < .* with fault_first held',
    'two locks taken in either order are named with both places');
my $console = read_file("$run->{folder}/serial.log");
like($console, qr/^\r*pager: lock order: rpc\/\d+ held fault_second, taken at .*, and took fault_first/m,
    'who does it now is said');
like($console, qr/^\r*pager: lock order: rpc\/\d+ held fault_first, taken at .*, and took fault_second/m,
    'who did it before is said');

violates('lock_rpc', 'pager: a lock held across a call of a server: rpc/\d+ sends message \d+ at ' .
    'startup_lookup\+0x\w+ < .* with fault_first held, taken at fault_hold\+0x\w+ < ' .
    'fault_lock_rpc\+0x\w+ < S_object_sync\+',
    'a lock held across a call is named with both places');

violates('level_order', 'pager: level order: pager/\d+, of level 1, calls a sync at .*' .
    'fault_in_write\+0x\w+.*, which waits for level 1$', 'a thread that waits for its own level is named');

done_testing;
