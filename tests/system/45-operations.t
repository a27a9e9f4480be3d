#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every call of the file server's interfaces, on each size of blocks; the guest looks at the answers,
# e2fsck at what is left.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

for my $block (4096, 2048, 1024) {
    my $run = run_make("operations-$block", 'JOB=jobs/operations.job', "BLOCK=$block",
        'POLICY=run128', 'BOOT=direct');

    ends_with($run, 0, '1 boot, every check passed', "each call answers as it must, blocks of $block");
    is_deeply(boot_of($run)->{checks},
        { map { $_ => 'ok' } qw(content fsck disk_agrees unmount) },
        "the image is clean and the disk agrees, blocks of $block");
}

done_testing;
