#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The machines that exist: each boots from each medium, does a small job, and passes its checks; under
# UEFI, which lays out memory in its own way, with little RAM and with more. Those that do not exist
# say why not.
#
# A boot under UEFI takes ten seconds, so `make test` has a third of them, in which each value of each
# variable occurs. `make test-matrix` sets MATRIX=all.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Machbed;
use Test::More;

my $all = ($ENV{MATRIX} // '') eq 'all';
my %values = (
    ARCH => ['i386', 'amd64'],
    MACHINE => ['pc', 'q35'],
    FIRMWARE => ['bios', 'uefi', 'uefi32'],
    DISK => ['ahci', 'ide', 'ram'],
);
my @words = qw(ARCH MACHINE FIRMWARE DISK);

# The disks of each machine that exists.
my %disks = (
    'i386 pc bios' => 'ahci ide ram',
    'i386 pc uefi' => 'ahci ide ram',
    'i386 q35 bios' => 'ahci ram',
    'i386 q35 uefi' => 'ahci ram',
    'i386 q35 uefi32' => 'ahci ram',
    'amd64 pc bios' => 'ram',
    'amd64 pc uefi' => 'ram',
    'amd64 q35 bios' => 'ram',
    'amd64 q35 uefi' => 'ram',
    'amd64 q35 uefi32' => 'ram',
);
my %third = map { $_ => 1 } 'i386 pc bios ide disk', 'i386 q35 bios ahci iso',
    'i386 pc uefi ahci iso 512M', 'i386 q35 uefi ram disk 2G', 'i386 q35 uefi32 ahci disk 2G',
    'amd64 pc uefi ram disk 2G', 'amd64 q35 uefi32 ram iso 512M';

sub exists_machine
{
    my ($arch, $machine, $firmware, $disk) = @_;

    return scalar grep { $_ eq $disk } split / /, $disks{"$arch $machine $firmware"} // '';
}

# Why a machine does not exist.
sub reason
{
    my ($arch, $machine, $firmware, $disk) = @_;

    return 'no disk driver; use DISK=ram' if $arch eq 'amd64' && $disk ne 'ram';
    return 'system management mode.*MACHINE=q35' if $machine eq 'pc' && $firmware eq 'uefi32';
    return 'no IDE controller; use DISK=ahci' if $machine eq 'q35' && $disk eq 'ide';
    return 'no reason is known';
}

sub boots
{
    my ($what, @variables) = @_;
    my $run = run_make($what =~ s/ /-/gr, 'SIZE=1M', 'POLICY=run128', @variables);
    my %expected =
        map { lc(s/=.*//r) => s/.*=//r } grep { !/^(MEM|TRACE|VARIANT)=/ } @variables;
    my $machine = $run->{result}{machine} // {};
    my @checks = ('content', 'fsck', 'unmount', $expected{disk} eq 'ram' ? () : 'disk_agrees');

    ends_with($run, 0, '1 boot, every check passed', "$what boots and does its job");
    is_deeply(boot_of($run)->{checks},
        { map { $_ => 'ok' } @checks }, "$what: with all checks");
    is_deeply({ map { $_ => $machine->{$_} } keys %expected }, \%expected,
        "$what: result.json says so");
    return $run;
}

# 64-bit UEFI puts the memory by which CTF comes where a 32-bit task cannot see it.
sub boots_with_ctf
{
    my ($what, @variables) = @_;
    my $run = boots($what, @variables, 'TRACE=ctf');
    my @files = grep { -s } glob "$run->{folder}/ctf/ext2-*";

    cmp_ok(scalar @files, '>', 0, "$what: packets of CTF come");
}

sub boots_with_memory
{
    my ($what, $firmware, @variables) = @_;
    my @sizes = $firmware eq 'bios' ? ('') : ('512M', '2G');

    for my $size (@sizes) {
        my $name = join ' ', $what, $size || ();
        my @given = (@variables, $size ? "MEM=$size" : ());

        next if !$all && !$third{$name};
        $firmware eq 'uefi' ? boots_with_ctf($name, @given) : boots($name, @given);
    }
}

# Says why not, makes nothing, and does not count as a failure.
sub is_skipped
{
    my ($what, $says, @variables) = @_;
    my $run = run_make('skipped', 'SIZE=1M', 'POLICY=run128', @variables);

    ok($run->{last} =~ /^machbed: status 77: \Q@variables\E.*: .*$says/, "$what says why not")
        or diag_run($run, "machbed: status 77: @variables...: ... $says");
    is($run->{exit}, 0, "$what: make does not fail");
    ok(!-e $run->{folder}, "$what: nothing is left");
}

sub machine_check
{
    my @machine = @_;
    my @variables = map { "$words[$_]=$machine[$_]" } 0 .. $#words;

    if (!exists_machine(@machine)) {
        is_skipped("@machine", reason(@machine), @variables);
        return;
    }
    boots_with_memory("@machine $_", $machine[2], @variables, "MEDIUM=$_") for 'iso', 'disk';
}

# All ways to take one value of each of the WORDS.
sub product
{
    my ($word, @rest) = @_;

    return [] unless defined $word;
    return map { my $value = $_; map { [$value, @$_] } product(@rest) } @{ $values{$word} };
}

my @machines = product(@words);
my $list = `make --no-print-directory list`;
my @listed = map { [/^  (\S+) +(pc|q35) +(\S+) +(\S+) +grub/] } grep { /^  \S+ +(pc|q35) / } split /\n/, $list;
is_deeply([sort map { "@$_" } @listed], [sort map { "@$_" } grep { exists_machine(@$_) } @machines],
    'make list shows the machines that exist');

machine_check(@$_) for @machines;

# The other kernels of the package.
if ($all) {
    boots('PAE', 'VARIANT=pae', 'DISK=ahci', 'BOOT=direct');
    boots('SMP', 'VARIANT=smp', 'DISK=ram');
}
is_skipped('direct boot under UEFI', 'no multiboot kernel; use BOOT=grub', 'ARCH=i386', 'MACHINE=pc',
    'FIRMWARE=uefi', 'DISK=ahci', 'BOOT=direct');

done_testing();
