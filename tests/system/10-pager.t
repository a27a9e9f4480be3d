#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The pager server's object in a real boot: what each layer counts under each policy, exactly, and
# that the disk and the printed table say the same.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

use constant MIB => 1 << 20;
use constant PAGE => 4096;
use constant FULL => 128 * MIB;

# For 128 MiB: the requests at each layer. Smaller objects have proportionally fewer.
my %counts = (
    page => { data_request => 32_768, data_return => 1_024, store_write => 32_768,
        store_read => 0, disk_write => 32_768 },
    chunk2 => { data_request => 32_768, data_return => 1_024, store_write => 16_384,
        store_read => 0, disk_write => 16_384 },
    run128 => { data_request => 32_768, data_return => 1_024, store_write => 1_024,
        store_read => 0, disk_write => 4_096 },
);
my %sizes = (
    page => { data_request => 4_096, data_return => 131_072, store_write => 4_096,
        store_read => 0, disk_write => 4_096 },
    chunk2 => { data_request => 4_096, data_return => 131_072, store_write => 8_192,
        store_read => 0, disk_write => 8_192 },
    run128 => { data_request => 4_096, data_return => 131_072, store_write => 131_072,
        store_read => 0, disk_write => 32_768 },
);
my @job = ('JOB=jobs/pager.job');
my @layers = qw(data_request data_return store_write store_read disk_write);

# A layer that saw COUNT requests of SIZE bytes (a power of two), and no others.
sub layer
{
    my ($count, $size) = @_;

    return { count => $count, bytes => $count * $size, avg => $size, max => $size,
        hist => $count ? { $size => $count } : {} };
}

# Each layer of BOOT saw what the policy's row says.
sub layers_are
{
    my ($what, $boot, $bytes) = @_;
    my $policy = $boot->{policy};

    for my $layer (@layers) {
        my $count = $counts{$policy}{$layer} * $bytes / FULL;
        my $size = $sizes{$policy}{$layer};

        is_deeply($boot->{layers}{$layer}, layer($count, $size),
            "$what: $layer is " . commas($count) . ' of ' . commas($size) . ' bytes');
    }
}

# Nothing but the object is written. The disk is read a little all the same: the kernel looks for
# partitions on it, and then for more of them in the object's partition.
sub all_is_file_data
{
    my ($what, $boot) = @_;
    my ($all, $file, $meta) = @$boot{qw(layers layers_file layers_meta)};

    is_deeply({ map { $_ => $file->{$_} } @layers }, { map { $_ => $all->{$_} } @layers },
        "$what: all that is written is file data");
    is_deeply({ map { $_ => $meta->{$_} } @layers }, { map { $_ => layer(0, 0) } @layers },
        "$what: nothing is metadata");
    is($file->{disk_read}{bytes} + $meta->{disk_read}{bytes}, $all->{disk_read}{bytes},
        "$what: what the disk reads is file data or metadata");
    cmp_ok($all->{disk_read}{count}, '<', 16, "$what: only the partitions are looked for");
}

# The server under test is the one that served.
sub server_is_pager
{
    my ($what, $boot) = @_;
    my @counted = grep { !/^disk_/ } @layers;
    my %pager = %{ $boot->{servers}{pager} };

    cmp_ok(delete $pager{threads}, '>', 0, "$what: the server says how many threads it has");
    is_deeply(\%pager, { map { $_ => $boot->{layers}{$_} } @counted },
        "$what: the layers are the pager server's");
    is_deeply($boot->{servers}{workload}, {}, "$what: the workload counts nothing");
}

sub checks_are_ok
{
    my ($what, $boot, @more) = @_;

    is_deeply($boot->{checks}, { map { $_ => 'ok' } 'content', 'disk_agrees', @more },
        "$what: content and disk agree");
    is($boot->{rmw_bytes}, 0, "$what: no write had to be rounded");
    is($boot->{bytes_copied}, 0, "$what: no byte was copied on its way to the device");
    is($boot->{status}, 0, "$what: the boot's status is 0");
}

# One boot that went as it should.
sub boot_is_right
{
    my ($what, $run, $policy, $bytes) = @_;
    my $boot = boot_of($run, $policy);

    is($boot->{bytes}, $bytes, "$what: " . commas($bytes) . ' bytes were written') or return;
    layers_are($what, $boot, $bytes);
    all_is_file_data($what, $boot);
    server_is_pager($what, $boot);
    checks_are_ok($what, $boot);
}

# A number of the table's histogram: 128K is 131072, 1,024 is 1024.
sub number
{
    my ($digits, $unit) = $_[0] =~ /^([\d,]+)([KMG]?)$/ or return -1;

    $digits =~ tr/,//d;
    return $digits << { '' => 0, K => 10, M => 20, G => 30 }->{$unit};
}

# What the first column of the table's rows stands for in result.json.
my %parts = ('  file data' => 'layers_file', '  metadata' => 'layers_meta');

# The printed table as result.json has it: {policy}{part}{layer}{count, bytes, avg, max, hist}.
sub table_parse
{
    my ($text) = @_;
    my ($part, $layer, %table) = ('', '');

    for (split /\n/, $text) {
        next unless /^(\w+|  file data|  metadata|) +(page|chunk2|run128) +(\d.*)/;
        my ($first, $policy, $numbers) = ($1, $2, $3);
        my ($count, $bytes, $avg, $max, $rate, @hist) = split ' ', $numbers;

        $part = $parts{$first} // 'layers' if $first ne '';
        $layer = $first if $first =~ /^\w/;
        $table{$policy}{$part}{$layer} = { count => number($count), bytes => number($bytes),
            avg => number($avg), max => number($max),
            hist => { map { number($_) } map { split /:/ } @hist } };
    }
    return \%table;
}

# Layers that saw nothing have no row, nor have the parts of a layer that all is one part of.
sub table_is_right
{
    my ($what, $run) = @_;
    my $table = table_parse($run->{text});

    for my $boot (boots_of($run)) {
        my $rows = $table->{ $boot->{policy} };
        my $workload = delete $rows->{layers}{workload};
        my $all = $boot->{layers};
        my %seen = (layers => { map { $_ => $all->{$_} } grep { $all->{$_}{count} } keys %$all });

        for my $part (grep { $_ ne 'layers' } keys %$rows) {
            $seen{$part} = { map { $_ => $boot->{$part}{$_} } keys %{ $rows->{$part} } };
        }
        is_deeply($rows, \%seen, "$what: the table of $boot->{policy} is result.json's");
        is($workload->{bytes}, $boot->{bytes},
            "$what: the table of $boot->{policy} has the job's bytes");
    }
}

sub says
{
    my ($run, $sentence, $name) = @_;
    my $text = $run->{text} =~ s/\s+/ /gr;

    like($text, qr/\Q$sentence\E/, $name);
}

# The default of `make run`: 128 MiB, GRUB, AHCI.
my $ahci = run_make('ahci', @job, 'POLICY=page,chunk2,run128');
ends_with($ahci, 0, '3 boots, every check passed', 'a run with all policies ends with 0');
boot_is_right("$_ on ahci", $ahci, $_, FULL) for qw(page chunk2 run128);
table_is_right('ahci', $ahci);
says($ahci, 'capped by the kernel: at most 32 pages (131,072 bytes) in one message',
    'the table says that the kernel caps data_return');
says($ahci, 'page: capped by the policy: one page (4,096 bytes) a call',
    'the table says that page caps store_write');
says($ahci, 'chunk2: capped by the policy: 2 pages (8,192 bytes) a call',
    'the table says that chunk2 caps store_write');
says($ahci, 'run128: capped by the message: no call holds more than one data_return',
    'the table says that the message caps store_write under run128');
says($ahci, "run128: capped by the kernel's disk driver: 8 buffers of a page (32,768 bytes)",
    'the table says that the driver caps disk commands under run128');
my $machine = $ahci->{result}{machine};
is_deeply([@$machine{qw(disk boot mem_mib accel)}], ['ahci', 'grub', 512, 'tcg'],
    'the defaults are an AHCI disk, GRUB, 512 MiB and TCG');

my $ide = run_make('ide', @job, 'DISK=ide', 'POLICY=run128');
ends_with($ide, 0, '1 boot, every check passed', 'a run on IDE ends with 0');
boot_is_right('run128 on ide', $ide, 'run128', FULL);
is(boot_of($ide)->{device_block}, 1024, 'the IDE device has blocks of 1,024 bytes');
is(boot_of($ahci)->{device_block}, 4096, 'the AHCI device has blocks of 4,096 bytes');

my %seeds = map { $_->{seed} => 1 } boots_of($ahci), boot_of($ide);
is(scalar keys %seeds, 4, 'every boot has data of its own');

my $direct = run_make('direct', @job, 'BOOT=direct', 'SIZE=8M', 'SEED=4711',
    'POLICY=page,chunk2,run128');
ends_with($direct, 0, '3 boots, every check passed', 'a run without GRUB ends with 0');
boot_is_right("$_ without GRUB", $direct, $_, 8 * MIB) for qw(page chunk2 run128);
is(boot_of($direct)->{seed}, 4711, 'SEED chooses the data');
is($direct->{result}{machine}{boot}, 'direct', 'BOOT is what result.json says');
like(read_file("$direct->{folder}/page/serial.log"), qr{task loaded: /\S+/startup },
    'without GRUB, QEMU loads the tasks from their own files');
note("without GRUB, the workload speaks after ", boot_of($direct)->{boot_ms}{workload}, ' ms');

my $rest = run_make('ide-rest', @job, 'DISK=ide', 'BOOT=direct', 'SIZE=8M', 'POLICY=page,chunk2');
ends_with($rest, 0, '2 boots, every check passed', 'the other policies end with 0 on IDE');
boot_is_right("$_ on ide", $rest, $_, 8 * MIB) for qw(page chunk2);

my $small = run_make('small', @job, 'MEM=256M', 'BOOT=direct', 'POLICY=run128');
ends_with($small, 0, '1 boot, every check passed', 'half the memory is enough');
boot_is_right('run128 in 256 MiB', $small, 'run128', FULL);
is($small->{result}{machine}{mem_mib}, 256, 'MEM is what result.json says');
my ($pages) = read_file("$small->{folder}/serial.log") =~ /page table size: (\d+) entries/;
cmp_ok($pages // 0, '<=', 256 * MIB / PAGE, 'MEM is what the kernel has');

# Reading back: each page is asked for twice, and the second time it comes from the disk.
my $verify = run_make('verify', 'JOB=tests/system/jobs/verify.job', 'BOOT=direct', 'POLICY=run128');
my $boot = boot_of($verify);
ends_with($verify, 0, '1 boot, every check passed', 'a job that reads back ends with 0');
checks_are_ok('verify', $boot, 'read_back');
is_deeply($boot->{layers}{store_read}, layer(16 * MIB / PAGE, PAGE),
    'verify: each page is read once from the store');
is_deeply($boot->{layers}{data_request}, layer(2 * 16 * MIB / PAGE, PAGE),
    'verify: each page is asked for twice, once to be filled and once to be read back');
is($boot->{layers}{disk_read}{count} - boot_of($direct)->{layers}{disk_read}{count},
    16 * MIB / PAGE, 'verify: each page is read once from the disk');
is($boot->{layers_meta}{store_read}{count}, 0, 'verify: what is read back is file data');
is_deeply($boot->{layers}{store_write}, layer(128, 131_072),
    'verify: dropping pages that the store has writes none of them again');
table_is_right('verify', $verify);

done_testing();
