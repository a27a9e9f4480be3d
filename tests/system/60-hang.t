#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A hang explains itself: a deadlock, a reply that never comes, a server that is gone and a kernel
# that stopped are told apart, and what stands still is named.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

# A time limit by which the system has come to where it hangs, on a slow machine as well.
use constant SECONDS => 20;

my @quick = ('BOOT=direct', 'SIZE=1M', 'POLICY=page');

# A boot whose job has FAULT.
sub fault
{
    my ($fault, @arguments) = @_;

    return run_make($fault, "JOB=tests/system/jobs/fault-$fault.job", @quick, @arguments);
}

sub console_of
{
    return read_file("$_[0]{folder}/serial.log");
}

# The report has a line that is LINE.
sub reports
{
    my ($run, $line, $name) = @_;

    like(console_of($run), qr/^\r*startup: hang: $line\r*$/m, $name);
}

# The line for the runner says KIND.
sub has_kind
{
    my ($run, $kind, $told) = @_;

    like(console_of($run), qr/^\r*machbed hang kind=$kind told=$told sentence="[^"]+"\r*$/m,
        "$run->{name} is of the kind $kind");
}

my $lock = 'the lock fault_lock \(0x1[0-9a-f]{7}\)';
my $run = fault('deadlock', 'WATCHDOG=4');
ends_with($run, 10, "nothing got done for 4 s: a deadlock: pager/rpc/(\\d+) waits for $lock, held by " .
    "pager/fault/(\\d+), which waits for $lock, held by pager/rpc/\\1\$", 'a deadlock is a circle');
has_kind($run, 'deadlock', 0);
reports($run, 'nothing has got done for 4 s', 'the report says why it comes');
reports($run, "pager/fault/\\d+: waits for $lock, for \\d+\\.\\d s", 'who waits for what, how long');
reports($run, 'pager/rpc/\d+: handles object_sync, for \d+\.\d s', 'what is being handled');
reports($run, 'pager/rpc/\d+: holds fault_lock \(0x\w+\), taken at fault_deadlock\+0x\w+ < ' .
    'S_object_sync\+.*', 'what is held, and where it was taken');
reports($run, 'pager/rpc/\d+: at mach_msg_trap\+.* < S_object_sync\+.*', 'where a thread is');
reports($run, "workload/main: waits for pager's answer to object_sync, for .*", 'who asked for it');
reports($run, '(pager/rpc/\d+, )+pager/rpc/\d+: each is idle, receives requests|' .
    '.*pager/rpc/\d+: each is idle, receives requests', 'what is idle is said together');
cmp_ok(boot_of($run)->{boot_ms}{end}, '<', Machbed::PATIENCE * 1000, 'the time limit is not waited for');

$run = fault('lost_reply', 'WATCHDOG=4', 'TRACE=text');
ends_with($run, 10, 'nothing got done for 4 s: a reply is lost: workload/main waits for pager\'s ' .
    'answer to object_sync, but no thread of pager works on it$', 'a lost reply is named');
has_kind($run, 'lost_reply', 0);
reports($run, 'no message is queued in any of \d+ ports', 'queues are looked at');
reports($run, 'workload/main: event t=\d+ dur=\d+ kind=op srv=workload thr=main req=\d+ .*',
    'what a thread has recorded last is said');

$run = fault('die', 'WATCHDOG=4');
ends_with($run, 99, 'the task pager ended by itself$', 'a server that is gone is named');
unlike(console_of($run), qr/startup: hang/, 'a server that is gone is noticed at once');

$run = fault('stop', 'WATCHDOG=4', 'TIMEOUT=' . SECONDS);
ends_with($run, 12, 'the kernel stopped: no end within ' . SECONDS . ' seconds, no answer when asked ' .
    'for one, and the processor is halted at 0xc[0-9a-f]{7} \(the kernel\b.*\), with interrupts ' .
    'enabled, but all of them masked$', 'a kernel that stopped is told by its processor');
unlike(console_of($run), qr/startup: hang/, 'it says nothing itself');
my $state = read_file("$run->{folder}/page/cpu-state");
like($state, qr/^EIP=.* HLT=1$/m, 'the processor\'s registers are kept');
like($state, qr/^--- what on the stack points into code\n0xc[0-9a-f]+  the kernel/m,
    'and what its stack says');

# A hang is none of these.
$run = fault('no_page', 'WATCHDOG=4');
ends_with($run, 10, 'nothing got done for 4 s: workload/main waits for memory that it touches at ' .
    'rt_arch_copy_start\+0(x0)?$', 'a page that never comes is waited for where it is touched');
reports($run, 'pager/pager/\d+: at mach_msg_trap\+.* < fault_in_read\+.*', 'and who should bring it');

$run = fault('hang', 'WATCHDOG=4');
ends_with($run, 10, 'nothing got done for 4 s: workload/main waits for a message on its port \d+$',
    'what is neither is followed from the workload on');
has_kind($run, 'no_progress', 0);

$run = fault('hang', 'WATCHDOG=0', 'TIMEOUT=' . SECONDS);
ends_with($run, 10, 'no end within ' . SECONDS . ' seconds: workload/main waits for a message on its port \d+$',
    'the watchdog can be switched off, and the time limit asks the guest all the same');
has_kind($run, 'no_progress', 1);

# The job waits for eight seconds by the clock that the watchdog has, and gets on each second.
$run = run_make('gets-on', 'JOB=tests/system/jobs/behind-sync.job', @quick, 'WATCHDOG=4');
ends_with($run, 0, '', 'a run that gets on is no hang, however long it takes');

done_testing;
