# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the system tests share: `make run` as a user calls it, what it said and left, and the
# processes below it. Loading this module changes to the top folder of the sources.
#
# A run is a hash: `name`, `folder` (build/runs/NAME), `command` (as a user would type it), `exit`
# (make's own status), `signal` (the one that ended make, or 0), `text` (all that was printed), `last`
# (the last line that starts with "machbed:"), `result` (result.json; undef when there is none).
#
# Of a failure often no more is seen than the end of a log of CI. So what is said of one begins with
# the command, what was expected and what came, and then has the end of what was printed. The files of
# a test's runs stay when it fails, and it says where they are.
package Machbed;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename;
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(boot_of boots_of children_of commas diag_run end_of ends_with is_running read_file
    refuses run_make scratch start_make start_target wait_for wait_make write_file);

# Seconds for what takes one, and for a boot's end: on a machine at its limit that is not much.
use constant PATIENCE => 240;
use constant LINES => 20; # of a text are shown where it matters how it ended

my $scratch = tempdir(CLEANUP => 1);
my $outputs = 0;
my $refusals = 0;
my %runs; # names of runs that were handed out
my @started; # all runs

our @before; # words that stand before `make` in the command of a run

chdir dirname(abs_path(__FILE__)) . '/../../..' or die "the top folder: $!";

sub scratch
{
    return $scratch;
}

sub read_file
{
    my ($path) = @_;

    open my $file, '<', $path or return '';
    local $/;
    return scalar <$file> // '';
}

sub write_file
{
    my ($path, $text) = @_;

    open my $file, '>', $path or die "$path: $!";
    print $file $text;
    close $file or die "$path: $!";
    return $path;
}

# The last LINES of a text.
sub end_of
{
    my ($text) = @_;
    my @lines = split /\n/, $text;

    return join '', map { "$_\n" } @lines > LINES ? ('...', @lines[-LINES .. -1]) : @lines;
}

# 32768 is 32,768.
sub commas
{
    my ($number) = @_;

    1 while $number =~ s/^(\d+)(\d{3})/$1,$2/;
    return $number;
}

# A name that no other test's run has, nor this test's when it runs twice at a time.
sub run_name
{
    my $name = "test-$$-$_[0]";

    $runs{$name} = 1;
    return $name;
}

sub last_line
{
    my @lines = grep { /^machbed: / } split /\n/, $_[0];

    return $lines[-1] // '';
}

# Starts COMMAND in a process group of its own, with the files INPUT and OUTPUT. Returns its pid.
sub start_program
{
    my ($input, $output, @command) = @_;
    my $pid = fork // die "fork: $!";

    return $pid if $pid;
    setpgrp 0, 0;
    open STDIN, '<', $input or die "$input: $!";
    open STDOUT, '>', $output or die "$output: $!";
    open STDERR, '>&', \*STDOUT;
    exec @command or die "$command[0]: $!";
}

# Starts `make TARGET NAME=… ARGUMENTS` and returns the run, not ended yet; `pid` is make's. The name
# is made of WORD, or is WORD itself if an earlier run has that name. It reads the file INPUT.
sub start_target
{
    my ($target, $word, $input, @arguments) = @_;
    my $name = $runs{$word} ? $word : run_name($word);
    my $output = "$scratch/output-" . ++$outputs;
    my @words = ('make', $target, "NAME=$name", 'TIMEOUT=' . PATIENCE, @arguments);
    my %run = (name => $name, folder => "build/runs/$name", output => $output,
        command => join ' ', map { /[^\w.,:\/=+-]/ ? "'$_'" : $_ } @words);

    $run{pid} = start_program($input, $output, @before, 'make', '--no-print-directory',
        @words[1 .. $#words]);
    push @started, \%run;
    return \%run;
}

sub start_make
{
    my ($word, @arguments) = @_;

    return start_target('run', $word, '/dev/null', @arguments);
}

# Waits for the run's end and fills the rest in.
sub wait_make
{
    my ($run) = @_;
    my $json = "$run->{folder}/result.json";

    waitpid $run->{pid}, 0;
    $run->{exit} = $? >> 8;
    $run->{signal} = $? & 127;
    delete $run->{pid};
    $run->{text} = read_file($run->{output});
    $run->{last} = last_line($run->{text});
    $run->{result} = -e $json ? decode_json(read_file($json)) : undef;
    return $run;
}

sub run_make
{
    return wait_make(start_make(@_));
}

# The entries in result.json of the run's boots.
sub boots_of
{
    my ($run) = @_;

    return $run->{result} ? @{ $run->{result}{jobs} // [] } : ();
}

# The entry of the run's boot with POLICY, or of its only boot.
sub boot_of
{
    my ($run, $policy) = @_;
    my @boots = grep { !defined $policy || $_->{policy} eq $policy } boots_of($run);

    return $boots[0] // {};
}

# What is known of a run that did not go as EXPECTED says.
sub diag_run
{
    my ($run, $expected) = @_;
    my $written = $run->{result} ? "status $run->{result}{status}" : 'missing';
    my $signal = $run->{signal} ? ", signal $run->{signal}" : '';

    return diag("command:  $run->{command}\nexpected: $expected\n",
        "got:      $run->{last}\n          make: status $run->{exit}$signal; result.json: $written\n",
        "the end of what was printed:\n", end_of($run->{text}));
}

# The run ended with STATUS: so say its last line, result.json and make. The last line matches SAYS.
sub ends_with
{
    my ($run, $status, $says, $name) = @_;
    my $make = $status == 0 || $status == 77 ? 0 : 2;
    my $written = $run->{result} ? $run->{result}{status} : 'missing';
    my $ok = $run->{last} =~ /^machbed: status $status: .*$says/ && $written eq $status &&
        $run->{exit} == $make && $run->{signal} == 0;

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok($ok, $name) || diag_run($run, "machbed: status $status: ... $says");
}

# `make run ARGUMENTS` says SAYS and nothing else, ends with status 2 and leaves nothing.
sub refuses
{
    my ($name, $says, @arguments) = @_;
    my $run = run_make('refused-' . ++$refusals, @arguments);
    my @errors = grep { /^machbed: (?!waiting for another make)/ } split /\n/, $run->{text};
    my $left = -e $run->{folder} ? ' (it left one)' : '';
    my $ok = @errors == 1 && $errors[0] =~ /^machbed: status 2: .*$says/ && $run->{exit} == 2;

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok($ok && !$left, $name) or
        diag_run($run, "one error and no folder$left: machbed: status 2: ... $says");
}

# A process that has ended but that nobody has waited for yet counts as gone.
sub is_running
{
    return read_file("/proc/$_[0]/stat") =~ /\) [^ZX]/;
}

# The processes below PID, as a hash from pid to name.
sub children_of
{
    my ($pid) = @_;
    my %found;

    for my $child (split ' ', join ' ', map { read_file($_) } glob "/proc/$pid/task/*/children") {
        my ($name) = read_file("/proc/$child/stat") =~ /\((.*)\)/;

        %found = (%found, $child => $name // '', children_of($child));
    }
    return %found;
}

# Waits until CONDITION is true and returns what it returned.
sub wait_for
{
    my ($condition) = @_;
    my $end = time + PATIENCE;
    my $value;

    until ($value = $condition->()) {
        return $value if time > $end;
        sleep 0.05;
    }
    return $value;
}

# What a test's runs were, when the test has failed or is told to end.
sub tell_runs
{
    for my $run (@started) {
        diag("$run->{folder}: $run->{command}") if -e $run->{folder};
        next if !$run->{pid};
        diag("it is going on; the end of what was printed so far:\n", end_of(read_file($run->{output})));
        diag("the end of $_:\n", end_of(read_file($_) =~ s/\r//gr))
            for glob "$run->{folder}/*/serial.log";
    }
}

# By the limit of time, or Ctrl-C (tests/limit.c). What the test has started is told as well.
$SIG{$_} = sub { exit 1 } for qw(HUP INT TERM);

# Runs of a test that passed go away; those of one that failed are there to look at.
END {
    if ($? == 0 && Test::More->builder->is_passing) {
        remove_tree("build/runs/$_") for keys %runs;
        unlink "build/runs/.$_.lock" for keys %runs;
    } else {
        tell_runs();
    }
}

1;
