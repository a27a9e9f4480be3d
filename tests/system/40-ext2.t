#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The ext2 server in a real boot: the default job's numbers, the other jobs, small blocks, a second
# boot that reads what a first one wrote, images that cannot be mounted, and full disks.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

use constant MIB => 1 << 20;
use constant PARTITION => 'offset=1048576'; # where the file system is on the disk

$ENV{PATH} .= ':/usr/sbin:/sbin';

# 16 MiB instead of 128, without GRUB.
my @small = ('SIZE=16M', 'BOOT=direct');

# How many store_writes of the policy there are, and how large they are on average: all, and those of
# the file.
my %writes = (
    page => { count => 32_810, avg => 4_096, file_count => 32_768, file_avg => 4_096 },
    chunk2 => { count => 16_409, avg => 8_190, file_count => 16_385, file_avg => 8_192 },
    run128 => { count => 1_033, avg => 130_097, file_count => 1_025, file_avg => 130_944 },
    merge => { count => 136, avg => 988_160, file_count => 129, file_avg => 1_040_448 },
);

sub between
{
    my ($value, $low, $high, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok(defined $value && $value >= $low && $value <= $high, $name) ||
        diag($value // 'nothing', " is not between $low and $high");
}

# All checks were made, MORE too, and are ok.
sub checks_are_ok
{
    my ($what, $boot, @more) = @_;
    my @names = ('content', 'disk_agrees', 'fsck', 'unmount', @more);

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is_deeply($boot->{checks}, { map { $_ => 'ok' } @names }, "$what: " . join(', ', @names));
}

# What the rounding of writes to the disk's blocks adds is all that the disk writes more than it is
# told to, and a layer is the sum of its two parts.
sub bytes_add_up
{
    my ($what, $boot) = @_;
    my ($all, $file, $meta) = @$boot{qw(layers layers_file layers_meta)};

    is($all->{disk_write}{bytes}, $all->{store_write}{bytes} + $boot->{rmw_bytes},
        "$what: the disk writes what it is told to, and what rounding adds");
    is_deeply([map { $file->{$_}{bytes} + $meta->{$_}{bytes} } sort keys %$all],
        [map { $all->{$_}{bytes} } sort keys %$all], "$what: file data and metadata are all");
}

# A boot of a job that writes BYTES of file data, each once.
sub boot_is_right
{
    my ($what, $boot, $bytes, @more) = @_;

    is($boot->{status}, 0, "$what: its status is 0");
    is($boot->{layers_file}{store_write}{bytes}, $bytes,
        "$what: " . commas($bytes) . ' bytes of file data are written');
    is($boot->{bytes_copied}, 0, "$what: no byte was copied on its way to the device");
    checks_are_ok($what, $boot, @more);
    bytes_add_up($what, $boot);
}

sub says
{
    my ($run, $sentence, $name) = @_;
    my $text = $run->{text} =~ s/\s+/ /gr;

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    like($text, qr/\Q$sentence\E/, $name);
}

# --- The default job ------------------------------------------------------------------------------

sub default_is_right
{
    my ($what, $boot) = @_;
    my $expected = $writes{ $boot->{policy} };
    my ($all, $file) = @$boot{qw(layers layers_file)};

    boot_is_right($what, $boot, 128 * MIB);
    is_deeply($file->{data_return}, { count => 1_024, bytes => 128 * MIB, avg => 131_072,
            max => 131_072, hist => { 131_072 => 1_024 } },
        "$what: the kernel returns the file in 1,024 messages of 32 pages");
    is($all->{store_write}{count}, $expected->{count}, "$what: store_writes are as many");
    is($all->{store_write}{avg}, $expected->{avg}, "$what: and on average as large");
    is($file->{store_write}{count}, $expected->{file_count}, "$what: those of the file are as many");
    is($file->{store_write}{avg}, $expected->{file_avg}, "$what: and as large");
    is($boot->{rmw_bytes}, 0, "$what: no write had to be rounded");
    cmp_ok($all->{disk_write}{max}, '<=', 32_768, "$what: no command is larger than the driver's cap");
    note("$what: ", join ', ', map { "$_ $all->{$_}{count} of $all->{$_}{avg}" }
            qw(data_return store_write disk_write));
}

my $default = run_make('default', 'BOOT=direct');
ends_with($default, 0, '4 boots, every check passed', 'make run is the default job with all policies');
default_is_right("$_ on ahci", boot_of($default, $_)) for qw(page chunk2 run128 merge);
is(boot_of($default)->{name}, 'default', 'its name is default');
is(boot_of($default)->{block_size}, 4_096, 'the file system has blocks of 4,096 bytes');
says($default, 'store_write page ' . commas(boot_of($default)->{layers}{store_write}{count}) .
        ' 4,096 32,874 4,096 32,802 4,096', 'published figures stand beside ours');
says($default, 'the job: io_write calls of 65,536 bytes', 'the table says what the job does');

my $ide = run_make('ide', 'BOOT=direct', 'DISK=ide', 'POLICY=run128');
ends_with($ide, 0, '1 boot, every check passed', 'the default job ends with 0 on IDE');
default_is_right('run128 on ide', boot_of($ide));

# --- Other jobs -----------------------------------------------------------------------------------

my $overwrite = run_make('overwrite', 'JOB=jobs/overwrite.job', 'POLICY=page,run128', @small);
ends_with($overwrite, 0, '2 boots, every check passed', 'a file is overwritten');
for my $policy (qw(page run128)) {
    my $boot = boot_of($overwrite, $policy);

    boot_is_right("overwrite, $policy", $boot, 16 * MIB);
    between($boot->{layers_meta}{store_write}{count}, 1, 12,
        "overwrite, $policy: next to no metadata is written");
}
says($overwrite, 'run128: capped by the message', 'overwrite: the table says what caps it');

my $fragmented = run_make('fragmented', 'JOB=jobs/fragmented.job', 'BOOT=direct',
    'POLICY=page,chunk2,run128');
ends_with($fragmented, 0, '3 boots, every check passed', 'a file is written into holes');
boot_is_right("holes, $_", boot_of($fragmented, $_), 8 * MIB) for qw(page chunk2 run128);
my $holes = boot_of($fragmented, 'run128')->{layers_file}{store_write};
between($holes->{avg}, 7_000, 8_192, 'holes, run128: a write is nearly a hole on average');
is($holes->{max}, 8_192, 'holes, run128: no write is larger than a hole');
like($fragmented->{text} =~ s/\s+/ /gr,
    qr/run128: capped by where the blocks are: the file lies in [\d,]+ pieces of at most 8,192 bytes/,
    'holes: the table says that the holes cap it');

my $mmap = run_make('mmap', 'JOB=jobs/mmap.job', 'POLICY=run128', @small);
ends_with($mmap, 0, '1 boot, every check passed', 'a new file is written through a mapping');
boot_is_right('mmap', boot_of($mmap), 16 * MIB);

my $verify = run_make('verify', 'JOB=tests/system/jobs/ext2-verify.job', 'POLICY=run128', @small);
ends_with($verify, 0, '1 boot, every check passed', 'a file in a folder is written and read back');
boot_is_right('verify', boot_of($verify), 16 * MIB, 'read_back');

my $both = run_make('both', 'JOB=tests/system/jobs/ext2-overwrite-mmap.job', 'BOOT=direct',
    'POLICY=run128');
ends_with($both, 0, '1 boot, every check passed', 'a file in holes is overwritten through a mapping');
boot_is_right('overwrite, mmap', boot_of($both), 4 * MIB);
is(boot_of($both)->{layers_file}{store_write}{max}, 3 * 4_096,
    'overwrite, mmap: no write is larger than a hole');

# --- A second boot --------------------------------------------------------------------------------

my $first = run_make('first', 'SEED=4711', 'KEEP=1', 'POLICY=chunk2', @small);
my @second = ('JOB=jobs/read.job', "IMAGE=$first->{folder}/disk.img", 'POLICY=run128', @small);
my $second = run_make('second', 'SEED=4711', @second);
my $boot = boot_of($second);
ends_with($first, 0, '1 boot, every check passed', 'a first boot writes');
ends_with($second, 0, '1 boot, every check passed', 'a second boot reads what it wrote');
checks_are_ok('second boot', $boot, 'read_back');
is($boot->{layers_file}{store_read}{bytes}, 16 * MIB, 'second boot: all of it is read from the disk');
is($boot->{layers_file}{store_write}{count}, 0, 'second boot: none of it is written');

my $other = run_make('other', 'SEED=4712', @second);
ends_with($other, 99, 'what was read differs at byte 0', 'another seed is other data');
like(boot_of($other)->{checks}{read_back}, qr/^byte 0 differs/, 'the guest says so');
like(boot_of($other)->{checks}{content}, qr/^byte 0 /, 'and so does the host');

# --- Small blocks ---------------------------------------------------------------------------------

# A page is four or two blocks. They lie in one piece but where an indirect block stands between, so
# that nearly all pages are still written with one call. On AHCI, whose blocks have 4,096 bytes, the
# file's pages do not start where the disk's blocks do: the driver reads, changes and writes two
# blocks for each.
for my $block (2_048, 1_024) {
    my $run = run_make("ahci-$block", "BLOCK=$block", 'POLICY=page,run128', @small);

    ends_with($run, 0, '2 boots, every check passed', "blocks of $block bytes on AHCI");
    for my $policy (qw(page run128)) {
        my $boot = boot_of($run, $policy);

        boot_is_right("$block, ahci, $policy", $boot, 16 * MIB);
        is($boot->{block_size}, $block, "$block, ahci, $policy: the blocks are as small");
        cmp_ok($boot->{rmw_bytes}, '>', 0, "$block, ahci, $policy: writes are rounded outward");
        note("$block, ahci, $policy: ", join ', ',
            map { "$_ $boot->{layers}{$_}{count} of $boot->{layers}{$_}{avg}" }
                qw(store_write disk_write disk_read));
    }
    my $page = boot_of($run, 'page')->{layers_file}{store_write};
    between($page->{hist}{4_096}, 4_090, 4_096, "$block, page: nearly every page is one write");
    is($page->{max}, 4_096, "$block, page: and no write is larger");
    says($run, 'of a disk block (4,096 bytes) that is written in part the driver reads, changes and ' .
            'writes the whole', "$block: the table says what rounding does");

    $run = run_make("ide-$block", "BLOCK=$block", 'DISK=ide', 'POLICY=run128', @small);
    ends_with($run, 0, '1 boot, every check passed', "blocks of $block bytes on IDE");
    boot_is_right("$block, ide", boot_of($run), 16 * MIB);
    is(boot_of($run)->{rmw_bytes}, 0, "$block, ide: no write is rounded");
}

# --- Images that cannot be mounted ----------------------------------------------------------------

# A disk as make run makes it, in the scratch folder.
sub disk
{
    my ($name) = @_;
    my $path = scratch() . "/$name.img";

    system('disk-images/make-disk.sh', $path, 1024 * MIB) == 0 or die 'make-disk.sh';
    return $path;
}

# The same with another file system in partition 1.
sub disk_with
{
    my ($name, $size, @options) = @_;
    my $path = disk($name);

    system('mke2fs', '-q', '-F', '-b', 4_096, @options, '-E', PARTITION, $path, $size) == 0
        or die 'mke2fs';
    return $path;
}

# An image that the guest does not mount: status 2, one sentence, and CONSOLE says why.
sub not_mounted
{
    my ($word, $image, $console, $name) = @_;
    my $run = run_make($word, "IMAGE=$image", 'POLICY=run128', @small);

    ends_with($run, 2, 'ext2: cannot mount partition 1', $name);
    like(read_file("$run->{folder}/serial.log"), qr/ext2: .*$console/, "$name: the console says why");
}

my $zeros = disk('zeros');
open my $disk, '+<', $zeros or die "$zeros: $!";
seek $disk, MIB + 1024, 0;
print $disk "\0" x 1024;
close $disk or die "$zeros: $!";
not_mounted('zeros', $zeros, 'no ext2 file system', 'an image without an ext2 file system');
not_mounted('extents', disk_with('extents', '64M', qw(-t ext2 -O extents)), 'extents',
    'an image that needs a feature which is not known');
not_mounted('long', disk_with('long', '600M', qw(-t ext2)), 'shorter than the file system',
    'a file system that is longer than its partition');

my $rootless = disk('rootless');
system('debugfs', '-w', '-R', 'clri <2>', "$rootless?" . PARTITION) == 0 or die 'debugfs';
not_mounted('rootless', $rootless, 'inode 2, the root, is no directory',
    'a file system without a root directory');

my $cut = disk('cut');
truncate $cut, 100 * MIB or die "$cut: $!";
refuses('an image that is cut short is refused', 'is cut short: partition 1 ends at byte 537,919,488',
    "IMAGE=$cut");
refuses('an image without partitions is refused', 'has no partition table',
    'IMAGE=' . write_file(scratch() . '/text.img', 'x' x 4_096));
refuses('an image that is not there is refused', '--image: .* No such file', 'IMAGE=/nonexistent');

# --- Full disks -----------------------------------------------------------------------------------

# The job ends with an error that says so, and what it leaves is in order.
sub disk_is_full
{
    my ($what, $run, $error) = @_;
    my %checks = %{ boot_of($run)->{checks} // {} };

    ends_with($run, 99, "write: $error", "$what: the error reaches the job");
    like(delete $checks{content}, qr/bytes and should have|should be/, "$what: the file is not whole");
    is_deeply(\%checks, { map { $_ => 'ok' } qw(disk_agrees fsck unmount) },
        "$what: the file system is in order");
}

my $tiny = disk_with('tiny', '8M', qw(-t ext2));
disk_is_full('full, io_write', run_make('full', "IMAGE=$tiny", 'POLICY=run128', @small),
    'No space left on device');
# Of a store into a mapping the kernel says only that it failed.
disk_is_full('full, mmap',
    run_make('full-mmap', 'JOB=jobs/mmap.job', "IMAGE=$tiny", 'POLICY=run128', @small),
    '(No space left on device|EIO)');

done_testing();
