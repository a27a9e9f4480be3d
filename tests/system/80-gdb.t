#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gdb on the servers: `make gdb` and `make gdb-attach` with a session's commands on their input, as
# docs/debugging.md shows them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Digest::SHA qw(sha256_hex);
use IO::Handle;
use Machbed;
use POSIX qw(mkfifo);
use Test::More;

my @quick = ('BOOT=direct', 'SIZE=1M');
my $jobs = 'tests/system/jobs';
my $inputs = 0;

# A file with COMMANDS, one a line. Each is printed before what it says.
sub input
{
    return write_file(scratch() . '/input-' . ++$inputs,
        join '', map { "echo \\n>>> $_\\n\n$_\n" } @_);
}

# Starts `make gdb`, and gives it COMMANDS.
sub start_gdb
{
    my ($word, $commands, @arguments) = @_;

    return start_target('gdb', $word, input(@$commands), @arguments);
}

sub gdb
{
    return wait_make(start_gdb(@_));
}

# What the session of RUN said to COMMAND, the first time.
sub said
{
    my ($run, $command) = @_;
    my ($said) = grep { s/^\Q$command\E\n// } split /^>>> /m, $run->{text} =~ s/\(gdb\) //gr;

    return $said // '';
}

sub says
{
    my ($run, $command, $what, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    like(said($run, $command), qr/^$what$/m, $name) or diag_run($run, "after '$command': $what");
}

sub console_of
{
    return read_file("$_[0]{folder}/serial.log") =~ s/\r//gr;
}

# The processes below RUN whose name begins with NAME.
sub pids_of
{
    my ($run, $name) = @_;
    my %children = children_of($run->{pid});

    return grep { $children{$_} =~ /^$name/ } keys %children;
}

sub all_gone
{
    my ($name, @pids) = @_;

    ok(@pids && wait_for(sub { !grep { is_running($_) } @pids }), $name) or diag("@pids");
}

# --- A data_return in the pager server

my $run = gdb('pager', ['p offset', 'p dataCnt', 'machbed server', 'machbed here',
    'machbed events 6', 'delete', 'break store_write', 'continue', 'frame function pager_worker',
    'machbed here', 'machbed pagemap', 'machbed pagemap 7', 'machbed threads workload',
    'machbed nonsense', 'delete', 'continue'], 'SERVER=pager', @quick, 'TRACE=text');
ends_with($run, 0, '1 boot, every check passed', 'a run goes on to success from its breakpoints');
like($run->{text}, qr/^Breakpoint 1, S_memory_object_data_return \(/m,
    'a session begins where pages come back');
says($run, 'p offset', '\$1 = 0', 'the first message begins at the start of the object');
says($run, 'p dataCnt', '\$2 = 131072', 'it holds 32 pages');
says($run, 'machbed server', 'pager is current; the processor executes pager/pager/\d+, in ' .
    'S_memory_object_data_return\+\w+ of pager', 'the current server is named');
my $here = said($run, 'machbed here');
like($here, qr/^memory_object_data_return: 131072 bytes \(32 pages\) at 0, dirty\b.*$/m,
    'the message at hand is said');
like($here, qr/^object 1 of pager, file, port \d+: map of 256 pages; .* returns 0 received/m,
    'and the pager that it is for');
like($here, qr/^bare object 1: 1048576 bytes from sector 0 of the partition$/m, 'and its object');
my @events = said($run, 'machbed events 6') =~ /^(event .*)$/mg;
my $console = console_of($run);
is(scalar @events, 6, 'as many events are shown as were asked for');
is(scalar(grep { index($console, "\n$_\n") >= 0 } @events), 6,
    'events are shown as the server itself prints them later');
like($run->{text}, qr/^Breakpoint 2\.\d+, store_write \(.*sector=0,.*bytes=131072/ms,
    'the policy run128 makes one store_write of the message');
says($run, 'machbed pagemap', 'object 1 of pager, file, port \d+: 256 pages, 0 of them stale\n' .
    ' +pages 0 to (31|63|95|127|159|191|223|255): [a-z ]+, pending 1(\n +pages \d+ to 255: [a-z]+)?',
    'the map shows which pages are on their way to the store');
says($run, 'machbed pagemap 7', 'pager has no such object; there are: 1',
    'an object that is not there is refused');
says($run, 'machbed threads workload', 'workload/main: waits for the answer to object_sync\n' .
    ' +mach_msg\n +object_sync\+0x\w+ .*\n(.*\n)* +job_run\+0x\w+ .*',
    'a thread of a server that is not current has its stack');
says($run, 'machbed nonsense', 'there is no `machbed nonsense`; `help machbed` says .*', 'a misspelt word is an error');

# --- In the ext2 server, and not in the other one

$run = gdb('ext2', ['break S_memory_object_data_return', 'delete 1', 'continue', 'machbed here',
    'info breakpoints', 'delete', 'continue'], 'SERVER=ext2', 'DISK=ide', 'SIZE=1M', 'POLICY=merge');
ends_with($run, 0, '1 boot, every check passed', 'a session goes through GRUB, and on the IDE disk');
my ($listed) = said($run, 'info breakpoints');
like($listed, qr/^2\.\d +y +0x2\w+ in S_memory_object_data_return.*\n(?!2\.\d)?/m,
    'both servers have the function');
is(() = $listed =~ /^2\.\d /mg, 2, 'one each');
is(() = $run->{text} =~ /^Breakpoint 2\.\d, .*\n/mg, 1, 'and a breakpoint in both is hit once');
says($run, 'machbed here', 'object \d+ of ext2, (file|meta), .*', 'in the one that runs');

# --- Locks, and what the system itself says of them

$run = gdb('locks', ['machbed locks', 'machbed threads pager', 'continue'], 'SERVER=startup',
    'BREAK=hang_report', "JOB=$jobs/fault-deadlock.job", @quick, 'WATCHDOG=3');
ends_with($run, 10, 'nothing got done for 3 s: a deadlock: .*', 'a deadlock ends as it does without gdb');
my $told = said($run, 'machbed locks') . said($run, 'machbed threads pager');
for my $line (console_of($run) =~ /^startup: hang: (pager\S+: holds .*)$/mg) {
    ok(index($told, "$line\n") >= 0, "the helpers find what the report says: $line") or diag($told);
}
for my $line (console_of($run) =~ /^startup: hang: (pager\S+: waits for the lock .*), for [\d.]+ s$/mg) {
    is(() = $told =~ /^ *\Q$line\E(;.*)?$/mg, 2, "both helpers find what the report says: $line");
}
my ($handler) = console_of($run) =~ /^startup: hang: (\S+): handles object_sync, /m;
like($told, qr/^\Q$handler\E: .*; handles object_sync$/m, 'and who handles what');
my ($callers) = console_of($run) =~ /^startup: hang: \Q$handler\E: at mach_msg_trap\S+ < (.*)$/m;
my ($stack) = $told =~ /^\Q$handler\E: .*; handles object_sync\n +mach_msg\n((?: +.*\n)*)/m;
like(join(' < ', map { (split)[0] } split /\n/, $stack // ''), qr/^\Q$callers\E/,
    'the stack of a thread that waits is the one of the report');

# --- A QEMU that is not there yet when gdb is

# make gdb with COMMANDS, where QEMU is this line of sh.
sub gdb_with_qemu
{
    my ($line, @commands) = @_;
    my $folder = scratch() . '/qemu-' . ++$inputs;

    mkdir $folder or die "$folder: $!";
    write_file("$folder/qemu-system-i386", "#!/bin/sh\nPATH=\${PATH#*:}\n$line\n");
    chmod 0755, "$folder/qemu-system-i386";
    local $ENV{PATH} = "$folder:$ENV{PATH}";
    return gdb('odd', \@commands, 'SERVER=pager', @quick);
}

$run = gdb_with_qemu('sleep 4; exec qemu-system-i386 "$@"', 'delete', 'continue');
ends_with($run, 0, '1 boot, every check passed', 'gdb waits for a QEMU that is slow to start');
$run = gdb_with_qemu('exec qemu-system-i386 "$@" -device nonsense', 'p 1 + 1');
ends_with($run, 2, "QEMU did not start: .*'nonsense' is not a valid device", 'it does not come at all for one that does not start');
unlike($run->{text}, qr/>>>/, 'not for a moment');

# --- However gdb ends

$run = start_gdb('killed', ['shell sleep 1000'], 'SERVER=pager', @quick);
# Until gdb has started what it is told to: a gdb that is killed does not end that.
ok(wait_for(sub { pids_of($run, 'sleep') }), 'a session waits');
my @pids = (pids_of($run, 'qemu-system'), pids_of($run, 'gdb'), pids_of($run, 'sleep'));
kill 'KILL', pids_of($run, 'gdb'), pids_of($run, 'sleep');
ends_with(wait_make($run), 77, 'the debugger was killed by signal 9', 'a gdb that is killed is named');
all_gone('it leaves neither QEMU nor what it started', @pids);

$run = gdb('left', ['quit'], 'SERVER=pager', @quick);
ends_with($run, 77, 'the debugger was left before the job was done', 'quit ends the machine');

$run = gdb('detached', ['detach'], 'SERVER=pager', @quick);
ends_with($run, 0, '1 boot, every check passed', 'detach lets the run finish');

# A terminal of its own, which closes when `script` is gone.
my ($keys, $typed, $closed) = (scratch() . '/keys', scratch() . '/typed', Machbed::run_name('closed'));
mkfifo($keys, 0600) or die "$keys: $!";
open my $keyboard, '+<', $keys or die "$keys: $!";
$keyboard->autoflush(1);
my $script = Machbed::start_program($keys, '/dev/null', 'script', '-qfc', "make --no-print-directory " .
    "gdb NAME=$closed SERVER=workload BREAK=workload_hang JOB=$jobs/fault-hang.job @quick", $typed);
ok(wait_for(sub { read_file($typed) =~ /^Breakpoint 1, .*\(gdb\) $/ms }), 'a session in a terminal');
print $keyboard "continue\n";
wait_for(sub { console_of({ folder => "build/runs/$closed/run128" }) =~ /hangs on purpose/ });
print $keyboard "\cC";
ok(wait_for(sub { read_file($typed) =~ /^Program received signal SIGINT/m }), 'Ctrl-C stops the machine');
my %below = children_of($script);
ok(3 == grep({ $below{$_} =~ /^(make|gdb|qemu-system.*)$/ } keys %below), 'and nothing else')
    or diag(join ' ', %below);
kill 'KILL', $script;
waitpid $script, 0;
all_gone('nothing is left when the terminal is closed', keys %below);

# --- A run that is going on

sub start_hanging
{
    my $hanging = start_make($_[0], "JOB=$jobs/fault-hang.job", 'POLICY=page', @quick, @_[1 .. $#_]);

    wait_for(sub { read_file("$hanging->{folder}/page/serial.log") =~ /hangs on purpose/ })
        or diag('the guest does not hang');
    return $hanging;
}

sub attach
{
    my ($hanging, @commands) = @_;

    return start_target('gdb-attach', $hanging->{name}, input(@commands));
}

# gdb must have come when the watchdog would bark, and the system must hang when the time would be up. Then
# gdb holds it for longer than the watchdog waits, and when that barks the time has long been up.
$run = start_hanging('joined', 'WATCHDOG=16', 'TIMEOUT=32');
my $joined = attach($run, 'machbed threads workload', 'shell sleep 18', 'detach');
wait_make($joined);
says($joined, 'machbed threads workload', 'workload/main: waits for a message on its port \d+\n' .
    ' +mach_msg\n +main\+0x\w+ .*\n(.*\n)*', 'a run that is going on can be joined');
is($joined->{exit}, 0, 'and left');
ends_with(wait_make($run), 10, 'nothing got done for 16 s: workload/main waits for a message on .*',
    'neither the watchdog nor the time limit counts the time in gdb');

$run = start_hanging('abandoned', 'WATCHDOG=0');
@pids = pids_of($run, 'qemu-system');
$joined = attach($run, 'shell sleep 1000');
wait_for(sub { pids_of($joined, 'sleep') }) or diag('gdb does not come');
is((wait_make(attach($run)))->{last}, "machbed: status 2: $run->{folder}/page: another debugger has " .
    'joined this run', 'there is one debugger at a time');
@pids = (@pids, pids_of($joined, 'gdb'), pids_of($joined, 'sleep'));
kill 'KILL', @pids[1 .. $#pids];
wait_make($joined);
ends_with(wait_make($run), 10, 'a debugger had joined; it is gone, and has left the machine standing ' .
    'still', 'a debugger that is killed does not leave its machine behind');
all_gone('no QEMU is left', @pids);

# --- A kernel with symbols

$run = gdb('kernel', ['machbed threads workload', 'delete', 'continue'], 'SERVER=kernel',
    'KERNEL_DEBUG=1', "JOB=jobs/pager.job", @quick);
ends_with($run, 0, '1 boot, every check passed', 'a kernel with symbols runs the job');
like($run->{text}, qr/^Breakpoint 1, memory_object_data_return \(/m,
    'the kernel can be stopped where it sends pages');
is($run->{result}{kernel}{sha256}, sha256_hex(read_file('build/i386/kernels/package-up-dbg/gnumach')),
    'result.json says which kernel it was');
says($run, 'machbed threads workload', 'workload/main: .*\n +mach_msg_trap\+\w+ .*\n(.*\n)* +' .
    'job_run\+0x\w+ .*', 'it knows where threads are that do not run');

# --- What does not fit

sub refuses_gdb
{
    my ($name, $line, @arguments) = @_;
    my $refused = gdb('refused', ['quit'], @quick, @arguments);

    ok($refused->{text} =~ /^machbed: status 2: $line$/m, $name) or
        diag_run($refused, "machbed: status 2: $line");
    is($refused->{exit}, 2, "$name: make fails");
}

refuses_gdb('a function that is not there is refused', "BREAK='pager_sink': there is no such function " .
    'or line in pager', 'BREAK=pager_sink');
refuses_gdb('a server that there is not is refused', "SERVER: unknown server 'pagre'; there are: " .
    'startup, pager, ext2, workload, kernel', 'SERVER=pagre');
refuses_gdb('a server that the job does not start is refused', 'SERVER=ext2: the job pager starts ' .
    'startup pager workload', 'SERVER=ext2', 'JOB=jobs/pager.job');
refuses_gdb('a kernel without symbols has no place to stop', 'SERVER=kernel: this kernel has no ' .
    'symbols; KERNEL_DEBUG=1 takes one that has', 'SERVER=kernel');
refuses_gdb('64-bit firmware for a 32-bit system is refused', '64-bit firmware needs a 64-bit QEMU, ' .
    'through which gdb reads 32-bit programs wrongly: take FIRMWARE=bios or uefi32', 'BOOT=grub',
    'FIRMWARE=uefi');
refuses_gdb('there is one policy at a time', '--policy: with a debugger there is one, not 2',
    'POLICY=page,merge');
$run = wait_make(start_target('gdb-attach', 'nobody', '/dev/null'));
like($run->{last}, qr/^machbed: status 2: no run named test-\d+-nobody is going on in build\/runs$/,
    'there must be a run to join');
isnt($run->{exit}, 0, 'else make fails');

done_testing;
