#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several clients at once, with several files each.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

# BOOT went as it should: each byte of each file was written once, and is where it belongs.
sub boot_is_right
{
    my ($what, $boot, @checks) = @_;

    is_deeply($boot->{checks}, { map { $_ => 'ok' } qw(content disk_agrees fsck unmount), @checks },
        "$what: every check passed");
    is($boot->{layers_file}{store_write}{bytes}, $boot->{bytes}, "$what: each byte is written once");
    is($boot->{bytes_copied}, 0, "$what: no byte was copied on its way to the device");
}

my $run = run_make('overwrite', 'JOB=tests/system/jobs/manyfiles-overwrite.job', 'POLICY=run128',
    'BOOT=direct');
ends_with($run, 0, '1 boot, every check passed', 'files are overwritten through mappings');
boot_is_right('overwrite', boot_of($run), 'read_back');
is(boot_of($run)->{layers_file}{store_write}{count}, 21, 'overwrite: each file is one write');

done_testing();
