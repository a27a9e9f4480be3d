#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The views of `make trace` that make files, of a real run: they hold as many requests of each layer
# as result.json counts.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Browser;
use Machbed;
use MachbedTrace;
use Cwd qw(abs_path);
use JSON::PP;
use Test::More;

my @policies = qw(page run128);

my $run = run_make('views', 'JOB=jobs/default.job', 'SIZE=4M', 'POLICY=' . join(',', @policies),
    'BOOT=direct', 'TRACE=both');
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

# Whether asynchronous events of one number and category, which share a row, follow each other.
sub follows
{
    my ($events) = @_;
    my %rows;

    for my $event (map { @$_ } map { values %{ $events->{$_} } } qw(b e)) {
        push @{ $rows{"$event->{pid} $event->{cat} $event->{id}"} }, $event;
    }
    for my $row (values %rows) {
        my @begins = sort { $a <=> $b } map { $_->{ts} } grep { $_->{ph} eq 'b' } @$row;
        my @ends = sort { $a <=> $b } map { $_->{ts} } grep { $_->{ph} eq 'e' } @$row;

        return 0 if @begins != @ends || grep { $begins[$_] < $ends[$_ - 1] } 1 .. $#begins;
    }
    return 1;
}

my ($status, $text) = trace("NAME=$run->{name}", 'VIEW=perfetto');
is($status, 0, 'perfetto has something to show') or diag($text);
for my $policy (@policies) {
    my $events = events_of($policy);
    my $layers = boot_of($run, $policy)->{layers};
    my %flows = map { $_ => scalar @{ $events->{$_}{write} } } qw(s t f);
    my $free = $events->{C}{'free pages'} // [];

    like($text, qr/^\Q$run->{folder}\E\/$policy\/perfetto\.json: [\d,]+ events, /m,
        "$policy: its file is named");
    is(scalar @{ $events->{X}{$_} }, $layers->{$_}{count}, "$policy: every $_ is a slice")
        for qw(store_write disk_write);
    is(scalar @{ $events->{b}{$_} }, $layers->{$_}{count}, "$policy: every $_ is asynchronous")
        for qw(data_return data_request);
    is(scalar @{ $events->{X}{io_write} }, 64, "$policy: so many writes there were");
    ok(nests($events), "$policy: slices of a track nest");
    ok(follows($events), "$policy: asynchronous events of a row follow each other");
    is($flows{s}, $flows{f}, "$policy: every flow that begins ends");
    is($flows{t}, 2 * $flows{s}, "$policy: and leads through a run and a store_write");
    # 4 MiB of file data, in commands that each are of one write, and of page's one page.
    is($flows{s}, $policy eq 'page' ? 1024 : 128, "$policy: to each command that carries file data");
    cmp_ok(scalar @$free, '>=', 2, "$policy: free pages were sampled");
    ok(!(grep { $_->{args}{value} <= 0 || $_->{args}{value} > 512 << 8 } @$free),
        "$policy: and are a part of the machine's");
}

# --- Pictures -----------------------------------------------------------------------------------

# The numbers at the end of the lines of a block of the script.
sub block
{
    my ($script, $name) = @_;
    my ($lines) = $script =~ /^\$\Q$name\E << END\n(.*?)^END$/ms;

    return map { / (\d+)$/ } split /\n/, $lines // '';
}

($status, $text) = trace("NAME=$run->{name}", 'VIEW=plot');
is($status, 0, 'plot has something to show') or diag($text);
like($text, qr/^\Q$run->{folder}\E\/plots: sizes, latency, offset-page, offset-run128, each as/m,
    'its files are named');
for my $name (qw(sizes latency offset-page offset-run128)) {
    my ($png, $svg) = map { read_file("$run->{folder}/plots/$name.$_") } qw(png svg);

    like($png, qr/^\x89PNG\r\n\x1a\n/, "$name.png is a picture");
    like($svg, qr/^<\?xml.*<\/svg>\s*$/s, "$name.svg is one, too, and whole");
    cmp_ok(length $_, '<', 500_000, "$name: its size is sane") for $png, $svg;
}
my $script = read_file("$run->{folder}/plots/plots.gnuplot");
for my $policy (@policies) {
    my $layers = boot_of($run, $policy)->{layers};

    for my $kind (qw(data_return store_write disk_write)) {
        my $sum = 0;

        $sum += $_ for block($script, "${kind}_$policy");
        is($sum, $layers->{$kind}{count}, "$policy: the points stand for every $kind");
    }
}

# --- The page -----------------------------------------------------------------------------------

# The rows of VIEW=csv of the policy, as hashes.
sub rows
{
    my ($policy) = @_;
    my ($exit, $csv) = trace('VIEW=csv', "NAME=$run->{name}", "POLICY=$policy");
    my ($head, @lines) = split /\n/, $csv;
    my @columns = split /,/, $head;

    return map { my %row; @row{@columns} = split /,/, $_, -1; \%row } @lines;
}

# The page's table of the selected request, by kind: the requests' numbers.
sub way
{
    my ($browser) = @_;
    my %way;

    push @{ $way{$_->[0]} }, $_->[1] for @{ $browser->value(
        '[...document.querySelectorAll("#way tbody tr")].map(row => [row.dataset.kind, row.dataset.request])') };
    return \%way;
}

# Where in the window the event of KIND with the number REQUEST is drawn: its middle.
sub place_of
{
    my ($browser, $kind, $request) = @_;

    return @{ $browser->value(<<"END") };
        (() => {
            const {line} = machbed;
            const event = line.boot.req.findIndex((number, at) =>
                number === $request && line.boot.kindName(at) === '$kind');
            line.canvas.scrollIntoView({block: 'center'});
            const rect = line.rectOf(event);
            const canvas = line.canvas.getBoundingClientRect();
            return [canvas.x + rect.x + rect.width / 2, canvas.y + rect.y + rect.height / 2];
        })()
END
}

sub is_dark
{
    my ($browser) = @_;

    return $browser->value('getComputedStyle(document.body).backgroundColor') !~ /255, 255, 255/;
}

# Whether nothing sticks out of a window that is WIDTH wide, and the canvas is as sharp as it is large.
sub fits
{
    my ($browser, $width, $dark) = @_;

    $browser->look($width, 900, $dark);
    return $browser->value('document.documentElement.scrollWidth') <= $width &&
        $browser->value('machbed.line.canvas.width === machbed.line.canvas.clientWidth') &&
        is_dark($browser) == $dark;
}

my $page = "$run->{folder}/trace.html";
($status, $text) = trace("NAME=$run->{name}", 'VIEW=html');
is($status, 0, 'html has something to show') or diag($text);
like($text, qr/^\Q$page\E: 2 policies, [\d,]+ events, [\d.]+ MB; open it in a browser$/m,
    'its file is named');

my $browser = Browser->new(1400, 900);
$browser->look(1400, 900, 0);
$browser->load(abs_path($page));
is_deeply([$browser->errors], [], 'a browser opens the page without a complaint');
is($browser->value('document.title'), "Machbed: $run->{name}", 'it has the name of the run');
for my $policy (@policies) {
    my $layers = boot_of($run, $policy)->{layers};

    for my $kind (qw(data_request data_return store_write disk_write)) {
        my $number = $browser->value(
            "machbed.boots.find(boot => boot.name === '$policy').kind.filter(kind => " .
            "given.kinds[kind].name === '$kind').length");

        is($number, $layers->{$kind}{count}, "$policy: the page has every $kind");
    }
}
my %cells = map { shift @$_ => $_ } @{ $browser->value(
    '[...document.querySelectorAll("#summary tbody tr")].map(row => [...row.cells].map(cell => ' .
    'cell.textContent.trim())).map(([layer, server, ...cells]) => [`${layer}, ${server}`, ...cells])') };
is_deeply($cells{'disk_write, ext2'}, [map { my $layer = boot_of($run, $_)->{layers}{disk_write};
        map { commas($_) } $layer->{count}, $layer->{avg}, $layer->{max} } @policies],
    'policies stand side by side, with what result.json says');
is($cells{'disk_read, ext2'}[0] + $cells{"disk_read, the kernel"}[0],
    boot_of($run, 'page')->{layers}{disk_read}{count}, 'the kernel\'s own commands are counted, too');

# The second policy is chosen, and a write is searched for, shown close up, and clicked.
my @events = rows('run128');
my ($write) = grep { $_->{what} eq 'io_write' && $_->{off} == 1 << 20 } @events;
my ($op) = grep { $_->{kind} eq 'op' && $_->{off} == 1 << 20 } @events;
my ($return) = grep { $_->{kind} eq 'data_return' && $_->{obj} == $write->{obj} &&
        $_->{off} == 1 << 20 && $_->{t} > $write->{t} } @events;
my ($built) = grep { $_->{kind} eq 'run' && $_->{by} == $return->{req} } @events;
my ($store) = grep { $_->{kind} eq 'store_write' && $_->{by} == $built->{req} } @events;
$browser->value('document.querySelector("#policies input[value=run128]").click()');
is($browser->value('machbed.line.boot.name'), 'run128', 'another policy can be chosen');
$browser->value(<<"END");
    document.getElementById('find-server').value = 'ext2';
    document.getElementById('find-number').value = '$write->{req}';
    document.querySelector('#find button').click();
    document.querySelector('[data-do=selected]').click();
    machbed.line.select(-1);
END
is_deeply(way($browser), {}, 'nothing is selected');
$browser->click(place_of($browser, 'io', $write->{req}));
my $way = way($browser);
is_deeply([map { $way->{$_} } qw(op io data_return run store_write)],
    [[$op->{req}], [$write->{req}], [$return->{req}], [$built->{req}], [$store->{req}]],
    'a click on a write shows what it was done for and what was done for it');
is(scalar @{ $way->{disk_write} // [] }, 4, 'down to the four commands of its store_write');
is($browser->value('document.querySelector("#way tr.chosen").dataset.request'), $write->{req},
    'it is marked itself');
like($browser->value('document.getElementById("way-said").textContent'),
    qr/^io_write $write->{req}: \d+ requests in all layers/, 'and named for those who hear the page');

# By keyboard: the next on its track, which may be a lock within it; nothing; back to the write.
$browser->value('machbed.line.canvas.focus()');
$browser->key('n');
my $next = $browser->value('document.querySelector("#way tr.chosen").dataset.request');
isnt($next, $write->{req}, 'n selects the next one');
$browser->key('p');
is($browser->value('document.querySelector("#way tr.chosen").dataset.request'), $write->{req},
    'p the one before');
$browser->key('Escape');
is_deeply(way($browser), {}, 'Escape none');
my @span = @{ $browser->value('[machbed.line.from, machbed.line.to]') };
$browser->key('+');
my @zoomed = @{ $browser->value('[machbed.line.from, machbed.line.to]') };
cmp_ok(abs(($zoomed[1] - $zoomed[0]) / ($span[1] - $span[0]) - 0.5), '<', 0.001,
    '+ shows half of the time');
$browser->key('0');
cmp_ok($browser->value('(machbed.line.to - machbed.line.from) / machbed.line.span'), '>', 1,
    '0 shows the whole run');
# The first of the disk's commands, which have no number of their own; or one of the same pixel.
$browser->click(place_of($browser, 'disk_write', 0));
is($browser->value('document.querySelector("#way tr.chosen").dataset.kind'), 'disk_write',
    'small requests can be clicked in a view of the whole run');

ok(fits($browser, $_->[0], $_->[1]), "it fits a window of $_->[0] pixels" . ($_->[1] ? ', dark' : ''))
    for [1400, 0], [1000, 1], [600, 0], [360, 1];
cmp_ok(length $browser->picture, '>', 50_000, 'a picture of it is not empty');
is_deeply([$browser->errors], [], 'nothing went wrong in the page meanwhile');
$browser->quit;

# --- The other form -----------------------------------------------------------------------------

# The text log says the same as CTF, which is read where there is both.
my @files = map { "$run->{folder}/$_" } 'page/perfetto.json', 'run128/perfetto.json', 'trace.html',
    'plots/plots.gnuplot';
my %of_ctf = map { $_ => read_file($_) } @files;
for my $policy (@policies) {
    rename "$run->{folder}/$policy/ctf", "$run->{folder}/$policy/ctf-moved" or die "ctf: $!";
}
for my $view (qw(perfetto html plot)) {
    ($status, $text) = trace("NAME=$run->{name}", "VIEW=$view");
    is($status, 0, "$view shows a text log") or diag($text);
}
ok(length $of_ctf{$_} && read_file($_) eq $of_ctf{$_}, "$_ is the same as of CTF") for @files;

# --- What is refused ----------------------------------------------------------------------------

($status, $text) = trace("NAME=$run->{name}", 'VIEW=pictures');
ok($status == 2 && $text =~ /^machbed: status 2: --view: unknown value 'pictures'; there are: .*plot$/m,
    'an unknown view is refused with the list') or diag($text);
mkdir "$run->{folder}/page/perfetto.json.unfinished";
($status, $text) = trace("NAME=$run->{name}", 'VIEW=perfetto');
rmdir "$run->{folder}/page/perfetto.json.unfinished";
ok($status == 2 && $text =~ /^machbed: status 2: \S+perfetto\.json\S* cannot be written: /m,
    'a file that cannot be written is one error') or diag($text);

done_testing();
