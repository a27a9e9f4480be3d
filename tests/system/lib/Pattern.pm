# SPDX-License-Identifier: GPL-2.0-or-later
#
# The data of jobs, made once more, apart from servers/libpattern: pattern(SEED, BYTES).
package Pattern;
use strict;
use warnings;
no warnings 'portable'; # of 64-bit numbers
use Exporter qw(import);

our @EXPORT = qw(pattern);

# Multiplication modulo 2^64.
sub mul
{
    use integer;
    return $_[0] * $_[1];
}

sub add
{
    use integer;
    return $_[0] + $_[1];
}

sub mix
{
    my $x = unpack 'Q', pack 'q', $_[0];
    $x = unpack 'Q', pack 'q', mul($x ^ ($x >> 30), 0xbf58476d1ce4e5b9);
    $x = unpack 'Q', pack 'q', mul($x ^ ($x >> 27), 0x94d049bb133111eb);
    return $x ^ ($x >> 31);
}

sub pattern
{
    my ($seed, $bytes) = @_;
    my ($state, $base, $data) = ($seed, '', '');

    for (1 .. (1 << 20) / 8) {
        $state = add($state, 0x9e3779b97f4a7c15);
        $base .= pack 'Q', mix($state);
    }
    for my $sector (0 .. $bytes / 512 - 1) {
        my $mixed = mix(add($seed, mul($sector, 0x9e3779b97f4a7c15)));
        $data .= pack('QQ', $sector ^ $seed, $mixed) .
            substr($base, $sector * 512 % length($base) + 16, 496);
    }
    return $data;
}

1;
