# SPDX-License-Identifier: GPL-2.0-or-later
#
# A headless Chromium that a test looks at a page with. It is spoken to through a pipe
# (--remote-debugging-pipe): it reads commands of the DevTools protocol from its descriptor 3 and
# writes answers and events to 4, each JSON text ended by a zero byte.
package Browser;
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use MIME::Base64;
use POSIX qw(dup2);

use constant PATIENCE => 240; # seconds for an answer, which takes one at most on a machine that is free

my $program = 'chromium-headless-shell';

# Starts the browser. Its window is WIDTH by HEIGHT pixels.
sub new
{
    my ($class, $width, $height) = @_;
    my $profile = tempdir(CLEANUP => 1);

    pipe(my $commands_end, my $commands) or die "pipe: $!";
    pipe(my $answers, my $answers_end) or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my @ends = (fileno($commands_end), fileno($answers_end));

        # Out of the way first: an end may be 3 or 4 itself.
        my @high = map { POSIX::fcntl($_, 0, 10) // die "fcntl: $!" } ($commands_end, $answers_end);
        dup2($high[0], 3);
        dup2($high[1], 4);
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', "$profile/stderr";
        # In a container there is no sandbox to be had, and /dev/shm is small.
        exec $program, '--remote-debugging-pipe', "--user-data-dir=$profile/profile", '--no-sandbox',
            '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking',
            "--window-size=$width,$height", 'about:blank' or POSIX::_exit(127);
    }
    my $self = bless { pid => $pid, to => $commands, from => $answers, buffer => '', number => 0,
        errors => [], profile => $profile }, $class;
    $self->{to}->autoflush(1);
    $self->attach;
    return $self;
}

# The next message, a hash.
sub receive
{
    my ($self) = @_;

    local $SIG{ALRM} = sub { die "the browser does not answer\n" };
    alarm PATIENCE;
    while (index($self->{buffer}, "\0") < 0) {
        sysread($self->{from}, $self->{buffer}, 1 << 20, length $self->{buffer}) or
            die "the browser has ended: ", do { local (@ARGV, $/) = "$self->{profile}/stderr"; <> };
    }
    alarm 0;
    $self->{buffer} =~ s/^([^\0]*)\0//s;
    return decode_json($1);
}

# What the page says on its console, and what goes wrong in it.
sub note_event
{
    my ($self, $event) = @_;
    my ($method, $params) = @$event{qw(method params)};

    push @{ $self->{errors} }, join ' ', map { $_->{value} // $_->{description} // '' }
        @{ $params->{args} } if $method eq 'Runtime.consoleAPICalled';
    push @{ $self->{errors} }, $params->{exceptionDetails}{exception}{description} //
        $params->{exceptionDetails}{text} if $method eq 'Runtime.exceptionThrown';
    push @{ $self->{errors} }, $params->{entry}{text} if $method eq 'Log.entryAdded';
    $self->{loaded} = 1 if $method eq 'Page.loadEventFired';
}

# Sends a command and returns its result.
sub call
{
    my ($self, $method, %params) = @_;
    my $number = ++$self->{number};

    print { $self->{to} } encode_json({ id => $number, method => $method, params => \%params,
        $self->{session} ? (sessionId => $self->{session}) : () }), "\0";
    while (1) {
        my $message = $self->receive;

        if (($message->{id} // 0) == $number) {
            die "$method: $message->{error}{message}\n" if $message->{error};
            return $message->{result};
        }
        $self->note_event($message) if $message->{method};
    }
}

sub attach
{
    my ($self) = @_;
    my ($page) = grep { $_->{type} eq 'page' } @{ $self->call('Target.getTargets')->{targetInfos} };

    $self->{session} = $self->call('Target.attachToTarget', targetId => $page->{targetId},
        flatten => JSON::PP::true)->{sessionId};
    $self->call($_) for qw(Page.enable Runtime.enable Log.enable);
}

# Loads the file PATH, and waits until it is there.
sub load
{
    my ($self, $path) = @_;

    $self->{loaded} = 0;
    $self->call('Page.navigate', url => "file://$path");
    $self->note_event($self->receive) until $self->{loaded};
    $self->settle;
}

# What the page's SCRIPT comes to: a number, a string, an array, a hash.
sub value
{
    my ($self, $script) = @_;
    my $result = $self->call('Runtime.evaluate', expression => $script, awaitPromise => JSON::PP::true,
        returnByValue => JSON::PP::true);

    die "$script: $result->{exceptionDetails}{exception}{description}\n" if $result->{exceptionDetails};
    return $result->{result}{value};
}

# Waits until what was asked to be drawn is drawn.
sub settle
{
    my ($self) = @_;

    $self->value('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))');
}

# The mouse's TYPE (mousePressed, mouseReleased, mouseMoved, mouseWheel) at a place of the window.
sub mouse
{
    my ($self, $type, $x, $y, %more) = @_;

    $self->call('Input.dispatchMouseEvent', type => $type, x => $x + 0, y => $y + 0, button => 'left',
        clickCount => 1, %more);
}

sub click
{
    my ($self, $x, $y) = @_;

    $self->mouse($_, $x, $y) for qw(mousePressed mouseReleased);
    $self->settle;
}

# Presses a key by its name: `n`, `Escape`.
sub key
{
    my ($self, $key) = @_;
    my %text = length $key == 1 ? (text => $key) : ();

    $self->call('Input.dispatchKeyEvent', type => 'keyDown', key => $key, %text);
    $self->call('Input.dispatchKeyEvent', type => 'keyUp', key => $key);
    $self->settle;
}

# The window's size, and whether the user likes it dark.
sub look
{
    my ($self, $width, $height, $dark) = @_;

    $self->call('Emulation.setDeviceMetricsOverride', width => $width + 0, height => $height + 0,
        deviceScaleFactor => 1, mobile => JSON::PP::false);
    $self->call('Emulation.setEmulatedMedia',
        features => [{ name => 'prefers-color-scheme', value => $dark ? 'dark' : 'light' }]);
    $self->settle;
}

# A picture of the whole page, or of its HEIGHT pixels from Y on, PNG.
sub picture
{
    my ($self, $y, $height) = @_;
    my $width = $self->value('document.documentElement.clientWidth');
    my %clip = (x => 0, y => ($y // 0) + 0, width => $width, scale => 1,
        height => ($height // $self->value('document.documentElement.scrollHeight')) + 0);

    return decode_base64($self->call('Page.captureScreenshot', format => 'png', clip => \%clip,
        captureBeyondViewport => JSON::PP::true)->{data});
}

# What went wrong in the page so far.
sub errors
{
    my ($self) = @_;

    return @{ $self->{errors} };
}

sub quit
{
    my ($self) = @_;
    my $pid = delete $self->{pid} // return;

    eval { $self->call('Browser.close') };
    close $self->{$_} for qw(to from);
    kill 'KILL', $pid if $@;
    waitpid $pid, 0;
}

sub DESTROY
{
    my ($self) = @_;
    local ($?, $@);

    $self->quit;
}

1;
