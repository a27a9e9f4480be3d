#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The disk of an ext2 job, before and after its boot: what is prepared, what the checks see, and
# images that are brought along. A program plays QEMU and the guest (fake-qemu-ext2).
use strict;
use warnings;
use FindBin;
use JSON::PP;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

$ENV{PATH} .= ':/usr/sbin:/sbin';

my $scratch = scratch();
my $build = "$scratch/build";
my $cutter = 'build/host/machbed-fragment';

write_file("$scratch/$_", $_) for qw(kernel boot.iso qemu.cfg);
my @usual = ('build/host/machbed-run', '--build', $build, '--iso', "$scratch/boot.iso", '--kernel',
    "$scratch/kernel", '--qemu-cfg', "$scratch/qemu.cfg", '--qemu', 'tests/system/fake-qemu-ext2',
    '--fragment', $cutter, '--policy', 'run128');

# A job of 8 KiB with more KEYS.
sub job
{
    my ($name, @keys) = @_;

    return ('--job', write_file("$scratch/$name.job",
            join "\n", "[$name]", 'fs=ext2', 'bs=4k', 'size=8k', @keys, ''));
}

# Runs the runner, with WRONG for fake-qemu-ext2: its status and all that it printed.
sub run
{
    my ($wrong, @arguments) = @_;

    local $ENV{FAKE_QEMU} = $wrong;
    my $pid = open my $out, '-|';
    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        exec @usual, @arguments;
    }
    local $/;
    my $text = <$out> // '';
    close $out;
    return ($? >> 8, $text);
}

# One ending: what goes wrong, the status, and what the last line must say.
sub ending
{
    my ($name, $wrong, $status, $says, @arguments) = @_;
    my ($got, $text) = run($wrong, @arguments);

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok($got == $status && $text =~ /^machbed: status $status: .*$says.*\n\z/m, $name) ||
        diag("command:  FAKE_QEMU='$wrong' @usual @arguments\n",
            "expected: machbed: status $status: ... $says\ngot:      status $got; the end of what was ",
            "printed:\n", end_of($text));
}

sub boot
{
    return decode_json(read_file("$build/runs/$_[0]/result.json"))->{jobs}[0];
}

# --- A file that is written -----------------------------------------------------------------------

my @job = job('plain');

ending('a good run ends with 0', '', 0, 'every check passed', @job);
my $boot = boot('plain');
is_deeply($boot->{checks}, { map { $_ => 'ok' } qw(content disk_agrees fsck unmount) },
    'its checks are ok');
is($boot->{layers_file}{disk_write}{bytes}, 8_192, 'what goes to the file\'s blocks is file data');
is($boot->{layers_meta}{disk_write}{bytes}, 4_096, 'what goes elsewhere is metadata');
is($boot->{block_size}, 4_096, 'blocks have 4,096 bytes');
my $run = "$build/runs/plain/run128";
is_deeply([glob "$run/content.data*"], [], 'the copy of the file is removed');
ok(-s "$run/e2fsck.log", 'what e2fsck said is kept');

ending('blocks may be smaller', '', 0, 'every check passed', @job, '--block', '1024');
is(boot('plain')->{block_size}, 1_024, 'result.json says so');

ending('a byte that differs is seen', 'flipped_byte', 99, 'content: byte 4,099 .*; sector [\d,]+ of', @job);
ending('a missing file is seen', 'no_file', 99,
    'content: the file job.data is not there: .*not found', @job);
ending('a short file is seen', 'short_file', 99,
    'content: the file job.data has 4,096 bytes and should have 8,192', @job);
ending('wrong counts are seen', 'miscounted', 99, 'fsck: Free blocks count wrong \(7, counted=', @job);
ending('a file system that was not unmounted is seen', 'not_clean', 99, "fsck: .*'not clean'", @job);

# --- What is prepared -----------------------------------------------------------------------------

ending('folders on the way are made', '', 0, 'every check passed',
    job('deep', 'filename=some folder/b=c/data'));
ending('the folder that mke2fs makes is not made again', '', 0, 'every check passed',
    job('lost', 'filename=lost+found/data'));

my @overwrite = job('overwrite', 'overwrite=1', 'filename=a/b');
ending('a file is there to be overwritten', '', 0, 'every check passed', @overwrite);
ending('a file that was not overwritten is seen', 'not_overwritten', 99,
    'the sector was not overwritten; 16 of 16 sectors differ', @overwrite);

ending('a file is there to be read', '', 0, 'every check passed', job('read', 'rw=read'));
is_deeply(boot('read')->{checks}, { map { $_ => 'ok' } qw(content disk_agrees fsck read_back unmount) },
    'and is the same afterwards');
ending('what debugfs cannot prepare ends with 2', '', 2, 'debugfs says: .*exists',
    job('taken', 'rw=read', 'filename=lost+found'));

my @holes = job('holes', 'fragment=1');
ending('free space is cut into holes', '', 0, 'every check passed', @holes);
ending('a tool that cannot cut ends with 2', '', 2, 'could not be cut: the tool did not say why',
    @holes, '--fragment', '/bin/false');
ending('a tool that is missing ends with 2', '', 2, '--fragment.*No such file', @holes, '--fragment',
    "$scratch/none");

# machbed-fragment itself, on a disk of make run.
for my $block (4_096, 2_048, 1_024) {
    my $disk = "$scratch/disk.img";
    my $place = "$disk?offset=1048576";

    system('disk-images/make-disk.sh', $disk, 1 << 30, $block) == 0 or die 'make-disk.sh';
    is(system($cutter, $place, 3), 0, "$block: the free space of a disk is cut");
    my $free = `debugfs -R freefrag '$place' 2>/dev/null`;
    my $hole = 3 * $block / 1_024;
    like($free, qr/^Min\. free extent: $hole KB .*^Max\. free extent: $hole KB/ms,
        "$block: every hole is of three blocks");
    like($free, qr/^Free blocks: +\d+ \((6[4-9]|7\d)/m, "$block: most of the space is still free");
    my $said = `e2fsck -fn '$place' 2>/dev/null`;
    is($? >> 8, 0, "$block: e2fsck has nothing to say");
    unlike($said, qr/wrong|Fix/, "$block: nor does it mention a wrong count");
}
my $said = `$cutter '$scratch/disk.img?offset=1048576' 3 2>&1`;
is($? >> 8, 2, 'a disk that was cut is not cut again');
like($said, qr/there is a fragment\.fill already/, 'for the reason that it names');
$said = `$cutter '$scratch/disk.img?offset=1048576' 0 2>&1`;
like($said, qr/'0' is no number of blocks from 1 to/, 'holes have at least one block');

# --- Images that are brought along ----------------------------------------------------------------

ending('a first run', '', 0, 'every check passed', @job, '--seed', 5, '--keep', 1);
my @image = ('--image', "$build/runs/plain/disk.img");
my @read = job('again', 'rw=read');
ending('a second one on its disk', '', 0, 'every check passed', @read, '--seed', 5, @image);
ending('another seed is other data', '', 99, 'content: byte 0 ', @read, '--seed', 6, @image);
ending('an image in the folder of the run is refused', '', 2, 'choose another NAME', @read, @image,
    '--name', 'plain');
ok(-e "$build/runs/plain/run128/disk.img", 'and is still there');
chmod 0444, "$build/runs/plain/run128/disk.img";
ending('an image that cannot be written will do', '', 0, 'every check passed', @read, '--seed', 5,
    @image);
ending('an image has its own blocks', '', 2, 'leave --block away', @read, @image, '--block', 1_024);
ending('an image without the job\'s partition is refused', '', 2, 'has no partition 1', @read,
    '--image', write_file("$scratch/empty.img", "\0" x 510 . "\x55\xaa" . "\0" x 512));
ending('an image that is no whole sectors is refused', '', 2, 'no whole sectors', @read,
    '--image', write_file("$scratch/odd.img", "\0" x 510 . "\x55\xaa" . "\0" x 100));

done_testing();
