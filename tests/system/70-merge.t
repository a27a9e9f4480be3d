#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The policy `merge` in real boots: how few writes it makes of a job, how large they are, and that
# what they wrote is right. Where a window of a sync (servers/libpager/lock.c) is one write, or a page
# several blocks, what is queued when the disk is ready depends a little on timing: those counts
# have bounds. The default job's do not, nor has that no byte is lost or copied.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

use constant MIB => 1 << 20;

my @quick = ('BOOT=direct', 'POLICY=merge');

# The store_writes of BOOT, in LAYERS, are at most MOST and at least AVERAGE bytes large on average.
sub writes_are
{
    my ($what, $boot, $layers, $most, $average) = @_;
    my $writes = $boot->{$layers}{store_write};

    cmp_ok($writes->{count}, '<=', $most, "$what: at most " . commas($most) . ' writes')
        if $most;
    cmp_ok($writes->{avg}, '>=', $average, "$what: on average at least " . commas($average) . ' bytes');
}

# BOOT went as it should: each dirty page was written once, from where it lay.
sub boot_is_right
{
    my ($what, $boot, $merge_max, @checks) = @_;

    is_deeply($boot->{checks}, { map { $_ => 'ok' } 'content', 'disk_agrees', @checks },
        "$what: every check passed");
    is($boot->{layers_file}{store_write}{bytes}, $boot->{bytes}, "$what: each byte is written once");
    cmp_ok($boot->{layers}{store_write}{max}, '<=', $merge_max,
        "$what: no write is larger than " . commas($merge_max) . ' bytes');
    is($boot->{merge_max}, $merge_max, "$what: the result says so");
    is($boot->{bytes_copied}, 0, "$what: messages are put together without copying a byte");
}

sub ext2_is_right
{
    my ($what, $boot, $merge_max, @checks) = @_;

    boot_is_right($what, $boot, $merge_max, 'fsck', 'unmount', @checks);
}

# The default job.
my $run = run_make('default', @quick);
ends_with($run, 0, '1 boot, every check passed', 'the default job ends with 0');
ext2_is_right('default', boot_of($run), MIB);
is(boot_of($run)->{layers}{store_write}{count}, 136, 'default: 136 writes');
is(boot_of($run)->{layers}{store_write}{avg}, 988_160, 'default: on average 988,160 bytes large');
like($run->{text} =~ s/\s+/ /gr, qr/capped by the policy: MERGE_MAX \(1,048,576 bytes\) a call/,
    'the table says that MERGE_MAX caps store_write');

$run = run_make('4m', @quick, 'MERGE_MAX=4M');
ends_with($run, 0, '1 boot, every check passed', 'MERGE_MAX=4M ends with 0');
ext2_is_right('MERGE_MAX=4M', boot_of($run), 4 * MIB);
writes_are('MERGE_MAX=4M, all writes', boot_of($run), 'layers', 60, 2_200_000);

$run = run_make('1k', @quick, 'BLOCK=1024');
ends_with($run, 0, '1 boot, every check passed', 'blocks of 1,024 bytes end with 0');
ext2_is_right('1 KiB blocks', boot_of($run), MIB);
writes_are('1 KiB blocks, file data', boot_of($run), 'layers_file', 0, 880_000);
writes_are('1 KiB blocks, all writes', boot_of($run), 'layers', 0, 600_000);

# No write is larger than a hole, whatever is queued.
$run = run_make('fragmented', @quick, 'JOB=jobs/fragmented.job');
ends_with($run, 0, '1 boot, every check passed', 'holes of two blocks end with 0');
ext2_is_right('fragmented', boot_of($run), MIB);
is(boot_of($run)->{layers_file}{store_write}{max}, 8192, 'fragmented: two blocks a write');

# A bare object, and a largest write that is no power of two; on IDE, its blocks are 1,024 bytes.
$run = run_make('object', @quick, 'JOB=jobs/pager.job', 'SIZE=16M');
ends_with($run, 0, '1 boot, every check passed', 'a bare object ends with 0');
boot_is_right('object', boot_of($run), MIB);
writes_are('object', boot_of($run), 'layers', 18, 880_000);

$run = run_make('ide', @quick, 'JOB=jobs/pager.job', 'SIZE=16M', 'DISK=ide', 'MERGE_MAX=300K');
ends_with($run, 0, '1 boot, every check passed', 'IDE and MERGE_MAX=300K end with 0');
boot_is_right('MERGE_MAX=300K', boot_of($run), 300 * 1024);
writes_are('MERGE_MAX=300K', boot_of($run), 'layers', 72, 230_000);

# All of it dropped from memory, and read again.
$run = run_make('verify', @quick, 'JOB=tests/system/jobs/verify.job');
ends_with($run, 0, '1 boot, every check passed', 'a job that reads back ends with 0');
boot_is_right('verify', boot_of($run), MIB, 'read_back');

# An object that nobody maps any more comes back page by page, in messages that the kernel sends
# before it says that the object has gone: no policy may come to wait for that.
$run = run_make('unmap', 'BOOT=direct', 'POLICY=page,run128,merge', 'JOB=jobs/unmap.job');
ends_with($run, 0, '3 boots, every check passed', 'an object that is unmapped before its sync ends with 0');
for my $policy (qw(page run128 merge)) {
    is_deeply(boot_of($run, $policy)->{layers}{data_return}, { count => 4_096, bytes => 16 * MIB,
            avg => 4_096, max => 4_096, hist => { 4_096 => 4_096 } },
        "unmap, $policy: the kernel returns single pages");
}
writes_are('unmap, merge', boot_of($run, 'merge'), 'layers', 32, 524_288);

# What a sync has moved out of memory to be written is back when it is read.
$run = run_make('back', @quick, 'JOB=tests/system/jobs/ext2-verify.job', 'SIZE=16M');
ends_with($run, 0, '1 boot, every check passed', 'a file that is read back ends with 0');
ext2_is_right('back', boot_of($run), MIB, 'read_back');
is(boot_of($run)->{layers_file}{data_request}{count}, 16 * MIB / 4096, 'back: each page was asked for once');
is(boot_of($run)->{layers_file}{store_read}{count}, 0, 'back: and none was read from the disk');

# The plain loop beside it.
$run = run_make('plain', @quick, 'JOB=tests/system/jobs/plain.job');
ends_with($run, 0, '1 boot, every check passed', 'a job with a plain loop ends with 0');
boot_is_right('plain', boot_of($run), MIB, 'fsck', 'unmount');
cmp_ok(boot_of($run)->{plain_us}, '>', 0, 'plain: the loop was timed');
is(boot_of($run)->{servers}{workload}{store_write}{count}, 48,
    'plain: 16 writes of 1 MiB, and 32 of 128 KiB');
is(boot_of($run)->{layers}{disk_write}{bytes}, boot_of($run)->{layers}{store_write}{bytes},
    'plain: what the loop asked of the disk is in no layer');
like($run->{text}, qr/plain loop of 1M .* s, .* MB\/s; the sync ran at/, 'plain: the table has it');

refuses('a MERGE_MAX of less than a page is refused', '--merge-max: 1K is not a number of pages',
    'MERGE_MAX=1K');

done_testing();
