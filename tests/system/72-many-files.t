#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several clients at once, with several files each: that all of it is right, that metadata is written
# in few writes, and that no server has more threads for it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

use constant PAGE => 4_096;

my @quick = ('BOOT=direct', 'POLICY=merge');

# BOOT went as it should: each byte of each file was written once, and is where it belongs.
sub boot_is_right
{
    my ($what, $boot, @checks) = @_;

    is_deeply($boot->{checks}, { map { $_ => 'ok' } qw(content disk_agrees fsck unmount), @checks },
        "$what: every check passed");
    is($boot->{layers_file}{store_write}{bytes}, $boot->{bytes}, "$what: each byte is written once");
    is($boot->{bytes_copied}, 0, "$what: no byte was copied on its way to the device");
}

# Metadata of BOOT: so many writes, for so many pages.
sub metadata_of
{
    my ($boot) = @_;
    my $writes = $boot->{layers_meta}{store_write};

    return ($writes->{count}, $writes->{bytes} / PAGE);
}

# --- 1,500 files by 8 clients ---------------------------------------------------------------------

my $run = run_make('many', @quick, 'JOB=jobs/manyfiles.job');
ends_with($run, 0, '1 boot, every check passed', '1,500 files are written and synced by 8 clients');
my $many = boot_of($run);
boot_is_right('1,500 files', $many);
is_deeply([@$many{qw(nrfiles numjobs)}], [1_500, 8], '1,500 files: the result says how many');
my ($nwrites, $npages) = metadata_of($many);
cmp_ok($npages, '>=', 1_500 + 1_500 / 16, '1,500 files: their inodes and indirect blocks are written');
cmp_ok($nwrites, '<=', $npages / 4, '1,500 files: at most a write for four pages of metadata');
cmp_ok(abs($many->{meta_writes_per_page} - $nwrites / $npages), '<', 1e-6,
    '1,500 files: the result says how many writes that is for each page');
like($run->{text}, qr/metadata, writes for each page of it: merge 0\.\d\d\d\n/, 'and so does the table');
note("1,500 files: $nwrites writes for $npages pages of metadata");

# --- The same number of threads, whoever works ----------------------------------------------------

my %loops;
for my $job (qw(loop alone)) {
    $run = run_make($job, @quick, "JOB=tests/system/jobs/manyfiles-$job.job");
    ends_with($run, 0, '1 boot, every check passed', "$job: each file is synced before the next");
    $loops{$job} = boot_of($run);
    boot_is_right($job, $loops{$job});
    is($loops{$job}{servers}{ext2}{threads}, $many->{servers}{ext2}{threads},
        "$job: the server has as many threads as with 8 clients and 1,500 files");
    note("$job: ", join ' writes, pages of metadata: ', metadata_of($loops{$job}));
}
# How many pages they share depends on when each is called (of 1,152, some 50 to 300 were saved); and one
# that a client changes while another's sync writes it has to be written again.
cmp_ok((metadata_of($loops{loop}))[1], '<', 1.1 * (metadata_of($loops{alone}))[1],
    'syncs of 8 clients at once write hardly a page of metadata more than those of one client');

# --- Files that are there -------------------------------------------------------------------------

$run = run_make('overwrite', 'JOB=tests/system/jobs/manyfiles-overwrite.job', 'POLICY=run128',
    'BOOT=direct');
ends_with($run, 0, '1 boot, every check passed', 'files are overwritten through mappings');
boot_is_right('overwrite', boot_of($run), 'read_back');
is(boot_of($run)->{layers_file}{store_write}{count}, 21, 'overwrite: each file is one write');

# --- What cannot be -------------------------------------------------------------------------------

refuses('more files than pages are refused',
    'size=4M is less than a page \(4,096 bytes\) for each of nrfiles=1,500 files',
    'JOB=jobs/manyfiles.job', 'SIZE=4M');

done_testing();
