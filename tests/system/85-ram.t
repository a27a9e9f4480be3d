#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The disk in memory, and the 64-bit system that has no other: what the servers count is what they
# count on a disk, the content and the file system come out of the machine's memory whole, and what
# cannot be is refused.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

$ENV{PATH} .= ':/usr/sbin:/sbin';

my @policies = qw(page run128 merge);
my @small = ('SIZE=4M', 'POLICY=' . join ',', @policies);
my @guest = qw(data_request data_return store_write store_read);

# The part of an entry in result.json that the servers have counted.
sub counted
{
    my ($boot) = @_;
    my %counted;

    for my $part (qw(layers layers_file layers_meta)) {
        $counted{$part}{$_} = $boot->{$part}{$_} for @guest;
    }
    return \%counted;
}

sub has_no_disk
{
    my ($what, $boot, @checks) = @_;

    is_deeply([map { $boot->{$_}{disk_write}, $boot->{$_}{disk_read} }
                qw(layers layers_file layers_meta)], [(undef) x 6],
        "$what: the disk's layers are null");
    is_deeply($boot->{checks}, { map { $_ => 'ok' } @checks }, "$what: @checks, and no other check");
    is($boot->{rmw_bytes}, 0, "$what: no write had to be rounded");
}

sub counts_as_disk
{
    my ($what, $run, $disk) = @_;

    for my $policy (@policies) {
        is_deeply(counted(boot_of($run, $policy)), counted(boot_of($disk, $policy)),
            "$what, $policy: each layer has the counts and sizes that it has with a disk");
        has_no_disk("$what, $policy", boot_of($run, $policy), qw(content fsck unmount));
    }
}

# --- The same counts ------------------------------------------------------------------------------

my $ahci = run_make('ahci', 'BOOT=direct', @small);
ends_with($ahci, 0, '3 boots, every check passed', 'on the AHCI disk all is well');
my $ram = run_make('ram', 'DISK=ram', 'BOOT=direct', @small);
ends_with($ram, 0, '3 boots, every check passed', 'with DISK=ram all is well');
counts_as_disk('i386', $ram, $ahci);
is($ram->{result}{machine}{driver}, undef, 'a disk in memory has no driver');
like($ram->{text}, qr/^disk_write   none: the store is memory/m, 'the table says that there is no disk');
ok(!-e "$ram->{folder}/page/memory" && !-e "$ram->{folder}/page/ram0s1.image",
    'neither the memory nor the images stay');

my $amd64 = run_make('amd64', 'ARCH=amd64', @small);
ends_with($amd64, 0, '3 boots, every check passed', 'on amd64 all is well');
counts_as_disk('amd64', $amd64, $ahci);
is_deeply([@{ $amd64->{result}{machine} }{qw(arch disk boot)}], [qw(amd64 ram grub)],
    'result.json says which machine it was');

# --- Other jobs -----------------------------------------------------------------------------------

for my $job (qw(overwrite read mmap fragmented operations)) {
    my $run = run_make("ram-$job", "JOB=jobs/$job.job", 'DISK=ram', 'BOOT=direct', 'SIZE=2M',
        'POLICY=run128');

    ends_with($run, 0, '1 boot, every check passed', "jobs/$job.job works with DISK=ram");
}

my $pager = run_make('amd64-pager', 'ARCH=amd64', 'JOB=jobs/pager.job', 'SIZE=4M', 'POLICY=adaptive');
ends_with($pager, 0, '1 boot, every check passed', "the pager server's object works on amd64");
has_no_disk('its object', boot_of($pager), 'content');
my $plain = run_make('amd64-plain', 'ARCH=amd64', 'JOB=tests/system/jobs/plain.job', 'SIZE=2M',
    'POLICY=run128', 'BLOCK=1024', 'TRACE=text');
ends_with($plain, 0, '1 boot, every check passed',
    'a second store, small blocks and the trace work on amd64');

my $far = run_make('amd64-operations', 'ARCH=amd64', 'JOB=jobs/operations.job', 'SIZE=2M',
    'POLICY=run128');
ends_with($far, 0, '1 boot, every check passed', 'so do all operations, data beyond 4 GiB among them');
is(system("make --no-print-directory trace NAME=$plain->{name} >/dev/null"), 0,
    "the trace's summary agrees with result.json, without a disk's commands");

# --- How much memory it takes ---------------------------------------------------------------------

# With the memory that a refusal says that it needs, a job runs, and nothing is paged out: the kernel
# returns the file in messages of 32 pages. With 1 MiB less it is refused.
sub needs_memory
{
    my ($what, $bytes, @arguments) = @_;
    my $refused = run_make("$what-refused" =~ s/ /-/r, 'DISK=ram', 'MEM=32M', 'POLICY=run128', @arguments);
    my ($need) = $refused->{last} =~
        /^machbed: status 2: --mem: .* does not fit into 32M; it needs MEM=(\d+)M$/;

    ok($need && !-e $refused->{folder}, "$what: too little memory is refused, with what it takes")
        or diag_run($refused, 'machbed: status 2: --mem: ... does not fit into 32M; it needs MEM=...M');
    $need //= 512;
    refuses("$what: 1 MiB less is refused", "it needs MEM=${need}M", 'DISK=ram', 'POLICY=run128',
        'MEM=' . ($need - 1) . 'M', @arguments);
    my $run = run_make("$what-fits" =~ s/ /-/r, 'DISK=ram', 'POLICY=run128', "MEM=${need}M", @arguments);

    ends_with($run, 0, '1 boot, every check passed', "$what: with that much it runs");
    is_deeply(boot_of($run)->{layers_file}{data_return}{hist}, { 131_072 => $bytes / 131_072 },
        "$what: nothing is paged out");
    return $need;
}

my $need = needs_memory('default job', 128 << 20, 'BOOT=direct');
cmp_ok($need, '<=', 512, 'the default job fits into the default memory');
needs_memory('amd64', 16 << 20, 'ARCH=amd64', 'SIZE=16M');

# --- What goes wrong ------------------------------------------------------------------------------

my $crash = run_make('amd64-crash', 'ARCH=amd64', 'JOB=tests/system/jobs/fault-crash_pager.job',
    'SIZE=1M', 'POLICY=page');
ends_with($crash, 99, 'pager crashed in thread rpc at 0x[0-9a-f]+ \(S_object_create\+0x[0-9a-f]+\): ' .
        'bad access to memory', 'a crash on amd64 names server, thread and function');
my $hang = run_make('amd64-hang', 'ARCH=amd64', 'JOB=tests/system/jobs/fault-deadlock.job',
    'SIZE=1M', 'POLICY=page', 'WATCHDOG=4');
ends_with($hang, 10, 'a deadlock: pager/rpc/\d+ waits for the lock fault_lock ',
    'a deadlock on amd64 names those who wait');
like(read_file("$hang->{folder}/serial.log"), qr/taken at fault_deadlock\+0x[0-9a-f]+ < S_object_sync/,
    'and where they took what they hold');

my $order = run_make('amd64-order', 'ARCH=amd64', 'JOB=tests/system/jobs/fault-lock_order.job', 'SIZE=1M',
    'POLICY=page');
ends_with($order, 99, 'lock order: fault_first is taken at fault_take_in_other_order\+0x[0-9a-f]+ < ' .
        'fault_lock_order', 'the order of locks is checked on amd64');

# --- What cannot be -------------------------------------------------------------------------------

sub is_skipped
{
    my ($says, @arguments) = @_;
    my $run = run_make("skipped-$arguments[0]" =~ s/\W/-/gr, 'ARCH=amd64', @arguments);

    ok($run->{last} =~ /^machbed: status 77: .*$says/ && $run->{exit} == 0 && !-e $run->{folder},
        "ARCH=amd64 @arguments is skipped, with the reason") or
        diag_run($run, "machbed: status 77: ... $says");
}

is_skipped('GNU Mach for amd64 has no disk driver; use DISK=ram', 'DISK=ahci');
is_skipped('GNU Mach for amd64 has no disk driver; use DISK=ram', 'DISK=ide');
is_skipped("QEMU's own loader takes no 64-bit kernel; use BOOT=grub", 'BOOT=direct');

done_testing;
