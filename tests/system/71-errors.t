#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A sector of the disk that fails: what the job hears, what the disk has afterwards, and what the
# servers count. On IDE, for the kernel's AHCI driver does not survive a failed command.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use MachbedTrace;
use Test::More;

use constant PAGE_SECTORS => 8;

my @policies = qw(page chunk2 run128 merge);
my @quick = ('BOOT=direct', 'DISK=ide', 'SIZE=1M');
my $in_file = 100 * PAGE_SECTORS + 3; # the sector, counted in the job's bytes

# A new disk is always the same, so a file of the same size lies in the same place: where is SECTOR of
# the file that RUN wrote?
sub sector_of
{
    my ($run, $sector) = @_;
    my $block = $sector / PAGE_SECTORS;
    my $report = read_file("$run->{folder}/run128/debugfs.log");

    while ($report =~ /\((\d+)-(\d+)\):(\d+)-\d+/g) {
        return boot_of($run)->{partitions}{hd0s1}{sector} +
            ($3 + int($block) - $1) * PAGE_SECTORS + $sector % PAGE_SECTORS
            if $1 <= $block && $block <= $2;
    }
    die 'the file is not in debugfs.log';
}

# BOOT lost the page of the bad sector, said so, and nothing else.
sub lost_one_page
{
    my ($what, $boot, $bytes, @checks) = @_;
    my $writes = $boot->{layers_file}{store_write};
    my %checks = (map({ $_ => 'ok' } 'disk_agrees', @checks), sync => 'EIO (I/O error)');

    $checks{unmount} = 'EIO (I/O error)' if $boot->{fs} eq 'ext2';
    is($boot->{status}, 99, "$what: the boot has failed");
    is($boot->{reason}, 'sync: EIO (I/O error)', "$what: because the sync said EIO");
    like($boot->{checks}{content}, qr/; 8 of 2,048 sectors differ$/,
        "$what: exactly 8 sectors on the disk are not the job's");
    like($boot->{checks}{content}, qr/^byte [\d,]+ \(sector 800; /, # whose first byte may be 0
        "$what: they are those of the bad page");
    delete $boot->{checks}{content};
    is_deeply($boot->{checks}, \%checks, "$what: the sync failed, all else agrees");
    is($writes->{bytes}, $bytes - PAGE_SECTORS * 512, "$what: what was not written is not counted");
    cmp_ok($boot->{sync_us}, '>', 0, "$what: the job was timed all the same");
}

my $run = run_make('where', @quick, 'POLICY=run128');
ends_with($run, 0, '1 boot, every check passed', 'without a fault all is well');
is($run->{result}{machine}{fail_sector}, undef, 'and the result says that there was none');
my $bad = sector_of($run, $in_file);

$run = run_make('file', @quick, "FAIL_SECTOR=$bad", 'TRACE=text', 'POLICY=' . join(',', @policies));
ends_with($run, 99, 'policy page: sync: EIO', 'a file with a bad sector ends with 99');
is($run->{result}{machine}{fail_sector}, $bad, 'the result says which sector failed');
like($run->{text}, qr/^fault: sector @{[commas($bad)]} of the disk fails$/m, 'so does the table');
lost_one_page("file, $_", boot_of($run, $_), 1 << 20, 'fsck') for @policies;
shows('the trace counts as the servers do: without what failed', 0,
    ['^machbed: status 0: the trace and result.json agree in \\d+ numbers$'], "NAME=$run->{name}");

# Partition 2 begins behind the first, which has 512 MiB; an object is at its start.
$run = run_make('object', @quick, 'FAIL_SECTOR=' . (2048 + (1 << 20) + $in_file),
    'JOB=jobs/pager.job', 'POLICY=' . join(',', @policies));
ends_with($run, 99, 'policy page: sync: EIO', 'an object with a bad sector ends with 99');
lost_one_page("object, $_", boot_of($run, $_), 1 << 20) for @policies;

# The kernel's driver asks 9 times for one write. Under `page` that is all there is before the sync
# answers, and the page is kept; with the others it is tried again alone, before that.
$run = run_make('passes', @quick, "FAIL_SECTOR=$bad", 'FAIL_TIMES=9', 'POLICY=page,run128');
ends_with($run, 99, 'policy page: sync: EIO', 'a sector that works again later ends with 99');
is_deeply(boot_of($run, 'page')->{checks},
    { map({ $_ => 'ok' } qw(content disk_agrees fsck unmount)), sync => 'EIO (I/O error)' },
    'page: the sync says EIO, and the next one writes the page');
is_deeply(boot_of($run, 'run128')->{checks},
    { map { $_ => 'ok' } qw(content disk_agrees fsck unmount) },
    'run128: a failed run is tried again page by page, before anybody hears of it');

# Without its partition table a disk has no partitions.
for my $case (['ext2: cannot open and map the device hd0s1', 'JOB=jobs/default.job'],
    ['pager: cannot open the device hd0s2', 'JOB=jobs/pager.job']) {
    my ($says, $job) = @$case;

    ends_with(run_make('table', @quick, 'POLICY=merge', 'FAIL_SECTOR=0', $job), 2, $says,
        "$job: a disk whose first sector cannot be read is named");
}

refuses('a FAIL_SECTOR that is no number is refused', "--fail-sector: 'first' is not a number",
    'FAIL_SECTOR=first');
refuses('a FAIL_SECTOR behind the disk is refused',
    '--fail-sector: the disk has no sector 2,097,152, but 0 to 2,097,151', 'FAIL_SECTOR=2097152');
refuses('FAIL_TIMES without FAIL_SECTOR is refused', '--fail-times: no sector fails without',
    'FAIL_TIMES=1');

done_testing();
