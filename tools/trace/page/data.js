// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the page was given (tools/trace/html.c), taken apart: a Boot for each policy, with its events
 * in columns, by time. Times are nanoseconds from the boot's first event.
 */
'use strict';

const given = JSON.parse(document.getElementById('data').textContent);

/* The layers from the client's to the disk's, by kind; how far a row is moved to the right. */
const depths = {op: 0, io: 1, lock_request: 2, data_request: 2, data_unlock: 2, data_return: 3, run: 4,
    alloc_lock: 4, store_write: 5, store_read: 5, memory: 0, disk_write: 6, disk_read: 6};

/* Numbers of 7 bits a byte, the lowest first. They can be larger than what shifts work on. */
class Reader {
    constructor(base64) {
        const text = atob(base64);

        this.bytes = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++)
            this.bytes[i] = text.charCodeAt(i);
        this.at = 0;
    }

    number() {
        let value = 0;
        let scale = 1;

        for (;;) {
            const byte = this.bytes[this.at++];

            value += (byte & 127) * scale;
            if (byte < 128)
                return value;
            scale *= 128;
        }
    }
}

class Boot {
    constructor(policy) {
        const count = policy.shown;

        Object.assign(this, policy);
        for (const column of ['t', 'dur', 'req', 'obj', 'off', 'len', 'sec', 'wait', 'n'])
            this[column] = new Float64Array(count);
        for (const column of ['kind', 'cls'])
            this[column] = new Uint8Array(count);
        for (const column of ['track', 'row', 'what', 'res'])
            this[column] = new Uint16Array(count);
        this.firstParent = new Uint32Array(count + 1);
        this.read(new Reader(policy.stream), count);
        this.childrenFind(count);
        this.trackEvents = this.tracks.map(() => []);
        for (let i = 0; i < count; i++)
            this.trackEvents[this.track[i]].push(i);
    }

    read(reader, count) {
        const parents = [];
        let t = 0;

        for (let i = 0; i < count; i++) {
            t += reader.number();
            this.t[i] = t;
            for (const column of ['dur', 'kind', 'track', 'row', 'what', 'cls', 'req', 'obj', 'off', 'len',
                'sec', 'wait', 'n', 'res'])
                this[column][i] = reader.number();
            this.firstParent[i] = parents.length;
            for (let left = reader.number(); left > 0; left--)
                parents.push(reader.number());
        }
        this.firstParent[count] = parents.length;
        this.parent = Uint32Array.from(parents);
    }

    childrenFind(count) {
        const place = new Uint32Array(count + 1);

        this.firstChild = new Uint32Array(count + 2);
        for (const parent of this.parent)
            this.firstChild[parent + 1]++;
        for (let i = 0; i < count; i++)
            this.firstChild[i + 1] += this.firstChild[i];
        place.set(this.firstChild.subarray(0, count + 1));
        this.child = new Uint32Array(this.parent.length);
        for (let i = 0; i < count; i++)
            for (let j = this.firstParent[i]; j < this.firstParent[i + 1]; j++)
                this.child[place[this.parent[j]]++] = i;
    }

    end(event) {
        return this.t[event] + this.dur[event];
    }

    kindName(event) {
        return given.kinds[this.kind[event]].name;
    }

    whatName(event) {
        return this.whats[this.what[event]];
    }

    has(event, key) {
        return given.kinds[this.kind[event]].keys.includes(key);
    }

    /* What is written on an event. */
    nameOf(event) {
        const kind = this.kindName(event);
        const what = this.whatName(event);

        if (kind === 'io')
            return what;
        return kind === 'op' || kind === 'alloc_lock' ? `${kind} ${what}` : kind;
    }

    /* Adds to FAMILY all that is reached from EVENT in one direction. */
    walk(event, family, first, next) {
        const left = [event];

        while (left.length > 0) {
            const at = left.pop();

            for (let i = first[at]; i < first[at + 1]; i++) {
                if (family.has(next[i]))
                    continue;
                family.add(next[i]);
                left.push(next[i]);
            }
        }
    }

    /* The event, all that it was done for, and all that was done for it. */
    family(event) {
        const above = new Set([event]);
        const below = new Set([event]);

        this.walk(event, above, this.firstParent, this.parent);
        this.walk(event, below, this.firstChild, this.child);
        return new Set([...above, ...below].sort((a, b) => a - b));
    }

    find(server, request) {
        for (let i = 0; i < this.req.length; i++)
            if (this.req[i] === request && this.has(i, 'req') && this.tracks[this.track[i]].process === server)
                return i;
        return -1;
    }
}

/* --- Numbers as text -------------------------------------------------------------------------- */

function commas(number) {
    return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

/* 4096 is 4 K, 6144 is 6 K, 131071 stays. */
function bytesText(bytes) {
    const units = ['B', 'K', 'M', 'G', 'T'];
    let unit = 0;

    while (bytes >= 1024 && bytes % 1024 === 0 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    return `${commas(bytes)} ${units[unit]}`;
}

/* The same in the largest unit, with a fraction: 526848 K is 514.5 M. */
function bytesMark(bytes) {
    const units = ['B', 'K', 'M', 'G', 'T'];
    let unit = 0;

    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    return `${Number(bytes.toFixed(3))} ${units[unit]}`;
}

const timeUnits = [[1, 'ns'], [1e3, '\u00b5s'], [1e6, 'ms'], [1e9, 's']];

/* The unit for times that are up to NS long. */
function timeUnit(ns) {
    return timeUnits.filter(unit => unit[0] <= Math.max(ns, 1)).pop();
}

function timeText(ns) {
    const [scale, name] = timeUnit(ns);

    return `${(ns / scale).toFixed(scale === 1 ? 0 : 1)} ${name}`;
}

function usText(ns) {
    return (ns / 1000).toFixed(1).replace(/\B(?=(\d{3})+\.)/g, ',');
}
