#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Write-behind: what nobody syncs is on the disk after a while, without it is not, and what it has
# written no sync writes again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Pattern;
use Test::More;

use constant MIB => 1 << 20;
use constant OBJECT => 1_050_624 * 512; # where partition 2 begins
use constant NFILES => 5;

$ENV{PATH} .= ':/usr/sbin:/sbin';

my @quick = ('BOOT=direct', 'POLICY=merge', 'SIZE=4M');
my $bytes = 4 * MIB;

# Runs a job at whose end the power goes; returns its disk.
sub disk_after_cut
{
    my ($word, @arguments) = @_;
    my $run = run_make($word, @quick, @arguments);

    ends_with($run, 99, 'never said so on the console', "$word: the power goes");
    return "$run->{folder}/disk.img";
}

# The files on DISK, as debugfs reads them.
sub files_of
{
    my ($disk) = @_;
    my $copy = scratch() . '/copy';

    return join '', map {
        unlink $copy;
        system("debugfs -R 'dump /behind/file.$_ $copy' '$disk?offset=1048576' 2>/dev/null");
        read_file($copy);
    } 0 .. NFILES - 1;
}

sub object_of
{
    my ($disk) = @_;

    open my $file, '<', $disk or die "$disk: $!";
    seek $file, OBJECT, 0;
    read($file, my $data, $bytes);
    return $data;
}

# Not is(): nobody wants to see four million bytes that are not the same.
sub is_data
{
    my ($data, $seed, $name) = @_;

    ok($data eq pattern($seed, $bytes), $name);
}

my $disk = disk_after_cut('files', 'JOB=tests/system/jobs/behind.job', 'SYNC_EVERY=1', 'SEED=31');
is_data(files_of($disk), 31, 'files: all that was written is on the disk');
my $fsck = `e2fsck -fn '$disk?offset=1048576' 2>&1`;
unlike($fsck, qr/\?|wrong|differ/, 'files: and the file system is in order') or diag($fsck);

$disk = disk_after_cut('nothing', 'JOB=tests/system/jobs/behind.job', 'SEED=32');
is(files_of($disk), '', 'without write-behind nothing of it is');

$disk = disk_after_cut('object', 'JOB=tests/system/jobs/behind-object.job', 'SYNC_EVERY=1',
    'SEED=33');
is_data(object_of($disk), 33, 'object: all that was stored into the mapping is on the disk');

# In how many pieces the files lie on the disk of RUN. The clients take blocks at the same time, so what
# is free behind a file's first blocks depends on who came first.
sub pieces_of
{
    my ($run) = @_;
    my $pieces = 0;

    for my $blocks (read_file("$run->{folder}/merge/debugfs.log") =~ /^BLOCKS:\n(.*)$/mg) {
        my $behind = -1;

        while ($blocks =~ /\(\d+(?:-\d+)?\):(\d+)(?:-(\d+))?/g) {
            $pieces++ if $1 != $behind;
            $behind = ($2 // $1) + 1;
        }
    }
    return $pieces;
}

# Filling takes a small part of a second, and the job's client then waits for eight: the first round, after
# five, comes when all is there, and is over when the sync comes, which has nothing to do. Machines may
# be slower, but the seconds are the guest's, which has one clock for all of it.
my $run = run_make('sync', @quick, 'JOB=tests/system/jobs/behind-sync.job', 'SYNC_EVERY=5');
ends_with($run, 0, '1 boot, every check passed', 'sync: a job with write-behind ends with 0');
my $boot = boot_of($run);
is($boot->{sync_every}, 5, 'sync: the result says so');
is_deeply($boot->{checks}, { map { $_ => 'ok' } qw(content disk_agrees fsck unmount) },
    'sync: every check passed');
is($boot->{layers_file}{store_write}{bytes}, $bytes, 'sync: each byte is written once');
is($boot->{layers_file}{data_return}{bytes}, $bytes, 'sync: and returned once');
# A file is smaller than MERGE_MAX and than a window of write-behind. The kernel sends all messages of a
# window before the server's receiver can run, and that looks at all of them before one is written
# (pager_gather): so it is exact.
is($boot->{layers_file}{store_write}{count}, pieces_of($run), 'sync: each piece of a file is one write');
like(read_file("$run->{folder}/serial.log"), qr/ext2: write-behind: rounds: [1-9]/,
    'sync: there were rounds');

# Rounds while eight clients write, and while they sync. A page that a client was in the middle of is
# written twice, of course; there can be one for each client in each round.
$run = run_make('many', 'BOOT=direct', 'POLICY=merge', 'SYNC_EVERY=1', 'JOB=jobs/manyfiles.job');
ends_with($run, 0, '1 boot, every check passed', 'many: servers write behind 8 clients');
$boot = boot_of($run);
my ($rounds) = read_file("$run->{folder}/serial.log") =~ /ext2: write-behind: rounds: (\d+)/;
my $more = $boot->{layers_file}{store_write}{bytes} - $boot->{bytes};
cmp_ok($rounds, '>', 0, 'many: there were rounds');
cmp_ok($more, '>=', 0, 'many: each byte is written');
cmp_ok($more, '<=', $rounds * $boot->{numjobs} * 4_096,
    'many: no page is written twice, but one that a client was in the middle of');
note("many: $rounds rounds, $more bytes twice");

refuses('SYNC_EVERY that is no number is refused', '--sync-every: .often. is not a number',
    'SYNC_EVERY=often');

done_testing();
