#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Bad input to `make run`: one clear error, status 2, and nothing left behind. What the runner says
# to its own options is in 00-runner.t, what the front door says to words that it does not know in
# 01-setup.t.
use strict;
use warnings;
use File::Basename;
use FindBin;
use IO::Socket::UNIX;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

# A job file with TEXT.
sub job
{
    my ($name, $text) = @_;

    return 'JOB=' . write_file(scratch() . "/$name.job", $text);
}

# Variables of make reach the runner as they are.
refuses('an unknown POLICY is refused', "--policy: unknown value 'fast'; there are: page, chunk2, ",
    'POLICY=page,fast');
refuses('an unknown DISK is refused', "--disk: unknown value 'a scsi'; there are: ahci, ide",
    'DISK=a scsi');
refuses('a value that the shell would run is refused', "--disk: unknown value '`id` 'x \\\$HOME'; ",
    'DISK=`id` \'x $$HOME');
refuses('an unknown BOOT is refused', "--boot: unknown value 'usb'; there are: grub, direct",
    'BOOT=usb');
refuses('an unknown ACCEL is refused', "--accel: unknown value 'xen'; there are: tcg, kvm",
    'ACCEL=xen');
refuses('an unknown MACHINE is refused', "--machine: unknown value 'vax'; there are: pc, q35",
    'MACHINE=vax');
refuses('an unknown FIRMWARE is refused', "--firmware: unknown value 'efi'; .*: bios, uefi, uefi32",
    'FIRMWARE=efi');
refuses('an unknown MEDIUM is refused', "--medium: unknown value 'usb'; there are: iso, disk",
    'MEDIUM=usb');
refuses('a KEEP that is neither yes nor no is refused', "--keep: unknown value 'yes'; .*: 0, 1",
    'KEEP=yes');
refuses('an empty POLICY is refused', "--policy: unknown value ''; there are: page", 'POLICY=');
refuses('an empty JOB is refused', '--job: the value is empty', 'JOB=');

# Sizes and numbers.
refuses('a negative SIZE is refused', "--size: '-1' is not a size", 'SIZE=-1');
refuses('a SIZE with a fraction is refused', "--size: '1.5M' is not a size", 'SIZE=1.5M');
refuses('memory that is too small to boot is refused', '--mem: 16M is not .* from 32M to 4G',
    'MEM=16M');
refuses('memory beyond what the machine takes is refused', '--mem: 8G is not .* from 32M to 4G',
    'MEM=8G');
refuses('memory that is no number of MiB is refused', '--mem: .* is not a number of MiB',
    'MEM=1000000000');
refuses('a disk beyond what an MBR can say is refused', '--disk-size: .* is not .* to 2097151M',
    'DISK_SIZE=2048G');
refuses('no time at all is refused', "--timeout: '0' is not a number above zero", 'TIMEOUT=0');
refuses('a SEED that is no number is refused', "--seed: 'x' is not a number", 'SEED=x');

# Jobs.
refuses('a job that is not there is refused', 'job jobs/none.job cannot be read: No such file',
    'JOB=jobs/none.job');
refuses('a job that is a folder is refused', 'jobs cannot be read: Is a directory', 'JOB=jobs');
refuses('an unknown key is refused with its file and line',
    "/key.job:4: unknown key 'fsync'; there are: fs, rw, ioengine, bs, size",
    job('key', "# a comment\n[x]\nsize=1m\nfsync=1\n"));
refuses('an unknown fault is refused with those that exist',
    "/fault.job:3: unknown value 'trip' of 'fault'; there are: none, crash, .*, claim",
    job('fault', "[x]\nsize=1m\nfault=trip\n"));
refuses('a key that stands twice is refused with both lines',
    "/twice.job:3: 'size' again; it stands in line 2 already",
    job('twice', "[x]\nsize=1m\nSIZE=2m\n"));
refuses('a line that says nothing is refused', "/line.job:2: 'size 1m' is neither key=value nor",
    job('line', "[x]\nsize 1m\n"));
refuses('a job without a name is refused', '/empty.job holds no job', job('empty', "\n"));
refuses('a job without a size is refused', "/size.job: 'size' is missing", job('size', "[x]\n"));
refuses('blocks that are no sectors are refused', '/bs.job: bs=3000 is not a multiple of 512',
    job('bs', "[x]\nsize=3m\nbs=3000\n"));
refuses('blocks that are too large are refused', '/large.job: bs=2M is more than 1M',
    job('large', "[x]\nsize=4m\nbs=2m\n"));

refuses('a job larger than its partition is refused with both sizes',
    'is larger than its partition: 268,500,992 bytes, partition 2 has 268,435,456',
    'JOB=jobs/pager.job', 'SIZE=262208K');
refuses('a job larger than the disk is refused with both sizes',
    'is larger than its partition: 2,147,483,648 bytes, partition 2 has 268,435,456',
    'JOB=jobs/pager.job', 'SIZE=2G', 'DISK_SIZE=1G');

my @small = ('JOB=jobs/pager.job', 'POLICY=page', 'BOOT=direct');
my $earlier = run_make('earlier', @small, 'SIZE=1M');
my $refused = run_make('earlier', @small, 'SIZE=2G');
ends_with($earlier, 0, '1 boot', 'a job that fits runs');
is($refused->{result}{status}, 0, 'a job that is refused leaves the earlier run of its name');

# A folder with all programs of PATH but QEMU.
sub path_without_qemu
{
    my $folder = scratch() . '/bin';

    mkdir $folder or die "$folder: $!";
    for my $program (map { glob "$_/*" } split /:/, $ENV{PATH}) {
        symlink $program, "$folder/" . basename($program) if basename($program) !~ /^qemu/;
    }
    return $folder;
}

{
    # On Debian 12, as root, it would be installed.
    local $ENV{MACHBED_OS_RELEASE} = '/dev/null';
    local $ENV{PATH} = path_without_qemu();
    my $run = run_make('no-qemu');

    like($run->{text}, qr/^machbed: .* is missing here: qemu-system-x86 $/m,
        'a missing QEMU is named by its package');
    is($run->{exit}, 2, 'and make fails');
    ok(!-e $run->{folder}, 'and nothing is left');
}

# KVM: what stands at /dev/kvm is replaced for these runs alone.
sub refuses_kvm
{
    my ($name, $says, $device) = @_;
    local @Machbed::before =
        ('unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /dev/kvm && exec "$@"', $device);

    refuses($name, $says, 'ACCEL=kvm');
}

# The host's disk is full: for this run, one of SIZE bytes is mounted at build/runs.
sub finds_no_room
{
    my ($name, $size) = @_;
    local @Machbed::before = ('unshare', '--mount', 'sh', '-c',
        'mount -t tmpfs -o "size=$0" none build/runs && exec "$@"', $size);
    my $run = run_make('full', 'JOB=jobs/pager.job', 'BOOT=direct', 'POLICY=run128', 'SIZE=8M');

    like($run->{last}, qr{^machbed: status 2: nothing more can be written to build/runs/.*/run128: No },
        $name) or diag($run->{text});
    is($run->{exit}, 2, 'and make fails');
}

SKIP: {
    skip 'only root can mount a small disk', 5 if system('unshare', '--mount', 'true') != 0;
    my $start = time;

    finds_no_room('a host without room for the disk is named', '3m');
    cmp_ok(time - $start, '<', 100, 'and not waited for');
    finds_no_room('so is one without room for anything', '8k');
}

SKIP: {
    skip 'there is no /dev/kvm that could be replaced', 2 if !-e '/dev/kvm';
    skip 'only root can replace /dev/kvm', 2 if system('unshare', '--mount', 'true') != 0;
    my $socket = scratch() . '/socket';
    my $listener = IO::Socket::UNIX->new(Local => $socket, Listen => 1) or die "$socket: $!";

    refuses_kvm('a KVM that cannot be opened is refused with the reason',
        'KVM is not usable: /dev/kvm: No such device or address; use ACCEL=tcg', $socket);
    refuses_kvm('a device that is no KVM is refused',
        'KVM is not usable: /dev/kvm does not answer as KVM does; use ACCEL=tcg', '/dev/null');
}

SKIP: {
    skip 'there is no KVM to try', 1 if !-w '/dev/kvm';
    my $run = run_make('kvm', 'JOB=jobs/pager.job', 'ACCEL=kvm', 'SIZE=1M', 'POLICY=run128');

    if (boot_of($run)->{layers}{data_return}) {
        ends_with($run, 0, '1 boot, every check passed', 'KVM works');
    } else {
        ends_with($run, 2, 'KVM gives no sign of life: .*; use ACCEL=tcg',
            'a KVM that gives no sign of life is not waited for');
    }
}

done_testing();
