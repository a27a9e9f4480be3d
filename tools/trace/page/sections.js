// SPDX-License-Identifier: GPL-2.0-or-later
/* The page's other sections: side by side, sizes, offset over time, latency. */
'use strict';

/* The kinds in the order of the layers, by which all tables are sorted. */
function layerOf(row) {
    return given.kinds.findIndex(kind => kind.name === row.kind);
}

/* A command of the disk that nobody asked for is the kernel's own: it reads the partition table. */
function serverOf(row) {
    return row.server === '' ? 'the kernel' : row.server;
}

/* Whether a row's requests have sizes of their own: that of a sync is the file's. */
function hasSizes(row) {
    return !row.waits && row.bytes > 0 && !(row.kind === 'op' && row.what === 'sync');
}

/* As on the time line: an RPC is called by its routine. */
function rowName(row) {
    return row.kind === 'io' ? row.what : `${row.kind} ${row.what}`.trim();
}

function rowKey(row) {
    return `${row.kind} ${row.what} ${row.server} ${row.waits}`;
}

/* All rows of all boots: for each, what it is about, and the boots' rows (or none). */
function rowsAll(boots) {
    const rows = new Map();

    boots.forEach((boot, at) => boot.rows.forEach(row => {
        if (!rows.has(rowKey(row)))
            rows.set(rowKey(row), {...row, of: []});
        rows.get(rowKey(row)).of[at] = row;
    }));
    return [...rows.values()].sort((a, b) =>
        layerOf(a) - layerOf(b) || rowKey(a).localeCompare(rowKey(b)));
}

/* --- Side by side ----------------------------------------------------------------------------- */

function summaryTimes(boots) {
    const times = [['filling', 'fill_us'], ['sync', 'sync_us'], ['both', 'runtime_us']];

    return times.filter(([, key]) => boots.some(boot => boot.job[key] !== undefined)).map(([name, key]) =>
        element('tr', {}, element('th', {scope: 'row'}, name), element('td', {}, ''),
            ...boots.map(boot => element('td', {colspan: 3, class: 'first'},
                boot.job[key] === undefined ? '' : `${(boot.job[key] / 1e6).toFixed(3)} s`))));
}

function summaryCells(row) {
    if (row === undefined)
        return ['', '', ''];
    return [commas(row.requests), commas(row.bytes / row.requests), commas(row.largest)];
}

function summaryShow(boots) {
    const rows = rowsAll(boots).filter(hasSizes);
    const heads = element('tr', {}, element('th', {class: 'word', scope: 'col'}, 'layer'),
        element('th', {class: 'word', scope: 'col'}, 'server'),
        ...boots.flatMap(() => ['count', 'average, B', 'largest, B'].map((head, at) =>
            element('th', {scope: 'col', ...(at === 0 ? {class: 'first'} : {})}, head))));
    const names = element('tr', {}, element('td', {colspan: 2}),
        ...boots.map(boot => element('th', {class: 'group', colspan: 3, scope: 'colgroup'}, boot.name)));

    document.getElementById('summary').replaceChildren(element('thead', {}, names, heads),
        element('tbody', {}, ...rows.map(row => element('tr', {},
            element('th', {scope: 'row'}, rowName(row)),
            element('td', {class: 'word'}, serverOf(row)),
            ...boots.flatMap((boot, at) => summaryCells(row.of[at]).map((cell, column) =>
                element('td', column === 0 ? {class: 'first'} : {}, cell))))), ...summaryTimes(boots)));
}

function notesShow(boots) {
    document.getElementById('notes').replaceChildren(...boots.flatMap(boot =>
        boot.notes.map(note => element('li', {}, `${boot.name}: ${note}`))));
}

/* --- Sizes ------------------------------------------------------------------------------------ */

const sizesWidth = 330;
const sizesHeight = 150;
const sizesLeft = 52;
const sizesBottom = 30;

/* The classes, powers of two, that any row of the boot has. */
function sizesRange(rows) {
    const classes = rows.flatMap(row => Object.keys(row.hist).map(key => Math.log2(Number(key))));

    return [Math.min(...classes), Math.max(...classes)];
}

function sizesMarks(most, y) {
    return marksOf(0, most, 4).filter(Number.isInteger).flatMap(mark => [
        svg('line', {class: 'axis', x1: sizesLeft, x2: sizesWidth, y1: y(mark), y2: y(mark)}),
        svg('text', {x: sizesLeft - 5, y: y(mark) + 4, 'text-anchor': 'end'}, commas(mark))]);
}

/* The bar of the class that begins at SIZE; also the few are to be seen. */
function sizesBar(row, size, x, width, y) {
    const count = row.hist[size] ?? 0;
    const top = Math.min(y(count), y(0) - 1.5);

    if (count === 0)
        return [];
    return [svg('rect', {x: x + 1, y: top, width: width - 2, height: y(0) - top,
        style: `fill: var(--${row.kind})`}, svg('title', {},
        `${commas(count)} of ${bytesText(size)} to below ${bytesText(2 * size)}`))];
}

function sizesChart(row, low, high) {
    const step = (sizesWidth - sizesLeft - 4) / (high - low + 1);
    const floor = sizesHeight - sizesBottom;
    const most = Math.max(...Object.values(row.hist));
    const y = count => floor - count / most * (floor - 8);
    const labelled = Math.ceil(40 / step); /* so many bars are as wide as a label */
    const parts = sizesMarks(most, y);

    for (let at = low; at <= high; at++) {
        const x = sizesLeft + (at - low) * step;

        parts.push(...sizesBar(row, 2 ** at, x, step, y));
        if ((at - low) % labelled === 0)
            parts.push(svg('text', {x: x + step / 2, y: floor + 13, 'text-anchor': 'middle'},
                bytesText(2 ** at)));
    }
    return svg('svg', {viewBox: `0 0 ${sizesWidth} ${sizesHeight}`, role: 'img',
        'aria-label': `Sizes of ${rowName(row)}`}, ...parts,
    svg('text', {x: sizesWidth - 2, y: sizesHeight - 3, 'text-anchor': 'end'}, 'bytes of a request'),
    svg('text', {x: 2, y: sizesHeight - 3}, 'requests'));
}

function sizesFigure(row, low, high) {
    const average = commas(row.bytes / row.requests);

    return element('figure', {}, element('figcaption', {}, rowName(row), element('small', {},
        `${serverOf(row)}: ${commas(row.requests)}, on average ${average} B`)), sizesChart(row, low, high));
}

function sizesShow(boot) {
    const rows = boot.rows.filter(hasSizes);
    const [low, high] = sizesRange(rows);

    rows.sort((a, b) => layerOf(a) - layerOf(b));
    document.getElementById('sizes').replaceChildren(
        ...rows.map(row => sizesFigure(row, low, high)));
    if (rows.length === 0)
        document.getElementById('sizes').append('Nothing was recorded that has a size.');
}

/* --- Offset over time ------------------------------------------------------------------------- */

const placesHeight = 190;
const placesBottom = 26;
const placesTop = 8;

const placesPanels = [
    {title: 'In the object: offset of io_writes, data_requests and data_returns', key: 'off', scale: 1,
        kinds: ['io', 'data_request', 'data_return']},
    {title: 'On the store\u2019s device: place of store_writes and store_reads', key: 'sec', scale: 512,
        kinds: ['store_write', 'store_read']},
    {title: 'On the disk: place of its commands', key: 'sec', scale: 512,
        kinds: ['disk_write', 'disk_read']},
];

/* The events of a panel, and between which bytes they are. What the kernel reads of the disk for itself
   (the partition table) is far from everything else. */
function placesFind(boot, panel) {
    const events = [];
    let low = Infinity;
    let high = 0;

    for (let i = 0; i < boot.t.length; i++) {
        const nobodys = boot.kindName(i).startsWith('disk_') && boot.firstParent[i] === boot.firstParent[i + 1];

        if (!panel.kinds.includes(boot.kindName(i)) || boot.len[i] === 0 || nobodys)
            continue;
        const at = boot[panel.key][i] * panel.scale;

        events.push(i);
        low = Math.min(low, at);
        high = Math.max(high, at + boot.len[i]);
    }
    return {events, low: Math.min(low, high), high: Math.max(high, low + 1)};
}

class Places {
    constructor(boot, line, panel) {
        this.boot = boot;
        this.line = line;
        this.panel = panel;
        Object.assign(this, placesFind(boot, panel));
        this.canvas = element('canvas', {role: 'img', 'aria-label': panel.title});
        this.figure = element('figure', {}, element('figcaption', {}, panel.title), this.canvas);
    }

    y(bytes) {
        return placesHeight - placesBottom -
            (bytes - this.low) / (this.high - this.low) * (placesHeight - placesBottom - placesTop);
    }

    draw() {
        const draw = canvasFit(this.canvas, placesHeight);
        const {gutter, plot} = this.line;

        this.drawAxes(draw, gutter, plot);
        draw.save();
        draw.beginPath();
        draw.rect(gutter, 0, plot, placesHeight - placesBottom + 2);
        draw.clip();
        this.inks = given.kinds.map(kind => colours.get(kind.name));
        this.drawn = -1;
        for (const event of this.events)
            if (this.boot.t[event] >= this.line.from && this.boot.t[event] <= this.line.to)
                this.drawEvent(draw, event);
        draw.restore();
    }

    drawAxes(draw, gutter, plot) {
        for (const mark of marksOf(this.low, this.high, 4, true)) {
            const text = bytesMark(mark);

            draw.fillStyle = colours.get('line');
            draw.fillRect(gutter, this.y(mark), plot, 1);
            draw.fillStyle = colours.get('faint');
            draw.fillText(text, gutter - 8 - draw.measureText(text).width, this.y(mark));
        }
        draw.fillStyle = colours.get('faint');
        for (const {left, text} of this.line.timeMarks(draw))
            draw.fillText(text, left, placesHeight - 9);
        draw.fillText('time', 6, placesHeight - 9);
    }

    /* Metadata is hollow. What would be drawn where the event before was is left out. */
    drawEvent(draw, event) {
        const at = this.boot[this.panel.key][event] * this.panel.scale;
        const x = Math.round(this.line.x(this.boot.t[event])) - 1;
        const top = Math.round(this.y(at + this.boot.len[event]));
        const height = Math.max(Math.round(this.y(at)) - top, 3);
        const mark = ((x * 1024 + top) * 1024 + height) * 32 + this.boot.kind[event] * 2 + this.boot.cls[event];

        if (mark === this.drawn)
            return;
        this.drawn = mark;
        draw.fillStyle = draw.strokeStyle = this.inks[this.boot.kind[event]];
        if (this.boot.cls[event] === 1 && this.boot.kindName(event) !== 'io')
            draw.strokeRect(x - 0.5, top - 0.5, 5, Math.max(height, 5));
        else
            draw.fillRect(x, top, 3, height);
    }
}

function placesMake(boot, line) {
    const panels = placesPanels.map(panel => new Places(boot, line, panel))
        .filter(places => places.events.length > 0);
    const kinds = given.kinds.map(kind => kind.name)
        .filter(name => panels.some(places => places.panel.kinds.includes(name)));

    document.getElementById('places').replaceChildren(...panels.map(places => places.figure));
    legendMake(document.getElementById('places-legend'), kinds);
    document.getElementById('places-legend').append(
        panels.length > 0 ? 'hollow: metadata' : 'Nothing was recorded that has a place and a time.');
    return panels;
}

/* --- Latency ---------------------------------------------------------------------------------- */

const latencyWidth = 260;

/* The powers of ten, of nanoseconds, that all rows are between. */
function latencyRange(rows) {
    const times = rows.flatMap(row => row.of.flatMap(of => [of.p50, of.max])).filter(time => time > 0);

    const low = Math.floor(Math.log10(Math.min(...times, 1e6)));

    return [low, Math.max(Math.ceil(Math.log10(Math.max(...times, 1e3))), low + 1)];
}

function latencyBar(of, kind, low, high) {
    const x = time => (Math.log10(Math.max(time, 10 ** low)) - low) / (high - low) * (latencyWidth - 8) + 4;
    const chart = svg('svg', {viewBox: `0 0 ${latencyWidth} 16`, 'aria-hidden': 'true'});

    for (let power = low; power <= high; power++)
        chart.append(svg('line', {class: 'axis', x1: x(10 ** power), x2: x(10 ** power), y1: 0, y2: 16}));
    chart.append(svg('line', {x1: x(of.p50), x2: x(of.max), y1: 8, y2: 8,
        style: `stroke: var(--${kind}); stroke-width: 2`}),
    svg('rect', {x: x(of.p50) - 1.5, y: 3, width: Math.max(x(of.p99) - x(of.p50), 0) + 3, height: 10, rx: 2,
        style: `fill: var(--${kind})`}));
    return chart;
}

function latencyScale(low, high) {
    const chart = svg('svg', {viewBox: `0 0 ${latencyWidth} 16`, 'aria-hidden': 'true'});
    const every = Math.ceil(60 / ((latencyWidth - 8) / (high - low)));

    for (let power = low; power <= high; power += every) {
        const x = (power - low) / (high - low) * (latencyWidth - 8) + 4;

        chart.append(svg('text', {x, y: 12, 'text-anchor': power === low ? 'start'
            : power === high ? 'end' : 'middle'}, timeText(10 ** power).replace('.0', '')));
    }
    return chart;
}

function latencyRows(row, boots, chosen, low, high) {
    const made = [];

    boots.forEach((boot, at) => {
        const of = row.of[at];

        if (of === undefined || of.count === 0)
            return;
        const what = `${row.what}${row.kind.startsWith('disk_') ? 'at most' : row.waits ? ' wait' : ''}`;

        made.push(element('tr', boot === chosen ? {class: 'shown'} : {},
            element('th', {scope: 'row'}, made.length === 0 ? row.kind : ''),
            element('td', {class: 'word'}, made.length === 0 ? what : ''),
            element('td', {class: 'word'}, made.length === 0 ? row.server : ''),
            element('td', {class: 'word'}, boot.name), element('td', {}, commas(of.count)),
            ...[of.p50, of.p90, of.p99, of.max].map(time => element('td', {}, usText(time))),
            element('td', {}, latencyBar(of, row.kind, low, high))));
    });
    return made;
}

function latencyShow(boots, chosen) {
    const rows = rowsAll(boots).filter(row => row.of.some(of => of.count > 0));
    const [low, high] = latencyRange(rows);
    const words = ['layer', 'operation', 'server', 'policy'];

    document.getElementById('latency').replaceChildren(element('thead', {}, element('tr', {},
        ...words.map(head => element('th', {class: 'word', scope: 'col'}, head)),
        ...['count', 'p50', 'p90', 'p99', 'longest'].map(head => element('th', {scope: 'col'}, head)),
        element('th', {scope: 'col'}, latencyScale(low, high)))),
    element('tbody', {}, ...rows.flatMap(row => latencyRows(row, boots, chosen, low, high))));
}
