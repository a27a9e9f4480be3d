// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One page that needs nothing else: page.html with its style, its scripts, and the data. Counts,
 * sizes and percentiles are computed here, from all events. The events themselves are one stream of
 * numbers for each policy, 7 bits a byte, in base64; page/data.js reads it. For each event:
 *
 *   time since the event before, dur, kind, track, row (tracks.h), place of `what` in a table, cls,
 * req, obj, off, len, sec, wait, n, res, number of parents, and each parent's place in the stream
 *
 * That is about 35 bytes an event. Where there are more events than HTML_EVENTS_MAX, whole requests
 * are left out (thin.h), and the page says so.
 */
#include "view.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gauge.h"
#include "html-page.h"
#include "latency.h"
#include "output.h"
#include "run/size.h"
#include "thin.h"
#include "tracks.h"

#define HTML_FILE       "trace.html"
#define HTML_WHATS_MAX  64
#define HTML_EVENTS_MAX 600000 /* of all policies together */

struct html {
    const struct view_case *view;
    const struct latency *latency;
    FILE *stream;
    size_t every; /* one of so many requests is kept */
    size_t shown; /* of all */
};

/* What is made of one boot. */
struct html_boot {
    const struct record *record;
    struct tracks tracks;
    struct links links;
    struct link *parents; /* the same links, by child */
    struct gauges gauges;
    bool *kept;
    uint32_t *places; /* of each kept event, its place in the stream */
    size_t shown;
    size_t untimed;
    uint64_t start;
    uint64_t end;
    const char *whats[HTML_WHATS_MAX];
    size_t whats_count;
};

/* --- The stream ------------------------------------------------------------------------------ */

struct html_base64 {
    FILE *stream;
    uint32_t bits;
    unsigned count; /* bytes in it, below 3 */
};

static void html_base64_flush(struct html_base64 *base64, unsigned count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    base64->bits <<= 8 * (3 - count);
    for (unsigned i = 0; i < 4; i++)
        fputc(i <= count ? digits[base64->bits >> (18 - 6 * i) & 63] : '=', base64->stream);
    base64->bits = 0;
    base64->count = 0;
}

static void html_byte(struct html_base64 *base64, uint8_t byte)
{
    base64->bits = base64->bits << 8 | byte;
    if (++base64->count == 3)
        html_base64_flush(base64, 3);
}

static void html_number(struct html_base64 *base64, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        html_byte(base64, (uint8_t)(number | 128));
    html_byte(base64, (uint8_t)number);
}

/* The place of the event's `what` in the boot's table; of words for which no room is left, 0. */
static size_t html_what(struct html_boot *boot, const char *what)
{
    for (size_t i = 0; i < boot->whats_count; i++) {
        if (strcmp(boot->whats[i], what) == 0)
            return i;
    }
    if (boot->whats_count == HTML_WHATS_MAX)
        return 0;
    boot->whats[boot->whats_count] = what;
    return boot->whats_count++;
}

/* PARENTS are the links to the event's parents, and what is behind them. */
static void html_parents(struct html_base64 *base64, const struct html_boot *boot, size_t event,
                         const struct link *parents, const struct link *end)
{
    uint64_t count = 0;

    for (const struct link *link = parents; link < end && link->child == event; link++)
        count += boot->places[link->parent] != UINT32_MAX;
    html_number(base64, count);
    for (const struct link *link = parents; link < end && link->child == event; link++) {
        if (boot->places[link->parent] != UINT32_MAX)
            html_number(base64, boot->places[link->parent]);
    }
}

static void html_event(struct html_base64 *base64, struct html_boot *boot, size_t place,
                       uint64_t before)
{
    const struct event *event = &boot->record->events[place];
    const struct track_place *where = &boot->tracks.places[place];

    html_number(base64, event->t - before);
    html_number(base64, event->dur);
    html_number(base64, event->kind);
    html_number(base64, where->track);
    html_number(base64, where->row);
    html_number(base64, html_what(boot, event->what));
    html_number(base64, event->cls);
    html_number(base64, event->req);
    html_number(base64, event->obj);
    html_number(base64, event->off);
    html_number(base64, event->len);
    html_number(base64, event->sec);
    html_number(base64, event->wait);
    html_number(base64, event->n);
    html_number(base64, event->res);
}

static void html_stream(const struct html *html, struct html_boot *boot)
{
    struct html_base64 base64 = {.stream = html->stream};
    const struct link *parents = boot->parents;
    const struct link *end = parents + boot->links.count;
    uint64_t before = boot->start;

    for (size_t i = 0; i < boot->record->count; i++) {
        while (parents < end && parents->child < i)
            parents++;
        if (boot->places[i] == UINT32_MAX)
            continue;
        html_event(&base64, boot, i, before);
        html_parents(&base64, boot, i, parents, end);
        before = boot->record->events[i].t;
    }
    if (base64.count != 0)
        html_base64_flush(&base64, base64.count);
}

/* --- Tables ---------------------------------------------------------------------------------- */

static void html_tracks(const struct html *html, const struct html_boot *boot)
{
    fputs(",\"tracks\":[", html->stream);
    for (size_t i = 0; i < boot->tracks.count; i++) {
        const struct track *track = &boot->tracks.tracks[i];

        fprintf(html->stream, "%s{\"process\":", i == 0 ? "" : ",");
        output_json_word(html->stream, track->process);
        fputs(",\"name\":", html->stream);
        output_json_word(html->stream, track->name);
        fprintf(html->stream, ",\"overlaps\":%s,\"rows\":%u}", track->overlaps ? "true" : "false",
                track->rows);
    }
    fputs("]", html->stream);
}

static void html_gauges(const struct html *html, const struct html_boot *boot)
{
    fputs(",\"gauges\":[", html->stream);
    for (size_t i = 0; i < boot->gauges.count; i++) {
        const struct gauge *gauge = &boot->gauges.gauges[i];

        fprintf(html->stream, "%s{\"process\":", i == 0 ? "" : ",\n");
        output_json_word(html->stream, gauge->process);
        fprintf(html->stream, ",\"name\":\"%s\",\"max\":%" PRIu64 ",\"points\":[", gauge->name,
                gauge->max);
        for (size_t j = 0; j < gauge->count; j++)
            fprintf(html->stream, "%s%" PRIu64 ",%" PRIu64, j == 0 ? "" : ",",
                    gauge->points[j].t - boot->start, gauge->points[j].value);
        fputs("]}", html->stream);
    }
    fputs("]", html->stream);
}

static void html_hist(const struct html *html, const struct layer *sizes)
{
    const char *separator = "";

    fputs(",\"hist\":{", html->stream);
    for (unsigned i = 0; i < LAYER_CLASSES; i++) {
        if (sizes->hist[i] == 0)
            continue;
        fprintf(html->stream, "%s\"%" PRIu64 "\":%" PRIu64, separator, layer_class_floor(i),
                sizes->hist[i]);
        separator = ",";
    }
    fputs("}", html->stream);
}

static void html_row(const struct html *html, const struct latency_row *row)
{
    fprintf(html->stream, "{\"kind\":\"%s\",\"what\":", event_kind_name(row->kind));
    output_json_word(html->stream, row->what);
    fputs(",\"server\":", html->stream);
    output_json_word(html->stream, row->srv);
    fprintf(html->stream,
            ",\"waits\":%s,\"count\":%zu,\"requests\":%" PRIu64 ",\"bytes\":%" PRIu64
            ",\"largest\":%" PRIu64,
            row->waits ? "true" : "false", row->count, row->sizes.count, row->sizes.bytes,
            row->sizes.max);
    if (row->count != 0)
        fprintf(html->stream,
                ",\"p50\":%" PRIu64 ",\"p90\":%" PRIu64 ",\"p99\":%" PRIu64 ",\"max\":%" PRIu64,
                latency_percentile(row, 50), latency_percentile(row, 90),
                latency_percentile(row, 99), latency_percentile(row, 100));
    html_hist(html, &row->sizes);
    fputs("}", html->stream);
}

static void html_rows(const struct html *html, size_t boot)
{
    const char *separator = "";

    fputs(",\"rows\":[", html->stream);
    for (size_t i = 0; i < html->latency->count; i++) {
        if (html->latency->rows[i].boot != boot)
            continue;
        fputs(separator, html->stream);
        html_row(html, &html->latency->rows[i]);
        separator = ",\n";
    }
    fputs("]", html->stream);
}

static void html_notes(const struct html *html, const struct html_boot *boot)
{
    char note[256];

    fputs(",\"notes\":[", html->stream);
    snprintf(note, sizeof(note), "%s of %s events are drawn", NUMBER_TEXT(boot->shown),
             NUMBER_TEXT(boot->record->count));
    if (html->every != 1)
        snprintf(
            note + strlen(note), sizeof(note) - strlen(note),
            ": one of %zu requests, with all that was done for it; tables and histograms count all",
            html->every);
    if (boot->untimed != 0)
        snprintf(note + strlen(note), sizeof(note) - strlen(note),
                 "; %s commands of the disk have no time", NUMBER_TEXT(boot->untimed));
    output_json_word(html->stream, note);
    for (size_t i = 0; i < boot->record->warnings_count; i++) {
        fputc(',', html->stream);
        output_json_word(html->stream, boot->record->warnings[i]);
    }
    fputs("]", html->stream);
}

static void html_job(const struct html *html, const struct record *record)
{
    static const char *const times[] = {"fill_us", "sync_us", "runtime_us"};
    const char *separator = "";

    fputs(",\"job\":{", html->stream);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        uint64_t time = record_number(record->job, times[i], UINT64_MAX);

        if (time == UINT64_MAX)
            continue;
        fprintf(html->stream, "%s\"%s\":%" PRIu64, separator, times[i], time);
        separator = ",";
    }
    fputs("}", html->stream);
}

/* The tables of `what` stand behind the stream, which fills them. */
static void html_policy(const struct html *html, struct html_boot *boot, size_t number)
{
    fprintf(html->stream, "{\"name\":\"%s\",\"shown\":%zu,\"end_ns\":%" PRIu64,
            boot->record->policy->choice.name, boot->shown, boot->end - boot->start);
    html_notes(html, boot);
    html_job(html, boot->record);
    html_tracks(html, boot);
    html_gauges(html, boot);
    html_rows(html, number);
    fputs(",\"stream\":\"", html->stream);
    html_stream(html, boot);
    fputs("\",\"whats\":[", html->stream);
    for (size_t i = 0; i < boot->whats_count; i++) {
        fputs(i == 0 ? "" : ",", html->stream);
        output_json_word(html->stream, boot->whats[i]);
    }
    fputs("]}", html->stream);
}

/* --- A boot ---------------------------------------------------------------------------------- */

static int html_parents_compare(const void *left, const void *right)
{
    const struct link *a = left;
    const struct link *b = right;

    if (a->child != b->child)
        return a->child < b->child ? -1 : 1;
    return a->parent < b->parent ? -1 : a->parent > b->parent;
}

static void html_parents_make(struct html_boot *boot)
{
    size_t count = boot->links.count;

    boot->parents = reallocarray(NULL, count + 1, sizeof(*boot->parents));
    if (boot->parents == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    if (count != 0) {
        memcpy(boot->parents, boot->links.links, count * sizeof(*boot->parents));
        qsort(boot->parents, count, sizeof(*boot->parents), html_parents_compare);
    }
}

/* Numbers the events that are kept and have a time, and finds when the first begins and the last
   ends. */
static void html_places_make(struct html_boot *boot)
{
    const struct record *record = boot->record;

    boot->places = reallocarray(NULL, record->count + 1, sizeof(*boot->places));
    if (boot->places == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];
        bool timed = boot->tracks.places[i].track != TRACKS_NONE;

        boot->places[i] = timed && boot->kept[i] ? (uint32_t)boot->shown++ : UINT32_MAX;
        boot->untimed += !timed;
        if (!timed)
            continue;
        if (boot->end == 0)
            boot->start = event->t;
        if (event_end(event) > boot->end)
            boot->end = event_end(event);
    }
}

static void html_boot_show(struct html *html, size_t number)
{
    struct html_boot boot = {.record = &html->view->records[number]};

    tracks_arrange(&boot.tracks, boot.record);
    links_find(&boot.links, boot.record);
    gauges_find(&boot.gauges, boot.record);
    boot.kept = thin_choose(boot.record, &boot.links, html->every);
    html_parents_make(&boot);
    html_places_make(&boot);
    html_policy(html, &boot, number);
    html->shown += boot.shown;
    free(boot.places);
    free(boot.parents);
    free(boot.kept);
    gauges_destroy(&boot.gauges);
    links_destroy(&boot.links);
    tracks_destroy(&boot.tracks);
}

/* --- The page -------------------------------------------------------------------------------- */

static const char *html_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text == NULL ? "?" : text;
}

/* What the run was made with, in a line for people. */
static void html_machine(const struct html *html)
{
    const json_t *machine = json_object_get(html->view->result, "machine");
    const json_t *job = html->view->records[0].job;
    char text[512] = "result.json is missing: what the run was made with is not known";

    if (machine != NULL && job != NULL)
        snprintf(
            text, sizeof(text),
            "Job %s, %s bytes, file system %s; GNU Mach %s on %s, %s disk, %s MiB of memory, %s",
            html_text(job, "name"), NUMBER_TEXT(record_number(job, "bytes", 0)),
            html_text(job, "fs"),
            html_text(json_object_get(html->view->result, "kernel"), "version"),
            html_text(machine, "arch"), html_text(machine, "disk"),
            NUMBER_TEXT(record_number(machine, "mem_mib", 0)), html_text(machine, "accel"));
    output_json_word(html->stream, text);
}

/* The kinds' names, and the keys that an event of each has. */
static void html_kinds(const struct html *html)
{
    static const struct {
        uint32_t key;
        const char *name;
    } keys[] = {{EVENT_HAS_REQ, "req"}, {EVENT_HAS_OBJ, "obj"}, {EVENT_HAS_OFF, "off"},
                {EVENT_HAS_LEN, "len"}, {EVENT_HAS_SEC, "sec"}, {EVENT_HAS_WAIT, "wait"},
                {EVENT_HAS_N, "n"}};

    fputs(",\n\"kinds\":[", html->stream);
    for (unsigned i = 0; i < EVENT_KINDS; i++) {
        const char *separator = "";

        fprintf(html->stream, "%s{\"name\":\"%s\",\"keys\":[", i == 0 ? "" : ",",
                event_kind_name((enum event_kind)i));
        for (size_t j = 0; j < sizeof(keys) / sizeof(keys[0]); j++) {
            if ((event_kind_keys((enum event_kind)i) & keys[j].key) == 0)
                continue;
            fprintf(html->stream, "%s\"%s\"", separator, keys[j].name);
            separator = ",";
        }
        fputs("]}", html->stream);
    }
    fputs("]", html->stream);
}

static void html_data(struct html *html)
{
    fputs("{\"run\":", html->stream);
    output_json_word(html->stream, html->view->name);
    fputs(",\"machine\":", html->stream);
    html_machine(html);
    html_kinds(html);
    fputs(",\n\"policies\":[", html->stream);
    for (size_t i = 0; i < html->view->count; i++) {
        fputs(i == 0 ? "\n" : ",\n", html->stream);
        html_boot_show(html, i);
    }
    fputs("]}", html->stream);
}

/* Copies the page, and at its words the other parts. */
static void html_print(struct html *html)
{
    const char *at = html_page;

    for (;;) {
        size_t length = strcspn(at, "@");

        fwrite(at, 1, length, html->stream);
        at += length;
        if (*at == '\0')
            return;
        if (strncmp(at, "@DATA@", 6) == 0)
            html_data(html);
        else
            fputs(strncmp(at, "@STYLE@", 7) == 0 ? html_style : html_script, html->stream);
        at = strchr(at + 1, '@') + 1;
    }
}

/* One of how many requests is kept, so that about HTML_EVENTS_MAX events are. */
static size_t html_every(const struct view_case *view)
{
    size_t events = 0;

    for (size_t i = 0; i < view->count; i++)
        events += view->records[i].count;
    return (events + HTML_EVENTS_MAX - 1) / HTML_EVENTS_MAX;
}

int view_html(const struct view_case *view, struct failure *failure)
{
    struct html html = {.view = view, .every = html_every(view)};
    struct latency *latency;
    struct output output = {0};
    uint64_t bytes;
    int status = output_open(&output, view->folder, NULL, HTML_FILE, failure);

    if (status != STATUS_SUCCESS)
        return status;
    latency = latency_create(view);
    html.latency = latency;
    html.stream = output.stream;
    html_print(&html);
    latency_free(latency);
    status = output_close(&output, &bytes, failure);
    if (status == STATUS_SUCCESS)
        fprintf(view->stream, "%s: %zu polic%s, %s events, %.1f MB; open it in a browser\n",
                output.path, view->count, view->count == 1 ? "y" : "ies", NUMBER_TEXT(html.shown),
                (double)bytes / 1e6);
    return status;
}
