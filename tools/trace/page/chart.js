// SPDX-License-Identifier: GPL-2.0-or-later
/* What the charts share: elements, colours, scales with their marks, canvases. */
'use strict';

const svgNames = 'http://www.w3.org/2000/svg';

function element(name, attributes, ...children) {
    const made = document.createElement(name);

    for (const [key, value] of Object.entries(attributes ?? {}))
        made.setAttribute(key, value);
    made.append(...children);
    return made;
}

function svg(name, attributes, ...children) {
    const made = document.createElementNS(svgNames, name);

    for (const [key, value] of Object.entries(attributes ?? {}))
        made.setAttribute(key, value);
    made.append(...children);
    return made;
}

/* A colour of the style sheet, by name. */
const colours = {
    values: new Map(),
    get(name) {
        if (!this.values.has(name))
            this.values.set(name,
                getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
        return this.values.get(name);
    },
};

/* Round steps of at least LEAST: 1, 2 or 5 and zeros; of bytes, powers of two. */
function stepOf(least, binary) {
    if (binary)
        return 2 ** Math.max(0, Math.ceil(Math.log2(least)));
    const zeros = 10 ** Math.floor(Math.log10(least));

    return [1, 2, 5, 10].map(digit => digit * zeros).find(step => step >= least * 0.999999);
}

/* Marks of a scale from LOW to HIGH, about COUNT of them. */
function marksOf(low, high, count, binary) {
    const step = stepOf(Math.max(high - low, 1e-9) / Math.max(count, 1), binary);
    const marks = [];

    for (let at = Math.ceil(low / step); at * step <= high; at++)
        marks.push(at * step);
    return marks;
}

/* A canvas as large as it is shown, on screens of any density. Returns what to draw with. */
function canvasFit(canvas, height) {
    const density = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const pixels = [Math.round(width * density), Math.round(height * density)];

    canvas.style.height = `${height}px`;
    if (canvas.width !== pixels[0] || canvas.height !== pixels[1])
        [canvas.width, canvas.height] = pixels;
    const draw = canvas.getContext('2d');

    draw.setTransform(density, 0, 0, density, 0, 0);
    draw.clearRect(0, 0, width, height);
    draw.font = '11px system-ui, "DejaVu Sans", sans-serif';
    draw.textBaseline = 'middle';
    return draw;
}

/* TEXT, or as much of it as fits into WIDTH, or nothing. */
function textFit(draw, text, width) {
    if (draw.measureText(text).width <= width)
        return text;
    for (let length = Math.min(text.length - 1, Math.floor(width / 4)); length > 2; length--)
        if (draw.measureText(`${text.slice(0, length)}\u2026`).width <= width)
            return `${text.slice(0, length)}\u2026`;
    return '';
}

function legendMake(place, names) {
    place.replaceChildren(...names.map(name =>
        element('span', {style: `--mark: var(--${name})`}, name)));
}
