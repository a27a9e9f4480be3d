#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A trace in CTF: babeltrace2 reads it without a complaint and says what the lines of text say, event
# for event; every view is the same from both forms; what was dropped, cut off or killed is told.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use MachbedTrace;
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use Test::More;

my @keys = qw(by obj off len sec cls what wait n res); # of a line, behind `req`
my @copies;

# Runs babeltrace2 with ARGUMENTS. Returns its status, what it printed, and what it complained of.
sub babeltrace
{
    my (@arguments) = @_;
    my $errors = scratch() . '/babeltrace2.err';
    my $pid = open(my $out, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', $errors or die "$errors: $!";
        exec 'babeltrace2', @arguments;
    }
    my @lines = <$out>;
    close $out;
    return ($? >> 8, \@lines, read_file($errors));
}

# A line of babeltrace2 as the console has it: "event t=... dur=... kind=...".
sub line_of
{
    my ($end, $kind, $packet, $fields) = $_[0] =~ /^\[(\d+)\] (?:\S+ )?(\w+): \{ (.*?) \}, \{ (.*) \}$/
        or return "not understood: $_[0]";
    my %value = map { /^(\w+) = (?:\( )?"?([^" ]*)/ ? ($1, $2) : () } split /, /, "$packet, $fields";
    my @rest = map { "$_=$value{$_}" } grep { exists $value{$_} } @keys;

    return join ' ', 'event', 't=' . ($end - $value{dur}), "dur=$value{dur}", "kind=$kind",
        "srv=$value{srv}", "thr=$value{thr}", "req=$value{req}", @rest;
}

# The events on a boot's console.
sub lines_of_console
{
    my ($folder) = @_;

    return sort map { tr/\r//dr } grep { /^\r?event / } split /\n/, read_file("$folder/serial.log");
}

# A copy of the run with one policy's files, in the form TEXT or CTF alone. Returns its name.
sub copy_of
{
    my ($run, $policy, $form) = @_;
    my $name = "$run->{name}-$form" . @copies;
    my ($from, $to) = ("$run->{folder}/$policy", "build/runs/$name/$policy");

    push @copies, "build/runs/$name";
    make_path($form eq 'ctf' ? "$to/ctf" : $to);
    for my $file (qw(qemu.trace run.cfg), $form eq 'ctf' ? map { s/.*(ctf)/$1/r } glob "$from/ctf/*" : ()) {
        copy("$from/$file", "$to/$file") or die "$to/$file: $!";
    }
    copy("$run->{folder}/result.json", "build/runs/$name") if -e "$run->{folder}/result.json";
    local $_ = read_file("$from/serial.log");
    s/^\r?event .*\n//mg if $form eq 'ctf';
    write_file("$to/serial.log", $_);
    return $name;
}

END {
    remove_tree($_) for @copies;
}

# What differs may be thousands of lines.
sub diag_first_difference
{
    my @texts = map { [split /\n/] } @_;

    for my $line (0 .. $#{ $texts[0] }, $#{ $texts[0] } + 1) {
        my @here = map { $_->[$line] // 'nothing' } @texts;

        return diag("line $line from the text: $here[0]\nfrom CTF: $here[1]") if $here[0] ne $here[1];
    }
    diag("from the text:\n", end_of($_[0]), "from CTF:\n", end_of($_[1]));
}

# babeltrace2 reads the CTF of the run's boot with POLICY, and what it says is on the console, too.
sub says_the_same
{
    my ($what, $run, $policy) = @_;
    my $folder = "$run->{folder}/$policy";
    my ($status, $lines, $errors) = babeltrace('--clock-cycles', '--no-delta', "$folder/ctf");
    my @lines = sort map { line_of($_) } @$lines;
    my $events = 0;

    is($errors, '', "$what: babeltrace2 does not complain");
    is($status, 0, "$what: nor does its status");
    is_deeply(\@lines, [lines_of_console($folder)],
        "$what: its " . commas(scalar @lines) . ' events are those of the text');
    $events += $_->{events} for values %{ boot_of($run, $policy)->{trace} };
    is(scalar @lines, $events, "$what: and as many as the servers say");
    ok(!-e "$folder/ctf.memory", "$what: the memory is gone");
}

# --- Both forms at once -------------------------------------------------------------------------

my $run = run_make('ctf', 'SIZE=4M', 'POLICY=page,merge', 'BOOT=direct', 'TRACE=both');
ends_with($run, 0, 'every check passed', 'a job records its requests in both forms');
says_the_same('page', $run, 'page');
says_the_same('merge', $run, 'merge');
my ($status, $lines, $errors) = babeltrace("$run->{folder}/page/ctf", "$run->{folder}/merge/ctf");
ok($status == 0 && $errors eq '', 'the boots can be read together') or diag($errors);

my $amd64 = run_make('ctf-amd64', 'ARCH=amd64', 'JOB=jobs/pager.job', 'SIZE=1M', 'POLICY=run128',
    'TRACE=both');
ends_with($amd64, 0, 'every check passed', 'a 64-bit kernel records its requests in both forms');
says_the_same('amd64', $amd64, 'run128');

# --- The clock ----------------------------------------------------------------------------------

my ($seconds, $micros) = read_file("$run->{folder}/page/qemu.trace") =~
    /^\d+@(\d+)\.(\d+):fw_cfg_select \S+ key 0x3ff0 /m;
my ($guest) = read_file("$run->{folder}/page/serial.log") =~ /^\r?machbed mark ns=(\d+)/m;
my ($whole, $rest) = read_file("$run->{folder}/page/ctf/metadata") =~
    /offset_s = (\d+);\s+offset = (\d+);/;
is($whole * 1e9 + $rest, ($seconds * 1e6 + $micros) * 1000 - $guest,
    "the clock's offset makes of the guest's clock at the first mark the host's");

# --- The views ----------------------------------------------------------------------------------

my ($text, $ctf) = map { copy_of($run, 'page', $_) } qw(text ctf);
my (undef, $refusal) = trace("NAME=$text", 'VIEW=none');
my ($views) = $refusal =~ /'none'; there are: ([\w, ]+)/;
like($views // '', qr/^summary, request, latency, csv/, 'the views are known') or diag($refusal);
for my $view (split /, /, $views // '') {
    my @arguments = ("VIEW=$view", $view eq 'request' ? ('REQUEST=100', 'SERVER=ext2') : ());
    my %said;

    for my $name ($text, $ctf) {
        my ($exit, $said) = trace("NAME=$name", @arguments);
        my @files = grep { !/\.log$|\.cfg$|qemu\.trace$/ && -f } glob "build/runs/$name/page/*";

        $said{$name} = join "\n", $exit, map { s/\Q$name\E/NAME/gr } $said, map { read_file($_) } @files;
    }
    ok($said{$text} =~ /^0\n/ && $said{$text} eq $said{$ctf}, "$view is the same from both forms") or
        diag_first_difference($said{$text}, $said{$ctf});
}
shows('the table from CTF equals result.json', 0,
    ['^  no difference$', '^machbed: status 0: the trace and result.json agree in \d+ numbers$'],
    "NAME=$ctf");

# --- CTF alone ----------------------------------------------------------------------------------

my $alone = run_make('ctf-alone', 'JOB=jobs/pager.job', 'SIZE=4M', 'POLICY=run128', 'TRACE=ctf',
    'TRACE_EVENTS=data_return,store_write');
ends_with($alone, 0, 'every check passed', 'a job records its requests as CTF alone');
is_deeply([lines_of_console("$alone->{folder}/run128")], [], 'nothing of it is on the console');
($status, $lines, $errors) = babeltrace("$alone->{folder}/ctf");
ok($status == 0 && $errors eq '', "with one policy the folder is NAME/ctf") or diag($errors);
my %kinds = map { /(\w+): \{/ ? ($1 => 1) : ($_ => 1) } @$lines;
is_deeply([sort keys %kinds], [qw(data_return store_write)], 'no kinds come but those chosen');
shows('what was recorded is compared', 0, ['^store_write  run128 +32 ', 'no difference'],
    "NAME=$alone->{name}");
refuses('a form that is unknown is refused', "'xml'; there are: off, text, ctf, both", 'TRACE=xml');

# --- What is not whole --------------------------------------------------------------------------

# The calls alone make more events than there is room for, and come faster than these can be printed,
# however slow the host's disk is.
my $calls = write_file(scratch() . '/calls.job',
    "[calls]\nfs=ext2\nrw=write\nioengine=rpc\nbs=512\nsize=4m\nend_fsync=1\n");
my $small = run_make('ctf-small', 'MEM=32M', "JOB=$calls", 'POLICY=page', 'BOOT=direct', 'TRACE=both');
ends_with($small, 0, 'every check passed', 'a job records more than there is memory for');
my $dropped = boot_of($small)->{trace}{ext2}{dropped};
cmp_ok($dropped, '>', 0, 'events are dropped');
($status, $lines, $errors) = babeltrace("$small->{folder}/ctf");
my $discarded = 0;
$discarded += $1 while $errors =~ s/^WARNING: Tracer discarded (\d+) events? .*\n//m;
is($discarded, $dropped, 'babeltrace2 finds as many discarded by the counters of CTF');
ok($status == 0 && $errors eq '', 'and complains of nothing else') or diag($errors);
shows('so does make trace', 0, [commas($dropped) . ' events were discarded, say CTF'],
    "NAME=$small->{name}");

my ($stream) = map { s/.*\///r } grep { -s > 8192 } glob "$run->{folder}/page/ctf/ext2-*";
my $cut = copy_of($run, 'page', 'ctf');
truncate "build/runs/$cut/page/ctf/$stream", 5000 or die "truncate: $!";
shows('a stream that is cut off is shown as far as it goes, and differs', 99,
    ["warning: policy page: 1 file of CTF is cut off: $stream", 'warning: .* ext2 printed [\d,]+ events',
        '^store_write  page '], "NAME=$cut");
shows('what is left can be looked at', 0, ['^store_write '], "NAME=$cut", 'VIEW=latency');
unlink "build/runs/$cut/page/ctf/metadata";
shows('without metadata it is not usable', 2, ['the metadata of CTF: .*/ctf/metadata: No such file'],
    "NAME=$cut");

# --- A run that is killed -----------------------------------------------------------------------

# Printing the events takes seconds, in which the packets come.
my $killed = start_make('ctf-killed', 'SIZE=16M', 'POLICY=page', 'BOOT=direct', 'TRACE=both');
my $folder = "$killed->{folder}/page/ctf";
ok(wait_for(sub { grep { -s > 8192 } glob "$folder/ext2-*" }), 'packets come while the run goes on');
my %children = children_of($killed->{pid});
my ($runner) = grep { $children{$_} eq 'machbed-run' } keys %children;
kill 'KILL', $runner;
wait_make($killed);
ok(!-e "$killed->{folder}/result.json", 'the run was killed');
($status, $lines, $errors) = babeltrace('--clock-cycles', '--no-delta', $folder);
ok($status == 0 && $errors eq '', 'babeltrace2 reads what it left') or diag($errors);
cmp_ok(scalar @$lines, '>', 100, 'and there are events');
shows('so does make trace', 0, ['never said how many events it recorded', '^store_write '],
    "NAME=$killed->{name}", 'VIEW=latency');

done_testing();
