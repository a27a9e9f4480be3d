#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A run that records its requests, and what `make trace` makes of it: the same numbers as
# result.json, each write followed down to the disk, and what it says when the log was tampered with
# or cut off.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use MachbedTrace;
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use Test::More;

use constant SECTOR => 512;

my @columns = qw(policy t dur kind srv thr req by obj off len sec cls what wait n res);
my @copies;

# The rows of VIEW=csv as hashes.
sub rows
{
    my (@arguments) = @_;
    my ($exit, $text) = trace('VIEW=csv', @arguments);
    my @lines = split /\n/, $text;
    my $head = shift @lines;

    is($head, join(',', @columns), "@arguments: the rows have the documented columns");
    return map { my %row; @row{@columns} = split /,/, $_, -1; \%row } @lines;
}

# A copy of the run with one policy's files, FILE of them changed by EDIT (of the text in $_). Returns
# its name.
sub tampered
{
    my ($run, $policy, $file, $edit) = @_;
    my $name = "$run->{name}-copy" . @copies;
    my $folder = "build/runs/$name";

    push @copies, $folder;
    make_path("$folder/$policy");
    copy("$run->{folder}/result.json", $folder) or die "$folder: $!";
    for my $part (qw(serial.log qemu.trace run.cfg)) {
        copy("$run->{folder}/$policy/$part", "$folder/$policy/") or die "$folder: $!";
    }
    local $_ = read_file("$folder/$policy/$file");
    tr/\r//d; # the console's, at both ends of lines
    $edit->();
    write_file("$folder/$policy/$file", $_);
    return $name;
}

END {
    remove_tree($_) for @copies;
}

# --- A whole trace ------------------------------------------------------------------------------

my $run = run_make('trace', 'JOB=jobs/default.job', 'SIZE=16M', 'POLICY=page,run128', 'BOOT=direct',
    'TRACE=text');
ends_with($run, 0, 'every check passed', 'a job records its requests');
for my $policy (qw(page run128)) {
    my $trace = boot_of($run, $policy)->{trace};

    cmp_ok($trace->{$_}{events}, '>', 0, "$policy: $_ has events") for qw(ext2 workload);
    is($trace->{$_}{dropped}, 0, "$policy: $_ has dropped none") for qw(ext2 workload);
}
like($run->{text}, qr/^trace +page +[\d,]+ events, none dropped; giving them out took/m,
    'the table says how many, and how long giving them out took');
my $summary = shows('the summary equals result.json', 0,
    ['^ext2, file data:', '^store_write  page +4,096 ', '^disk, file data:',
        '^  clocks: from [\d,]+ commands', '^policy run128 against result.json:\n  no difference',
        '^machbed: status 0: the trace and result.json agree in \d+ numbers$'],
    "NAME=$run->{name}");
unlike($summary, qr/warning/, 'nothing is missing');

# --- Every write reaches the disk ---------------------------------------------------------------

# The sectors, of the disk, that a row is about.
sub sectors
{
    my ($row, $start) = @_;

    return ($start + $row->{sec}, $start + $row->{sec} + $row->{len} / SECTOR);
}

# Whether the commands, in order, cover what the call wrote, and nothing but that.
sub covers
{
    my ($call, $start, @commands) = @_;
    my ($at, $end) = sectors($call, $start);

    for my $command (sort { $a->{sec} <=> $b->{sec} } @commands) {
        my ($first, $behind) = sectors($command, 0);

        return 0 if $first != $at;
        $at = $behind;
    }
    return $at == $end;
}

# Whether the commands came while the call was going on; SLACK nanoseconds are the clock's.
sub within
{
    my ($call, $slack, @commands) = @_;

    for my $command (@commands) {
        return 0 if $command->{t} + $slack < $call->{t};
        return 0 if $command->{t} > $call->{t} + $call->{dur} + $slack;
    }
    return 1;
}

my %rows;
for my $policy (qw(page run128)) {
    my @all = rows("NAME=$run->{name}", "POLICY=$policy");
    my $boot = boot_of($run, $policy);
    my ($partition) = map { $_->{sector} } $boot->{partitions}{sd0s1};
    my ($slack) = $summary =~ /policy $policy: .*\n.*right to ([\d.]+) us/;
    my (%commands, @bare, @late);

    $rows{$policy} = \@all;
    is(scalar(grep { $_->{kind} eq 'store_write' && $_->{srv} eq 'ext2' } @all),
        $boot->{layers}{store_write}{count}, "$policy: there is a row for each store_write");
    ok(!(grep { $all[$_]{t} < $all[$_ - 1]{t} } 1 .. $#all), "$policy: rows are in order of time");
    push @{ $commands{$_->{by}} }, $_ for grep { $_->{kind} eq 'disk_write' } @all;
    for my $call (grep { $_->{kind} eq 'store_write' } @all) {
        my @of_call = @{ $commands{$call->{req}} // [] };

        push @bare, $call->{req} unless covers($call, $partition, @of_call);
        push @late, $call->{req} unless within($call, $slack * 1000, @of_call);
    }
    is("@bare", '', "$policy: commands of the disk cover every store_write");
    is("@late", '', "$policy: and came in its time");
    ok(!$commands{''}, "$policy: no write of the disk is nobody's");
}

# --- One request's way --------------------------------------------------------------------------

my ($write) = grep { $_->{what} eq 'io_write' && $_->{off} == 8 << 20 } @{ $rows{run128} };
my $way = shows('a write is followed through all layers', 0,
    ['^ .* op \d+ workload \(main\) write 65,536 bytes at 8,388,608', '^>.*  io \d+ ext2 .* io_write',
        '    data_request \d+ ext2', '    data_return \d+ ext2', '      run \d+ ext2',
        '        store_write \d+ ext2', '          disk_write 32,768 bytes', '^own times.*: op '],
    "NAME=$run->{name}", 'POLICY=run128', 'VIEW=request', "REQUEST=$write->{req}", 'SERVER=ext2');
my ($last) = reverse grep { $_->{kind} eq 'store_write' } @{ $rows{page} };
shows('a store_write is followed back', 0,
    ['  data_return ', '    run ', '^> .*      store_write ', '        disk_write '],
    "NAME=$run->{name}", 'POLICY=page', 'VIEW=request', "REQUEST=$last->{req}", 'SERVER=ext2');
shows('a request of several policies is refused', 2, ['choose one with POLICY='],
    "NAME=$run->{name}", 'VIEW=request', 'REQUEST=1');
shows('a request that is not there is refused', 2, ['request 999999999 is not in the trace'],
    "NAME=$run->{name}", 'POLICY=page', 'VIEW=request', 'REQUEST=999999999');
shows('latencies stand for each layer and policy', 0,
    ['^op +sync +workload page ', '^io +io_write +ext2 ', '^alloc_lock +write wait +ext2 ',
        '^store_write +ext2 +page .*\n +run128 ', '^disk_write +at most '],
    "NAME=$run->{name}", 'VIEW=latency');

# --- Tampering ----------------------------------------------------------------------------------

my $name = tampered($run, 'run128', 'serial.log',
    sub { s/(kind=store_write .* )len=131072/$1len=130560/ });
shows('a length that was changed is found', 99,
    ['differs: layers_file\.store_write\.bytes is 16,776,704 by the trace, 16,777,216 by result'],
    "NAME=$name");
$name = tampered($run, 'run128', 'serial.log', sub { s/^event .*kind=data_return .*\n//m });
shows('a line that vanished is found', 99, ['data_return\.count is', 'ext2 printed [\d,]+ events'],
    "NAME=$name");
$name = tampered($run, 'run128', 'serial.log', sub { s/^(event .*)( sec=\d+)/$1/m });
shows('a line that was damaged is found, and named', 99,
    ['^machbed: warning: policy run128: 1 damaged line is left out: serial.log \d+$'], "NAME=$name");
shows('what is left can be looked at', 0, ['^store_write '], "NAME=$name", 'VIEW=latency');
$name = tampered($run, 'run128', 'qemu.trace',
    sub { s/^\S*blk_co_pwritev \S+ \S+ bs (\S+) offset \d+ bytes 32768 .*\n//m });
shows('a command of the disk that vanished is found', 99, ['1 store call wants more', 'disk_write'],
    "NAME=$name");

# --- What is not whole --------------------------------------------------------------------------

# In the middle of an event's line: what is left of a line that is cut in its first word looks whole.
$name = tampered($run, 'page', 'serial.log',
    sub { substr($_, index($_, "\nevent ", 3 * length($_) / 4) + 40) = '' });
shows('a log that is cut off is shown as far as it goes', 0,
    ['warning: policy page: 1 damaged line', 'warning: .* ext2 never said how many events it',
        'warning: .* serial.log is cut off', '^store_write  page ',
        'agree in \d+ numbers; a part of the trace is not there to compare$'], "NAME=$name");
shows('so are its requests', 0, ['^> .* op 1 workload '], "NAME=$name", 'VIEW=request', 'REQUEST=1',
    'SERVER=workload') if grep { /^event .*srv=workload/ } read_file("build/runs/$name/page/serial.log");
$name = tampered($run, 'page', 'qemu.trace', sub { substr($_, length($_) / 2) = '' });
shows('so is a trace of the disk', 0, ['qemu.trace ends before', 'a part of the trace is not there'],
    "NAME=$name");
$name = tampered($run, 'page', 'serial.log', sub { s/^event .*\n//mg });
shows('a log without events is not usable', 2, ['holds no events'], "NAME=$name");
unlink "build/runs/$name/page/serial.log";
shows('nor is a run without a log', 2, ['holds no serial.log'], "NAME=$name");
shows('nor a run that there is not', 2, ['there is no run'], 'NAME=test-no-such-run');
shows('a view that is unknown is refused', 2, ["'plots'; there are: summary, request, latency, csv"],
    "NAME=$run->{name}", 'VIEW=plots');

# --- Some kinds, or none ------------------------------------------------------------------------

my $some = run_make('trace-some', 'JOB=jobs/pager.job', 'SIZE=4M', 'POLICY=chunk2', 'BOOT=direct',
    'TRACE=text', 'TRACE_EVENTS=store_write,data_return');
ends_with($some, 0, 'every check passed', 'kinds can be chosen');
my %kinds = map { $_->{kind} => 1 } rows("NAME=$some->{name}");
is_deeply([sort keys %kinds], [qw(data_return disk_read disk_write store_write)], 'no others come');
shows('what was recorded is compared', 0,
    ['^store_write  chunk2 +512 ', 'agree in \d+ numbers; a part of the trace is not there'],
    "NAME=$some->{name}");
refuses('a kind that is unknown is refused', "'disk_write'; there are: op, io, data_request",
    'TRACE=text', 'TRACE_EVENTS=disk_write');
refuses('kinds without a trace are refused', 'nothing is recorded with --trace off',
    'TRACE_EVENTS=op');
my $none = run_make('trace-off', 'JOB=jobs/pager.job', 'SIZE=1M', 'POLICY=run128', 'BOOT=direct');
is(boot_of($none)->{trace}, undef, 'without TRACE nothing is recorded');
shows('and there is nothing to show', 2, ['was the run made with TRACE=text'], "NAME=$none->{name}");

done_testing();
