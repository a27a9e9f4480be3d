# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make trace` as a user calls it, for the tests of what runs have recorded.
package MachbedTrace;
use strict;
use warnings;
use Exporter qw(import);
use Machbed qw(end_of);
use Test::More;

our @EXPORT = qw(shows trace);

# Runs `make trace ARGUMENTS`. Returns make's status and all that was printed.
sub trace
{
    my (@arguments) = @_;
    my $pid = open(my $out, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        exec 'make', '--no-print-directory', 'trace', @arguments;
    }
    my $text = do { local $/; <$out> } // '';
    close $out;
    return ($? >> 8, $text);
}

# `make trace ARGUMENTS` ends with STATUS and says each of SAYS. Returns what it printed.
sub shows
{
    my ($name, $status, $says, @arguments) = @_;
    my ($exit, $text) = trace(@arguments);
    my @missing = grep { $text !~ /$_/m } @$says;

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    push @missing, "status $status" if $status != 0 && $text !~ /^machbed: status $status: /m;
    ok($exit == ($status ? 2 : 0) && !@missing, $name) or
        diag("command:  make trace @arguments\nexpected: status $status and each of @$says\n",
            "got:      make's status $exit, without ", join(', ', @missing),
            "\nthe end of what was printed:\n", end_of($text));
    return $text;
}

1;
