#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Side jobs: clients that extend, truncate, store into and sync a file while the job writes out. What
# they do to one file touches no other, and what they wait is counted. No time is a failure here.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

my @ok = qw(content fsck disk_agrees unmount);

# BOOT went well, and each byte of the job's own file was written to the disk once.
sub boot_is_right
{
    my ($what, $boot) = @_;

    is_deeply($boot->{checks}, { map { $_ => 'ok' } @ok }, "$what: every check passed");
    is($boot->{layers_file}{disk_write}{bytes}, $boot->{bytes},
        "$what: the job's blocks were written once, and by nobody else");
}

sub side_of
{
    my ($boot, $name) = @_;

    return (grep { $_->{name} eq $name } @{ $boot->{sides} })[0] // {};
}

for my $block (4096, 1024) {
    my $run = run_make("truncate-$block", 'JOB=jobs/truncate.job', "BLOCK=$block", 'BOOT=direct',
        $block == 4096 ? 'POLICY=page,run128,merge,adaptive' : 'POLICY=merge');

    ends_with($run, 0, 'every check passed', "truncate, blocks of $block: ends with 0");
    for my $boot (boots_of($run)) {
        my $what = "truncate, blocks of $block, $boot->{policy}";

        boot_is_right($what, $boot) if $block == 4096; # smaller ones share the disk's blocks
        is_deeply([map { [$_->{name}, $_->{count}] } @{ $boot->{sides} }],
            [['resizer', 200], ['writer', 200], ['storer', 4000], ['syncer', 100]],
            "$what: all have done what they should");
        is(side_of($boot, 'storer')->{faults}, 0, "$what: every store met the file");
        cmp_ok($boot->{alloc_lock}{count}, '>', 0, "$what: waits for the lock were counted");
    }
}

# A lock request that meets a page whose request has failed stops the kernel: libpager/lock.c.
my $run = run_make('truncate-behind', 'JOB=tests/system/jobs/truncate-behind.job', 'BOOT=direct',
    'POLICY=run128,merge');
ends_with($run, 0, '2 boots, every check passed', 'stores behind the end: ends with 0');
for my $boot (boots_of($run)) {
    my $storer = side_of($boot, 'storer');

    boot_is_right("stores behind the end, $boot->{policy}", $boot);
    is($storer->{count}, 4000, "stores behind the end, $boot->{policy}: all were tried");
    cmp_ok($storer->{faults}, '>', 0, "stores behind the end, $boot->{policy}: some met no file");
}

$run = run_make('contended', 'JOB=jobs/contended.job', 'SIZE=8M', 'BOOT=direct',
    'POLICY=run128,adaptive');
ends_with($run, 0, '2 boots, every check passed', 'contended: ends with 0');
for my $boot (boots_of($run)) {
    my $what = "contended, $boot->{policy}";
    my $lock = $boot->{alloc_lock};

    boot_is_right($what, $boot);
    cmp_ok(side_of($boot, 'resizer')->{count}, '>', 0, "$what: the file was extended and truncated");
    cmp_ok($lock->{count}, '>=', side_of($boot, 'resizer')->{count}, "$what: which needs the lock");
    cmp_ok($lock->{p99_us}, '<=', $lock->{max_us}, "$what: there are a percentile and a worst wait");
    cmp_ok($boot->{plain_128k_us}, '>', 0, "$what: and the time of a write to compare with");
    like($run->{text}, qr/^(alloc_lock)? +$boot->{policy} +[\d,]+ waits: p99 [\d.]+ us, worst [\d.]+ us; /m,
        "$what: the table says so");
}

$run = run_make('alone', 'SIZE=1M', 'BOOT=direct', 'POLICY=run128');
is_deeply(boot_of($run)->{alloc_lock}, { count => 0, p99_us => undef, max_us => undef },
    'a job without others waits for nobody');

done_testing();
