#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The views of `make trace` that make files, of a real run: they hold as many requests of each layer
# as result.json counts.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use JSON::PP;
use Test::More;

my @policies = qw(page run128);

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

my $run = run_make('views', 'JOB=jobs/default.job', 'SIZE=4M', 'POLICY=' . join(',', @policies),
    'BOOT=direct', 'TRACE=text');
ends_with($run, 0, 'every check passed', 'a job records its requests');

# --- Perfetto -----------------------------------------------------------------------------------

# The events of the policy's file by phase, as `X` and `b`, and within by name.
sub events_of
{
    my ($policy) = @_;
    my $trace = decode_json(read_file("$run->{folder}/$policy/perfetto.json"));
    my %events;

    push @{ $events{$_->{ph}}{$_->{name}} }, $_ for @{ $trace->{traceEvents} };
    return \%events;
}

# Whether on each track slices are one after the other, or one within the other.
sub nests
{
    my ($events) = @_;
    my %tracks;

    push @{ $tracks{"$_->{pid}/$_->{tid}"} }, $_ for map { @$_ } values %{ $events->{X} };
    for my $track (values %tracks) {
        my @ends;

        for my $slice (sort { $a->{ts} <=> $b->{ts} || $b->{dur} <=> $a->{dur} } @$track) {
            my $end = $slice->{ts} + $slice->{dur};

            pop @ends while @ends && $ends[-1] <= $slice->{ts} + 0.0005;
            return 0 if @ends && $ends[-1] + 0.0005 < $end;
            push @ends, $end;
        }
    }
    return 1;
}

my ($status, $text) = trace("NAME=$run->{name}", 'VIEW=perfetto');
is($status, 0, 'perfetto has something to show') or diag($text);
for my $policy (@policies) {
    my $events = events_of($policy);
    my $layers = boot_of($run, $policy)->{layers};
    my %flows = map { $_ => scalar @{ $events->{$_}{write} } } qw(s t f);
    my ($commands, $free) = ($layers->{disk_write}{count}, $events->{C}{'free pages'});

    like($text, qr/^\Q$run->{folder}\E\/$policy\/perfetto\.json: [\d,]+ events, /m,
        "$policy: its file is named");
    is(scalar @{ $events->{X}{$_} }, $layers->{$_}{count}, "$policy: every $_ is a slice")
        for qw(store_write disk_write);
    is(scalar @{ $events->{b}{$_} }, $layers->{$_}{count}, "$policy: every $_ is asynchronous")
        for qw(data_return data_request);
    is(scalar @{ $events->{X}{io_write} }, 64, "$policy: so many writes there were");
    ok(nests($events), "$policy: slices of a track nest");
    is($flows{s}, $flows{f}, "$policy: every flow that begins ends");
    is($flows{t}, 2 * $flows{s}, "$policy: and leads through a run and a store_write");
    # 4 MiB of file data, in commands that each are of one write, and of page's one page.
    is($flows{s}, $policy eq 'page' ? 1024 : 128, "$policy: to each command that carries file data");
    cmp_ok(scalar @$free, '>=', 2, "$policy: free pages were sampled");
    ok(!(grep { $_->{args}{value} <= 0 || $_->{args}{value} > 512 << 8 } @$free),
        "$policy: and are a part of the machine's");
}

done_testing();
