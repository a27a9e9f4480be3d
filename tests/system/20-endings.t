#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each way in which a boot can end badly, provoked in the guest, in QEMU or behind the runner's
# back: it is caught, named, and gives its status.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

use constant PARTITION => 1_050_624; # the pager server's, in sectors

my $jobs = 'tests/system/jobs';
my @quick = ('BOOT=direct', 'SIZE=1M');
my @good = ('JOB=jobs/pager.job', 'POLICY=run128', @quick);

# A boot whose job has FAULT.
sub fault
{
    my ($fault, @arguments) = @_;

    return run_make($fault, "JOB=$jobs/fault-$fault.job", 'POLICY=page', @quick, @arguments);
}

# A good job in a QEMU to which WHAT is done.
sub tampered
{
    my ($what, @arguments) = @_;

    local $ENV{MACHBED_QEMU} = $what;
    local $ENV{PATH} = "$FindBin::Bin/qemu:$ENV{PATH}";
    return run_make((split ' ', $what)[0], @good, @arguments);
}

# The end of the console is printed, and LINE is part of it.
sub shows_console
{
    my ($run, $line, $name) = @_;
    my $policy = boot_of($run)->{policy} // 'none';
    my $console = quotemeta "$run->{folder}/$policy/serial.log";

    like($run->{text}, qr/^policy $policy, .*, the last lines of $console:\n(  .*\n)*  $line/m, $name);
}

sub ends_soon
{
    my ($run, $name) = @_;

    cmp_ok(boot_of($run)->{boot_ms}{end}, '<', Machbed::PATIENCE * 1000, $name);
}

sub checks_are
{
    my ($run, $checks, $name) = @_;
    my $got = boot_of($run)->{checks};

    is_deeply([sort keys %$got], [sort keys %$checks], "$name: checked is what can be");
    like($got->{$_}, qr/^$checks->{$_}/, "$name: $_") for sort keys %$checks;
}

# Tasks.
my $run = fault('crash');
ends_with($run, 99, 'workload crashed in thread main at 0x18[0-9a-f]{6} \(workload_fault_crash\+',
    'a crash of the workload is named with its place');
shows_console($run, 'machbed crash server=workload ', 'a crash shows the console');
checks_are($run, {}, 'a crash');

$run = fault('crash_pager');
ends_with($run, 99, 'pager crashed in thread rpc at 0x10[0-9a-f]{6} \(S_object_create\+',
    'a crash of the pager server is named with its place');
shows_console($run, 'machbed crash server=pager ', 'a crash of a server shows the console');

# The kernel.
$run = fault('assert');
ends_with($run, 12, 'the kernel failed an assertion: .*vm_page_seg_alloc: Assertion `order < ',
    'an assertion of the kernel is named with its text');
shows_console($run, '.*Assertion `order < ', 'an assertion shows the console');
ends_soon($run, 'an assertion is not waited for until the time limit');

# It takes a while to use up all memory, in which no server does anything.
$run = fault('panic', 'MEM=64M', 'WATCHDOG=0');
ends_with($run, 12, 'the kernel panicked: .*privileged thread unable to allocate page',
    'a panic of the kernel is named with its text');
shows_console($run, 'panic ', 'a panic shows the console');
ends_soon($run, 'a panic is not waited for until the time limit');

# By then the system has come so far that it can be told, on a slow machine as well.
$run = fault('hang', 'TIMEOUT=20');
ends_with($run, 10, 'no end within 20 seconds', 'a hang ends at the time limit');
shows_console($run, 'machbed hang kind=no_progress told=1 ', 'a hang shows what the system says of it');

# Lies. The pager server's store forgets every hundredth write.
my $forgotten = commas(PARTITION + 99 * 8);
$run = fault('claim');
ends_with($run, 99, "disk_agrees: sector $forgotten of the disk: the servers claim it, the disk " .
    'was never asked to write it', 'a write that was only claimed is named by its sector');
checks_are($run, { disk_agrees => "sector $forgotten ", # its first byte may have been 0 before
    content => 'byte [\d,]+ \(sector 792; .*: the sector is all zeros; 16 of 2,048 sectors ' },
    'a claim');
shows_console($run, 'machbed end status=0 ', 'a failed check shows the console');
is(boot_of($run)->{layers}{store_write}{count} - boot_of($run)->{layers}{disk_write}{count}, 2,
    'the layers show the writes that were only claimed');
ok(-s "$run->{folder}/disk.img", 'the disk of a boot that failed is kept');

# Behind the runner's back.
$run = tampered('flip ' . (PARTITION * 512 + 654_321));
ends_with($run, 99, 'content: byte 654,321 \(sector 1,277; sector 1,051,901 of the disk\) is ' .
    '0x[0-9a-f]{2} and should be 0x[0-9a-f]{2}: the sector holds other data; 1 of 2,048 sectors ',
    'a byte that changed on the disk is named');
is(boot_of($run)->{checks}{disk_agrees}, 'ok', 'a byte that changed is no write of the guest');

$run = tampered('lose 2');
ends_with($run, 99, 'disk_agrees: sector ' . commas(PARTITION + 128) . ' of the disk: the ' .
    'servers claim it', 'a write that the disk never got is named by its sector');
is(boot_of($run)->{checks}{content}, 'ok', 'a write that is not in the trace leaves the content');

$run = tampered('add 3000');
ends_with($run, 99, 'disk_agrees: sector 3,000 of the disk: the disk was asked to write it, no ' .
    'server claims it', 'a write that nobody claims is named by its sector');
is(boot_of($run)->{layers_meta}{disk_write}{count}, 1,
    'a write outside the object is no file data');

$run = tampered('repeat 5');
ends_with($run, 99, 'disk_agrees: the servers claim 1,048,576 bytes and 0 that rounding added, ' .
    'the disk was asked to write 1,081,344', 'a write made twice and claimed once is caught');

$run = tampered('refuse');
ends_with($run, 2, "QEMU did not start: .*'no-such-device' is not a valid device",
    'a QEMU that does not start is quoted');

# No guest skips a run so far; a program that plays QEMU (00-runner.t) does.
{
    my $folder = scratch() . '/fake';

    mkdir $folder or die "$folder: $!";
    write_file("$folder/qemu-system-i386", "#!/bin/sh\nexec '$FindBin::Bin/fake-qemu'\n");
    chmod 0755, "$folder/qemu-system-i386";
    local $ENV{FAKE_QEMU} = 'skips';
    local $ENV{PATH} = "$folder:$ENV{PATH}";
    $run = run_make('skip', @good);
    ends_with($run, 77, 'nothing to do', 'a run that is skipped is no failure for make');
}

# A run that hangs, once the guest does.
sub start_hanging
{
    my $hanging = start_make($_[0], "JOB=$jobs/fault-hang.job", 'POLICY=page', @quick);

    wait_for(sub { read_file("$hanging->{folder}/page/serial.log") =~ /hangs on purpose/ })
        or diag('the guest does not hang');
    return $hanging;
}

sub qemus_of
{
    my %children = children_of($_[0]{pid});

    return grep { $children{$_} =~ /^qemu-system/ } keys %children;
}

sub qemu_is_gone
{
    my ($name, @pids) = @_;

    ok(@pids == 1 && wait_for(sub { !grep { is_running($_) } @pids }), "$name leaves no QEMU")
        or diag("@pids");
}

$run = start_hanging('killed');
my @qemu = qemus_of($run);
kill 'KILL', @qemu;
ends_with(wait_make($run), 12, 'QEMU was killed by signal 9', 'a QEMU that is killed is named');

$run = start_hanging('again');
@qemu = qemus_of($run);
my $second = run_make($run->{name}, @good);
is($second->{last}, "machbed: status 2: a run named $run->{name} is still going on; wait for it, " .
    'or choose another NAME', 'a second run with the name is refused');
is($second->{exit}, 2, 'make fails when the run is refused');
ok(-s "$run->{folder}/page/serial.log" && !-e "$run->{folder}/run128",
    'a second run that is refused touches nothing');

# Ctrl-C reaches make and all that it started, as the terminal sends it.
kill 'INT', -$run->{pid};
wait_make($run);
is($run->{last}, 'machbed: status 130: ended by signal 2 (Interrupt)', 'Ctrl-C ends the run');
is($run->{result}{status}, 130, 'result.json has the status of Ctrl-C');
ok($run->{exit} || $run->{signal}, 'make fails after Ctrl-C');
qemu_is_gone('Ctrl-C', @qemu);

# make alone is killed: it cannot pass a KILL on.
for my $signal ('TERM', 'KILL') {
    my $killed = start_hanging("make-$signal");
    my @below = keys %{ { children_of($killed->{pid}) } };

    kill $signal, $killed->{pid};
    wait_make($killed);
    ok(@below >= 2 && wait_for(sub { !grep { is_running($_) } @below }),
        "a make that gets SIG$signal leaves no process") or diag("@below");
    like(read_file($killed->{output}), qr/^machbed: status 143: ended by signal 15/m,
        "and the run says how it ended");
}

$second = run_make($run->{name}, @good);
ends_with($second, 0, '1 boot, every check passed', 'the next run with the name goes on');
is(boot_of($second)->{policy}, 'run128', 'the next run has its own result');
ok(!-e "$run->{folder}/page", 'nothing of the earlier run with that name is left');

done_testing();
