#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How the runner ends: every status, with a program that plays QEMU and the guest (fake-qemu). Needs
# only build/host/machbed-run; no kernel, no QEMU.
use strict;
use warnings;
use FindBin;
use JSON::PP;
use lib "$FindBin::Bin/lib";
use Machbed qw(end_of is_running read_file scratch wait_for);
use Test::More;

my $here = $FindBin::Bin;
my $top = "$here/../..";
my $runner = $ENV{MACHBED_RUN} // "$top/build/host/machbed-run";
my $scratch = scratch();

sub write_file
{
    my ($name, $text) = @_;

    return Machbed::write_file("$scratch/$name", $text);
}

my $job = write_file('small.job', "[small]\nsize=1m\n");
write_file($_, $_) for qw(kernel boot.iso startup pager workload qemu.cfg);
my @files = ('--build', "$scratch/build", '--iso', "$scratch/boot.iso", '--kernel',
    "$scratch/kernel", '--qemu-cfg', "$scratch/qemu.cfg", '--make-disk', "$here/fake-make-disk");
my @usual = ($runner, @files, '--qemu', "$here/fake-qemu", '--job', $job, '--policy', 'run128');

# Runs the runner, with WRONG for fake-qemu, and returns its status and all that it printed.
sub run
{
    my ($wrong, @arguments) = @_;
    my $pid = open my $out, '-|';

    if ($pid == 0) {
        $ENV{FAKE_QEMU} = $wrong;
        open STDERR, '>&', \*STDOUT;
        exec @usual, @arguments;
    }
    local $/;
    my $text = <$out> // '';
    close $out;
    return ($? >> 8, $text);
}

sub last_line
{
    return (split /\n/, $_[0])[-1] // '';
}

# One ending: what goes wrong, the status, and what the last line must say.
sub ending
{
    my ($name, $wrong, $status, $says, @arguments) = @_;
    my ($got, $text) = run($wrong, @arguments);
    my $ok = $got == $status && last_line($text) =~ /^machbed: status $status: .*$says/;

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok($ok, $name) or diag("command:  FAKE_QEMU='$wrong' @usual @arguments\n",
        "expected: machbed: status $status: ... $says\ngot:      status $got; the end of what was ",
        "printed:\n", end_of($text));
    return $text;
}

sub result
{
    return decode_json(read_file("$scratch/build/runs/$_[0]/result.json"));
}

my $text = ending('a good run ends with 0', '', 0, '1 boot, every check passed');
my $entry = result('small')->{jobs}[0];
is_deeply($entry->{checks}, { content => 'ok', disk_agrees => 'ok' }, 'its checks are ok');
is($entry->{layers}{disk_write}{count}, 32, 'its disk commands are counted, without the CD\'s');
is($entry->{layers}{disk_read}{count}, 0, 'reads before the servers start are not counted');
is($entry->{layers_meta}{disk_write}{count}, 0, 'all of them are file data');
ok(!-e "$scratch/build/runs/small/run128/disk.img", 'its disk is removed');
ok(-e "$scratch/build/runs/small/serial.log", 'its console is reachable from the run\'s folder');
like($text, qr/^disk_write .* 32,768 /m, 'the table shows the disk\'s commands');

ending('KEEP=1 keeps the disk', '', 0, '', '--keep', '1');
ok(-e "$scratch/build/runs/small/disk.img", 'it is where the run says');
ending('a skipped run ends with 77', 'skips', 77, 'nothing to do');
ending('a hang that the guest notices ends with 10', 'notices_hang', 10, 'nothing moved');
ending('a crash ends with 99 and its place', 'crashes', 99,
    'workload crashed in thread main at 0x18000a31 \(fault_crash\+0x11\): bad access');
ending('a reset without a word ends with 12', 'resets', 12, 'nobody said how it went');
ending('a QEMU that dies ends with 12', 'dies', 12, 'QEMU was killed by signal 11');
ending('an end without its line ends with 99', 'no_end', 99, 'never said so');
ending('an end that contradicts its line ends with 99', 'exit_99', 99, 'ended with 99');
ending('a reset after the end line ends with 99', 'exit_0', 99, 'but QEMU exited with 0');
ending('a QEMU that refuses ends with 2', 'refuses', 2, 'did not start: qemu: no such machine');
ending('a server that did not start ends with 99', 'no_start', 99, 'pager never said');
ending('a missing counter ends with 99', 'no_counter', 99, 'store_write counter');
ending('a missing job line ends with 99', 'no_job', 99, 'never printed its job line');
ending('a malformed line ends with 99', 'malformed', 99, "line 12 lacks 'device='");
ending('a check that failed in the guest ends with 99', 'guest_check', 99, 'byte 0 differs');
ending('a claim without a write ends with 99', 'false_claim', 99, 'disk_agrees: sector 1,450,624');
ending('a write that was lost ends with 99', 'lost_write', 99, 'disk_agrees: sector 1,050,688');
ending('a write without a claim ends with 99', 'stray_write', 99, 'no server claims it');
ending('a write that was claimed twice ends with 99', 'claim_twice', 99, 'claimed 2 times');
ending('a write after the end ends with 99', 'late_write', 99, 'after the servers had stopped');
ending('a trace that cannot be read ends with 99', 'trace_garbage', 99, 'something else');
ending('a missing mark ends with 99', 'no_stop_mark', 99, 'marks');
ending('a byte that changed ends with 99', 'flipped_byte', 99, 'content: byte 4,099 ');
ok(-e "$scratch/build/runs/small/run128/disk.img", 'a failed run keeps its disk');
ending('a misplaced sector is recognised', 'misplaced_sector', 99, 'belongs into sector 3');

sub children_are_gone
{
    my ($name) = @_;
    my @pids = split ' ', read_file("$scratch/build/runs/small/run128/pids");

    # The runner waits for the end of the one, not of the other, which it has killed as well.
    ok(@pids == 2 && wait_for(sub { !grep { is_running($_) } @pids }), $name) or diag("of @pids");
}

$text = ending('a panic ends with 12', 'panics', 12, 'panicked: .*unable to recycle any page');
like($text, qr/^  panic /m, 'with the console\'s last lines');
children_are_gone('and nothing is left running');
is(result('small')->{jobs}[0]{status}, 12, 'and result.json says so');
ending('a panic without a line break ends with 12', 'panics_without_line_break', 12, 'panicked');
ending('a kernel assertion ends with 12', 'asserts', 12, 'failed an assertion: .*size != 0');
# It must have begun to hang by then.
ending('the time limit ends with 10', 'hangs', 10, 'no end within 5 seconds', '--timeout', 5);
children_are_gone('and nothing is left running');

ending('events can be recorded', '', 0, '', '--trace', 'text', '--name', 'events');
is_deeply(result('events')->{jobs}[0]{trace}{pager}, { events => 26, dropped => 0,
    drain_us => 4000 }, 'how many is in result.json');
is(result('small')->{jobs}[0]{trace}, undef, 'and null where none were asked for');
like(read_file("$scratch/build/runs/events/run.cfg"), qr/^trace=text\ntrace_events=all\n/m,
    'the guest is told');
ending('kinds of event can be picked', '', 0, '', '--trace', 'text', '--name', 'events',
    '--trace-events', 'STORE_WRITE,op');
like(read_file("$scratch/build/runs/events/run.cfg"), qr/^trace_events=op,store_write\n/m,
    'and the guest is told them by their names');
ending('a server that does not say what it recorded ends with 99', 'no_trace', 99,
    'workload never said what it recorded', '--trace', 'text', '--name', 'events');

$text = ending('the first status of several boots counts', 'skips', 77, 'policy page: nothing',
    '--policy', 'page,chunk2');
is(scalar @{ result('small')->{jobs} }, 2, 'and there is an entry for each');

# The runner's output goes to FILE, opened with MODE.
sub status_with_output
{
    my ($mode, $file) = @_;
    my $pid = fork;

    if ($pid == 0) {
        $ENV{FAKE_QEMU} = '';
        open STDOUT, $mode, $file or die "$file: $!";
        open STDERR, '>', "$scratch/errors";
        exec @usual, '--name', 'unread';
    }
    waitpid $pid, 0;
    return $?;
}

is(status_with_output('>', '/dev/full') >> 8, 2, 'a table that cannot be printed ends with 2');
like(read_file("$scratch/errors"), qr/^machbed: status 2: the standard output cannot be written$/m,
    'and that is said');
is(result('unread')->{status}, 0, 'result.json is written all the same');
is(status_with_output('|-', 'exec <&-; sleep 1') >> 8, 2, 'so does a run whose reader is gone');
is(result('unread')->{status}, 0, 'which has its result.json, too');

# Starts a run that hangs and waits until it does.
sub start_hanging
{
    my $pids = "$scratch/build/runs/small/run128/pids";

    unlink $pids;
    my $pid = fork;
    if ($pid == 0) {
        $ENV{FAKE_QEMU} = 'hangs';
        open STDOUT, '>', "$scratch/hanging.out";
        exec @usual;
    }
    wait_for(sub { -s $pids }) or diag('it does not come to hang');
    return $pid;
}

for my $signal ('INT', 'TERM', 'HUP') {
    my $number = { INT => 2, TERM => 15, HUP => 1 }->{$signal};
    my $pid = start_hanging();

    ending('a second run with the name is refused', '', 2, 'still going on') if $signal eq 'INT';
    kill $signal, $pid;
    waitpid $pid, 0;
    is($? >> 8, 128 + $number, "SIG$signal ends the run with its status");
    children_are_gone("SIG$signal leaves nothing running");
    like(last_line(read_file("$scratch/hanging.out")), qr/ended by signal $number/, 'and says so');
    is(result('small')->{status}, 128 + $number, 'and writes what there is');
}
my $pid = start_hanging();
kill 'KILL', $pid;
waitpid $pid, 0;
my ($qemu, $other) = split ' ', read_file("$scratch/build/runs/small/run128/pids");
ok(wait_for(sub { !is_running($qemu) }), 'a runner that is killed takes QEMU with it');
kill 'KILL', $other;
ending('the next run of that name goes on', '', 0, '');

# Bad input: before anything starts, status 2, and a sentence that names what exists.
sub refusal
{
    my ($name, $says, @arguments) = @_;

    ending($name, '', 2, $says, @arguments);
}

refusal('an unknown policy is refused', "'fast'; there are: page, chunk2, run128", '--policy',
    'page,fast');
refusal('a policy named twice is refused', 'twice', '--policy', 'page,page');
refusal('an unknown disk is refused', "'scsi'; there are: ahci, ide", '--disk', 'scsi');
refusal('an unknown kind of event is refused', "'fault'; there are: op, io,", '--trace', 'text',
    '--trace-events', 'fault');
refusal('an unknown option is refused', "unknown option '--fast'", '--fast', '1');
refusal('an unknown word is refused', "unknown option 'fast'", 'fast');
refusal('a missing value is refused', 'value is missing', '--disk');
refusal('a size of zero is refused', 'is zero', '--size', '0');
refusal('a size with more behind it is refused', 'is not a size', '--size', '1mb');
refusal('a size that overflows is refused', 'too large', '--size', '99999999999999999999');
refusal('a size that is no multiple of a page is refused', 'multiple of the page', '--size', '512');
refusal('a size that is no multiple of bs is refused', 'multiple of bs', '--size', '4k');
refusal('a job larger than its partition is refused', 'larger than its partition', '--size', '257M');
refusal('a disk that is too small is refused', '--disk-size', '--disk-size', '1M');
refusal('a name with a slash is refused', 'no name for a run', '--name', 'a/b');
refusal('a name with a dot in front is refused', 'no name for a run', '--name', '..');
refusal('a job that is not there is refused', 'No such file', '--job', "$scratch/none.job");
refusal('an unknown key is refused with its line', 'small2.job:2: unknown key .sise.; there are: fs',
    '--job', write_file('small2.job', "[x]\nsise=1m\n"));
refusal('an unknown value is refused with its line',
    "small3.job:3: unknown value 'trim' of 'rw'; there are: write, read", '--job',
    write_file('small3.job', "[x]\nsize=1m\nrw=trim\n"));
refusal('values that make no sense together are refused with their line',
    'small4.job:3: rw=read needs fs=ext2', '--job',
    write_file('small4.job', "[x]\nsize=1m\nrw=read\n"));
refusal('a QEMU that is not there is refused', 'QEMU', '--qemu', "$scratch/none");
refusal('a QEMU that is not in PATH is refused', 'QEMU is missing', '--qemu', 'machbed-no-qemu');
refusal('a boot CD that is not there is refused', 'boot CD', '--iso', "$scratch/none");
refusal('a server that is missing is refused', 'the server workload', '--boot', 'direct',
    '--module', "startup=$scratch/startup", '--module', "pager=$scratch/pager");
SKIP: {
    skip '/dev/kvm is usable', 1 if -w '/dev/kvm';
    refusal('KVM is refused where it is not usable', 'KVM is not usable', '--accel', 'kvm');
}

# The command line.
my ($status, $line) = run('', '--dry', '1', '--name', 'dry', '--boot', 'direct', '--disk', 'ide',
    map { ('--module', "$_=$scratch/$_") } qw(startup pager workload));
is($status, 0, 'a dry run ends with 0');
ok(!-e "$scratch/build/runs/dry", 'and makes nothing');
like($line, qr/-append 'console=com0 ide1=noprobe'/, 'it shows the kernel\'s command line');
like($line, qr/-set device\.disk\.bus=ide\.0/, 'and the disk\'s place');
my $startup = quotemeta "$scratch/startup" . ' host=${host-port} dev=${device-port}' .
    ' pager=${pager-task} workload=${workload-task} $(task-create) $(task-resume),';
like($line, qr/-initrd '$startup/, 'and the first server with the ports of the others');
like($line, qr/,\Q$scratch\E\/pager \$\(pager-task=task-create\),/, 'and the others, stopped');
($status, $line) = run('', '--dry', '1');
like($line, qr/-smbios 'type=11,value=console=com0 ide0=noprobe  ide1=noprobe'/,
    'with GRUB the kernel\'s command line goes by SMBIOS');

($status, $line) = run('', '--dry', '1', '--machine', 'q35', '--medium', 'disk', '--boot-disk',
    "$scratch/boot.iso");
like($line, qr/-device virtio-scsi-pci,id=scsi -readconfig .* -machine q35,accel=tcg /,
    'the medium of a q35 has a controller of its own');
like($line, qr/-set drive\.medium\.file=boot\.img .* device\.medium\.driver=scsi-hd /,
    'and can be a hard disk');
refusal('a boot disk that is not there is refused', 'the boot disk .* was not given', '--medium',
    'disk');

for my $disk ('ahci', 'ide') {
    ending("a kernel for several processors has no $disk disk", '', 77, 'has none', '--kernel-variant',
        'smp', '--disk', $disk);
}

($status, $line) = run('', '--list', '--jobs', "$top/jobs");
is($status, 0, 'a list ends with 0');
like($line, qr/^  run128 .*^  ide .*^  direct .*jobs\/pager\.job +pager: .*^  end_fsync /ms,
    'it names policies, disks, ways to boot, jobs and their keys');
like($line, qr/jobs\/unmap\.job .*\n +16 MiB of .*\n +returns page by page .*\n\n/,
    'and says what a job is for, as its file does');

done_testing();
