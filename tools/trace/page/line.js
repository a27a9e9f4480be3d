// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time line: a row for each thread, for each queue, and for the disk, gauges below. What is
 * narrower than a pixel is drawn once for each pixel, so a view of everything costs no more than one
 * of a part. When a request is selected, all that it was done for, and all that was done for it, keeps
 * its colour.
 */
'use strict';

const lineRow = 13;        /* pixels of a row of events */
const lineRowsMax = 8;     /* of a queue; the others are drawn over the last */
const lineGap = 4;         /* below a track */
const lineHead = 19;       /* a process's name */
const lineAxis = 24;
const lineGauge = 46;
const lineRight = 12;
const lineShort = 50;      /* nanoseconds: no view is shorter */
const wayRows = 16;        /* of the table, for each kind */

class Line {
    constructor(canvas, changed) {
        this.canvas = canvas;
        this.changed = changed; /* called when another span of time is shown */
        this.selected = -1;
        this.family = new Set();
        canvas.addEventListener('wheel', event => this.wheel(event), {passive: false});
        canvas.addEventListener('pointerdown', event => this.press(event));
        canvas.addEventListener('pointermove', event => this.move(event));
        canvas.addEventListener('pointerup', event => this.release(event));
        canvas.addEventListener('pointercancel', () => { this.drag = null; });
        canvas.addEventListener('keydown', event => this.key(event));
    }

    show(boot) {
        this.boot = boot;
        this.selected = -1;
        this.family = new Set();
        this.span = Math.max(boot.end_ns, 1);
        this.lanesMake();
        this.whole();
        wayShow(this);
    }

    /* --- Where things are -------------------------------------------------------------------- */

    lanesMake() {
        let y = lineAxis;

        this.lanes = [];
        this.heads = [];
        this.boot.tracks.forEach((track, at) => {
            if (this.boot.trackEvents[at].length === 0)
                return;
            if (this.heads.at(-1)?.name !== track.process) {
                this.heads.push({name: track.process, y});
                y += lineHead;
            }
            const rows = Math.min(track.rows, track.overlaps ? lineRowsMax : track.rows);

            this.lanes.push({track: at, y, rows});
            y += rows * lineRow + lineGap;
        });
        this.gaugesTop = y;
        this.height = y + this.boot.gauges.length * lineGauge + 6;
    }

    /* Asks how wide the canvas is, which takes long: not for each event. */
    measure() {
        const width = this.canvas.clientWidth;

        this.gutter = width < 700 ? 104 : 170;
        this.plot = Math.max(width - this.gutter - lineRight, 50);
    }

    x(t) {
        return this.gutter + (t - this.from) / (this.to - this.from) * this.plot;
    }

    time(x) {
        return this.from + (x - this.gutter) / this.plot * (this.to - this.from);
    }

    rowOf(lane, event) {
        return Math.min(this.boot.row[event], lane.rows - 1);
    }

    /* Where on the canvas an event is drawn. */
    rectOf(event) {
        const lane = this.lanes.find(other => other.track === this.boot.track[event]);

        return {x: this.x(this.boot.t[event]), y: lane.y + this.rowOf(lane, event) * lineRow,
            width: Math.max(this.x(this.boot.end(event)) - this.x(this.boot.t[event]), 1),
            height: lineRow - 1};
    }

    /* The event at a place, the shortest of several, or the next one that is at most three pixels
       beside it; else -1. */
    eventAt(x, y) {
        const lane = this.lanes.find(other => y >= other.y && y < other.y + other.rows * lineRow);
        const t = this.time(x);
        const best = {event: -1, away: this.time(3) - this.time(0), dur: Infinity};

        if (lane === undefined || x < this.gutter)
            return -1;
        const row = Math.floor((y - lane.y) / lineRow);

        for (const event of this.boot.trackEvents[lane.track]) {
            const away = Math.max(this.boot.t[event] - t, t - this.boot.end(event), 0);
            const dur = this.boot.dur[event];

            if (this.rowOf(lane, event) === row &&
                (away < best.away || (away === best.away && dur <= best.dur)))
                Object.assign(best, {event, away, dur});
        }
        return best.event;
    }

    /* --- What is shown ----------------------------------------------------------------------- */

    view(from, to) {
        this.measure();
        const length = Math.min(Math.max(to - from, lineShort), this.span * 1.04);
        const first = -this.span * 0.02;

        from = Math.min(Math.max(from, first), first + this.span * 1.04 - length);
        this.from = from;
        this.to = from + length;
        this.draw();
        this.changed();
    }

    whole() {
        this.view(-this.span * 0.02, this.span * 1.02);
    }

    zoom(factor, x) {
        const at = this.time(x ?? this.gutter + this.plot / 2);

        this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
    }

    pan(part) {
        const by = (this.to - this.from) * part;

        this.view(this.from + by, this.to + by);
    }

    select(event) {
        this.selected = event;
        this.family = event < 0 ? new Set() : this.boot.family(event);
        this.draw();
        wayShow(this);
    }

    /* Shows the selected event in the middle, and about as much time again on both sides. */
    zoomToSelected() {
        const start = this.boot.t[this.selected];
        const margin = Math.max(this.boot.dur[this.selected], 500);

        this.view(start - margin, this.boot.end(this.selected) + margin);
    }

    /* Selects, and moves there if it cannot be seen. */
    go(event) {
        this.select(event);
        if (this.boot.end(event) < this.from || this.boot.t[event] > this.to) {
            const half = (this.to - this.from) / 2;

            this.view(this.boot.t[event] - half, this.boot.t[event] + half);
        }
    }

    /* The event before or behind the selected one on its track. */
    step(by) {
        if (this.selected < 0) {
            const seen = this.lanes.flatMap(lane => this.boot.trackEvents[lane.track]
                .find(event => this.boot.end(event) >= this.from) ?? []);

            return seen.length > 0 && this.go(seen[0]);
        }
        const track = this.boot.trackEvents[this.boot.track[this.selected]];
        const next = track[track.indexOf(this.selected) + by];

        return next !== undefined && this.go(next);
    }

    /* --- What the user does ------------------------------------------------------------------ */

    wheel(event) {
        if (!event.ctrlKey && !event.metaKey)
            return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX);
    }

    press(event) {
        if (event.button !== 0)
            return;
        this.drag = {x: event.offsetX, y: event.offsetY, from: this.from, moved: false};
        this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
        if (!this.drag)
            return;
        const by = event.offsetX - this.drag.x;

        this.drag.moved ||= Math.abs(by) > 4;
        if (!this.drag.moved)
            return;
        this.canvas.classList.add('drags');
        const length = this.to - this.from;
        const from = this.drag.from - by / this.plot * length;

        this.view(from, from + length);
    }

    release(event) {
        if (this.drag && !this.drag.moved)
            this.select(this.eventAt(event.offsetX, event.offsetY));
        this.drag = null;
        this.canvas.classList.remove('drags');
    }

    key(event) {
        const keys = {
            ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1), '+': () => this.zoom(0.5),
            '=': () => this.zoom(0.5), '-': () => this.zoom(2), 0: () => this.whole(),
            n: () => this.step(1), p: () => this.step(-1), Escape: () => this.select(-1),
            Enter: () => this.selected >= 0 && this.zoomToSelected(),
        };

        if (keys[event.key] === undefined || event.ctrlKey || event.altKey || event.metaKey)
            return;
        event.preventDefault();
        keys[event.key]();
    }

    /* --- Drawing ----------------------------------------------------------------------------- */

    /* Draws with the next frame, once, however often it is asked for. */
    draw() {
        if (this.frame === undefined)
            this.frame = requestAnimationFrame(() => {
                this.frame = undefined;
                this.drawNow();
            });
    }

    drawNow() {
        this.measure();
        const draw = canvasFit(this.canvas, this.height);

        this.drawAxis(draw);
        this.drawNames(draw);
        draw.save();
        draw.beginPath();
        draw.rect(this.gutter, 0, this.plot, this.height);
        draw.clip();
        draw.globalAlpha = this.selected < 0 ? 1 : 0.22;
        for (const lane of this.lanes)
            this.drawLane(draw, lane, this.boot.trackEvents[lane.track], false);
        draw.globalAlpha = 1;
        if (this.selected >= 0)
            this.drawFamily(draw);
        this.boot.gauges.forEach((gauge, at) => this.drawGauge(draw, gauge, at));
        draw.restore();
    }

    /* The marks of the axis of time: where, and the text as far as it fits. */
    timeMarks(draw) {
        const marks = marksOf(this.from, this.to, this.plot / 110);
        const [scale, unit] = timeUnit(this.to);
        const step = marks.length > 1 ? marks[1] - marks[0] : this.to - this.from;
        const digits = Math.min(Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9)), 9);

        return marks.map(mark => {
            const x = this.x(mark);
            const text = `${(mark / scale).toFixed(digits)} ${unit}`;
            const left = x - draw.measureText(text).width / 2;
            const fits = left > this.gutter && 2 * x - left < this.gutter + this.plot + lineRight;

            return {x, left, text: fits ? text : ''};
        });
    }

    drawAxis(draw) {
        for (const {x, left, text} of this.timeMarks(draw)) {
            draw.fillStyle = colours.get('line');
            draw.fillRect(x, lineAxis - 6, 1, this.height);
            draw.fillStyle = colours.get('faint');
            draw.fillText(text, left, 9);
        }
        draw.fillStyle = colours.get('faint');
        draw.fillText('time', 6, 9);
    }

    drawNames(draw) {
        draw.fillStyle = colours.get('text');
        for (const head of this.heads) {
            draw.font = 'bold 12px system-ui, "DejaVu Sans", sans-serif';
            draw.fillText(textFit(draw, head.name, this.gutter - 12), 6, head.y + lineHead / 2);
        }
        draw.font = '11px system-ui, "DejaVu Sans", sans-serif';
        draw.fillStyle = colours.get('faint');
        for (const lane of this.lanes) {
            const track = this.boot.tracks[lane.track];
            const number = this.boot.tracks.slice(0, lane.track + 1).filter(other =>
                other.process === track.process && other.name === track.name &&
                other.overlaps === track.overlaps).length;
            const name = track.overlaps ? `${track.name}s` : track.name;

            draw.fillText(textFit(draw, number > 1 ? `${name}/${number}` : name, this.gutter - 22), 14,
                lane.y + lineRow / 2);
        }
    }

    drawLane(draw, lane, events, chosen) {
        const last = new Float64Array(lane.rows).fill(-1);
        const inks = given.kinds.map(kind => colours.get(kind.name));

        for (const event of events) {
            if (this.boot.t[event] > this.to)
                break;
            if (this.boot.end(event) < this.from)
                continue;
            const row = this.rowOf(lane, event);
            const x = Math.max(Math.floor(this.x(this.boot.t[event])), this.gutter - 1);
            const end = Math.max(Math.ceil(this.x(this.boot.end(event))), x + 1);

            if (end <= last[row] && !chosen)
                continue;
            last[row] = end;
            draw.fillStyle = inks[this.boot.kind[event]];
            const width = Math.min(end, this.gutter + this.plot) - x;

            draw.fillRect(x, lane.y + row * lineRow, width > 3 ? width - 1 : Math.max(width, 1), lineRow - 1);
            if (width >= 36 && !this.isCrowded(lane, row))
                this.drawName(draw, event, x + 3, width - 8, lane.y + (row + 0.5) * lineRow);
        }
    }

    /* Whether events are drawn over each other in that row. */
    isCrowded(lane, row) {
        return row === lane.rows - 1 && this.boot.tracks[lane.track].rows > lane.rows;
    }

    drawName(draw, event, x, width, y) {
        draw.fillStyle = colours.get('ground');
        draw.fillText(textFit(draw, this.boot.nameOf(event), width), x, y);
    }

    drawFamily(draw) {
        for (const lane of this.lanes)
            this.drawLane(draw, lane,
                [...this.family].filter(event => this.boot.track[event] === lane.track), true);
        const rect = this.rectOf(this.selected);

        draw.strokeStyle = colours.get('text');
        draw.lineWidth = 2;
        draw.strokeRect(rect.x - 1, rect.y - 1, rect.width + 2, rect.height + 2);
    }

    drawGauge(draw, gauge, at) {
        const base = this.gaugesTop + (at + 1) * lineGauge - 4;
        const high = lineGauge - 14;
        const y = value => base - (gauge.max === 0 ? 0 : value / gauge.max * high);
        let before = 0;
        let lastX = this.gutter;

        draw.beginPath();
        draw.moveTo(this.gutter, base);
        for (let i = 0; i < gauge.points.length; i += 2) {
            const x = Math.min(Math.max(this.x(gauge.points[i]), this.gutter), this.gutter + this.plot);

            draw.lineTo(x, y(before));
            draw.lineTo(x, y(gauge.points[i + 1]));
            before = gauge.points[i + 1];
            lastX = x;
        }
        draw.lineTo(lastX, base);
        draw.fillStyle = colours.get(gauge.name === 'free pages' ? 'memory' : 'accent');
        draw.globalAlpha = 0.55;
        draw.fill();
        draw.globalAlpha = 1;
        this.drawGaugeNames(draw, gauge, base, high);
    }

    drawGaugeNames(draw, gauge, base, high) {
        draw.restore();
        draw.save();
        draw.fillStyle = colours.get('line');
        draw.fillRect(this.gutter, base, this.plot, 1);
        draw.fillStyle = colours.get('faint');
        draw.fillText(textFit(draw, gauge.process, this.gutter - 12), 6, base - high + 3);
        draw.fillText(textFit(draw, gauge.name, this.gutter - 12), 6, base - high + 16);
        draw.fillText(textFit(draw, `0 to ${commas(gauge.max)}`, this.gutter - 12), 6, base - high + 29);
        draw.beginPath();
        draw.rect(this.gutter, 0, this.plot, this.height);
        draw.clip();
    }
}

/* --- The selected request's way, as a table --------------------------------------------------- */

function wayPlace(boot, event) {
    const parts = [];

    if (boot.has(event, 'obj'))
        parts.push(`object ${boot.obj[event]}`);
    if (boot.has(event, 'off'))
        parts.push(`at ${commas(boot.off[event])}`);
    if (boot.has(event, 'sec'))
        parts.push(`at sector ${commas(boot.sec[event])}`);
    if (boot.kindName(event) === 'memory')
        parts.push(`${commas(boot.n[event])} free pages`);
    else if (boot.has(event, 'n'))
        parts.push(`of ${boot.n[event]} returns`);
    if (boot.has(event, 'wait'))
        parts.push(`granted after ${usText(boot.wait[event])} \u00b5s`);
    if (boot.res[event] !== 0)
        parts.push(`error ${boot.res[event]}`);
    return parts.join(', ');
}

function wayRow(line, event) {
    const {boot} = line;
    const track = boot.tracks[boot.track[event]];
    const name = element('button', {type: 'button'}, boot.nameOf(event));
    const what = boot.kindName(event) === 'data_return' || boot.kindName(event) === 'lock_request'
        ? ` ${boot.whatName(event)}` : '';
    const first = element('td', {class: 'word',
        style: `padding-left: ${10 + 14 * depths[boot.kindName(event)]}px`}, name, what);

    name.addEventListener('click', () => line.go(event));
    return element('tr', {'data-kind': boot.kindName(event), 'data-request': boot.req[event],
        ...(event === line.selected ? {class: 'chosen', 'aria-current': 'true'} : {})}, first,
    element('td', {class: 'word'}, track.overlaps ? track.process : `${track.process}, ${track.name}`),
    element('td', {}, boot.has(event, 'req') ? String(boot.req[event]) : ''),
    element('td', {class: 'word'}, wayPlace(boot, event)),
    element('td', {}, boot.has(event, 'len') ? commas(boot.len[event]) : ''),
    element('td', {}, (boot.t[event] / 1e6).toFixed(3)),
    element('td', {}, usText(boot.dur[event])));
}

/* The events to show: some of each kind, so that all layers are there; and the selected one. */
function wayEvents(line) {
    const {boot} = line;
    const counts = new Map();

    return [...line.family].filter(event => {
        const count = (counts.get(boot.kind[event]) ?? 0) + 1;

        counts.set(boot.kind[event], count);
        return count <= wayRows || event === line.selected;
    });
}

function wayShow(line) {
    const said = document.getElementById('way-said');
    const table = document.getElementById('way');

    document.querySelector('[data-do=selected]').disabled = line.selected < 0;
    if (line.selected < 0) {
        said.textContent = 'No request is selected';
        table.replaceChildren();
        return;
    }
    const events = wayEvents(line);
    const name = line.boot.nameOf(line.selected);
    const more = line.family.size > events.length ? `, at most ${wayRows} of a kind below` : '';

    said.textContent = `${name}${line.boot.req[line.selected] ? ` ${line.boot.req[line.selected]}` : ''}: ` +
        `${commas(line.family.size)} requests in all layers${more}`;
    table.replaceChildren(
        element('thead', {}, element('tr', {}, ...['layer', 'server', 'request', 'where', 'bytes',
            'begins, ms', 'lasts, \u00b5s'].map((head, at) =>
            element('th', {scope: 'col', ...([0, 1, 3].includes(at) ? {class: 'word'} : {})}, head)))),
        element('tbody', {}, ...events.map(event => wayRow(line, event))));
}
