#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What every test of `make test` runs under (tests/limit.c): it ends in time, with all that it has
# started, whatever becomes of it; and what failed is told in short at the end (tests/explain.sh).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

my $logs = scratch() . '/logs';
my $tests = 0;

mkdir $logs or die "$logs: $!";

# A test that is the sh SCRIPT. It can say where its processes are: `note PID`.
sub script
{
    my ($script) = @_;
    my $path = scratch() . '/' . ++$tests . '.t';

    write_file($path, "#!/bin/sh\nnote() { echo \$1 >> '$path.pids'; }\nnote \$\$\n$script\n");
    chmod 0755, $path;
    return $path;
}

sub pids_of
{
    return split ' ', read_file("$_[0].pids");
}

# Starts the limit for the test PATH. Returns its pid.
sub start
{
    my ($path, $seconds) = @_;
    my $pid = fork // die "fork: $!";

    return $pid if $pid;
    $ENV{TEST_SECONDS} = $seconds;
    open STDOUT, '>', "$path.out";
    open STDERR, '>', "$path.err";
    exec 'build/tests/limit', $logs, $path;
}

# Waits for the limit's end. Returns its status.
sub wait_status
{
    waitpid $_[0], 0;
    return $? >> 8 || $? & 127;
}

sub run
{
    my ($path, $seconds) = @_;

    return wait_status(start($path, $seconds // 600));
}

sub nobody_is_left
{
    my ($path, $count, $name) = @_;
    my @pids = pids_of($path);
    my @left = grep { is_running($_) } @pids;

    is(scalar @pids, $count, "$name: so many there were");
    is("@left", '', "$name: they are gone");
}

sub log_of
{
    my ($path, $more) = @_;

    return read_file("$logs/" . ($path =~ s{.*/}{}r) . ($more // ''));
}

# A process that no group, session or parent leads to; WHEN_ASKED is what it does when asked to end.
sub far_away
{
    my ($when_asked) = @_;

    return <<"END";
(setsid sh -c 'trap "$when_asked" TERM; echo \$\$ >> "\$0"; while :; do sleep 1; done' "\$0.pids" &)
while [ \$(wc -l < "\$0.pids") != 2 ]; do sleep 0.1; done
END
}

# --- What ends by itself --------------------------------------------------------------------------

my $good = script("echo 'ok 1 - good'; echo '# a comment' >&2; echo 1..1");
is(run($good), 0, 'a test that passes has passed');
is(read_file("$good.out"), "ok 1 - good\n1..1\n", 'its TAP goes on to prove');
is(read_file("$good.err"), "# a comment\n", 'and its comments to the user');
like(log_of($good), qr/ok 1 - good.*1\.\.1/s, 'both are in its log');
is(log_of($good, '.failed'), '', 'and nothing says that it has failed');

my $bad = script("echo 'not ok 1 - bad'; printf '#   Failed test\\n# expected: x\\n' >&2; exit 3");
is(run($bad), 3, 'a test that fails has failed');
is(log_of($bad, '.failed'), "$bad failed with status 3\n", 'and with which status is kept');
my $killed = script('kill -9 $$');
is(run($killed), 137, 'so has one that is killed');
is(log_of($killed, '.failed'), "$killed was killed by signal 9\n", 'and by which signal is kept');

# --- What does not --------------------------------------------------------------------------------

my $late = script("echo 'ok 1 - good'\n" . far_away('') . 'sleep 1000');
is(run($late, 2), 124, 'a test that does not end fails');
like(read_file("$late.out"), qr/^not ok - \Q$late\E did not end within 2 seconds$/m, 'by its name');
like(read_file("$late.err"), qr/^# process \d+: sleep 1000 $/m, 'and what was going on is said');
nobody_is_left($late, 2, 'late');

my $left = script("echo 'ok 1 - good'; echo 1..1; (sleep 1000 & note \$!)");
is(run($left), 124, 'a test that leaves a process behind fails');
like(read_file("$left.out"), qr/^not ok - \Q$left\E leaves a process behind$/m, 'by its name');
nobody_is_left($left, 2, 'left');

for my $signal ('INT', 'TERM') {
    my $told = script(far_away('exit') . 'sleep 1000');
    my $pid = start($told, 600);

    wait_for(sub { 2 == pids_of($told) });
    kill $signal, $pid;
    cmp_ok(wait_status($pid), '>', 128, "SIG$signal ends a test");
    nobody_is_left($told, 2, "SIG$signal");
}

# As from CI, which may end the program that it has started and look no further.
my $orphan = script(far_away('exit') . 'sleep 1000');
my $elsewhere = scratch() . '/elsewhere';
mkdir $elsewhere or die "$elsewhere: $!";
my $prove = fork // die "fork: $!";
if ($prove == 0) {
    open STDOUT, '>', "$orphan.out";
    open STDERR, '>', "$orphan.err";
    exec 'prove', '--exec', "build/tests/limit $elsewhere", $orphan;
}
wait_for(sub { 2 == pids_of($orphan) });
kill 'KILL', $prove;
waitpid $prove, 0;
ok(wait_for(sub { !grep { is_running($_) } pids_of($orphan) }), 'nothing outlives a prove that is killed');

my $unit = script('exit 0');
is(run($unit, 'soon'), 2, 'a limit that is no number is refused');
like(read_file("$unit.err"), qr/TEST_SECONDS: 'soon' is not a number of seconds/, 'and named');

# --- What is told at the end ----------------------------------------------------------------------

my $told = `tests/explain.sh $logs 2>&1`;
like($told, qr/^machbed: \Q$bad\E failed with status 3; all that it said: \S+\nnot ok 1 - bad\n.*^# expected: x$/ms,
    'of a test that failed its first failure is told');
unlike($told, qr/^ok/m, 'and nothing that has not');
cmp_ok(scalar(split /\n/, $told), '<=', 80, 'in few lines');
is(scalar(() = $told =~ /^machbed: /mg), 6, 'and each one is named');
my $none = scratch() . '/none';
mkdir $none;
is(`tests/explain.sh $none 2>&1`, '', 'where none has failed nothing is told');

done_testing();
