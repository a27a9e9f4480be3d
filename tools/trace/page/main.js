// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts the page together. `machbed` is for who looks at it with a program: the tests. */
'use strict';

const boots = given.policies.map(policy => new Boot(policy));
let chosen = boots[0];
let places = [];

const line = new Line(document.getElementById('line'), () => requestAnimationFrame(placesDraw));

function placesDraw() {
    for (const panel of places)
        panel.draw();
}

function findShow() {
    const servers = new Set();

    chosen.tracks.forEach((track, at) => {
        if (chosen.trackEvents[at].some(event => chosen.has(event, 'req')))
            servers.add(track.process);
    });
    document.getElementById('find-server').replaceChildren(
        ...[...servers].map(server => element('option', {}, server)));
    document.getElementById('find-said').textContent = '';
}

function kindsOf(boot) {
    const used = new Set(boot.kind);

    return given.kinds.filter((kind, at) => used.has(at)).map(kind => kind.name);
}

function choose(boot) {
    chosen = boot;
    line.show(boot);
    sizesShow(boot);
    places = placesMake(boot, line);
    latencyShow(boots, boot);
    legendMake(document.getElementById('legend'), kindsOf(boot));
    findShow();
    placesDraw();
}

function policiesMake() {
    document.getElementById('policies').replaceChildren(...boots.map((boot, at) => {
        const radio = element('input', {type: 'radio', name: 'policy', value: boot.name,
            ...(at === 0 ? {checked: ''} : {})});

        radio.addEventListener('change', () => choose(boot));
        return element('label', {}, radio, ` ${boot.name}`);
    }));
}

function toolsListen() {
    const tools = {in: () => line.zoom(0.5), out: () => line.zoom(2), left: () => line.pan(-0.5),
        right: () => line.pan(0.5), whole: () => line.whole(), selected: () => line.zoomToSelected()};

    for (const button of document.querySelectorAll('[data-do]'))
        button.addEventListener('click', () => tools[button.dataset.do]());
    document.getElementById('find').addEventListener('submit', event => {
        const server = document.getElementById('find-server').value;
        const number = Number(document.getElementById('find-number').value);
        const found = chosen.find(server, number);

        event.preventDefault();
        document.getElementById('find-said').textContent =
            found < 0 ? `${server} has no request ${number} here` : '';
        if (found >= 0) {
            line.select(found);
            line.zoomToSelected();
        }
    });
}

function redraw() {
    colours.values.clear();
    line.measure();
    line.draw();
    requestAnimationFrame(placesDraw);
}

document.title = `Machbed: ${given.run}`;
document.getElementById('title').textContent = `Run ${given.run}`;
document.getElementById('machine').textContent = given.machine;
policiesMake();
summaryShow(boots);
notesShow(boots);
toolsListen();
choose(chosen);
new ResizeObserver(redraw).observe(document.querySelector('main'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
window.machbed = {boots, line};
