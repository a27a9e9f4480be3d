// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chrome's trace event format (JSON), which Perfetto and chrome://tracing load: a process for each
 * server and one for the disk, and in it
 *
 *   X       slices: what a thread did, on its track (tracks.h); the disk's commands
 *   b, e    asynchronous events: what overlaps. Those of a row have one number, so that they are
 *           drawn in as few rows as can be
 *   s, t, f flows: from a write to the runs, the store calls and the commands of the disk that
 *           carried its bytes. They point at slices, so each stands behind all of these
 *   C       counters: the gauges (gauge.h)
 *   M       metadata: names of processes and threads, and their order
 *
 * Times are microseconds of the guest's clock.
 */
#include "view.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "gauge.h"
#include "output.h"
#include "run/size.h"
#include "tracks.h"

#define PERFETTO_FILE "perfetto.json"

struct perfetto {
    const struct record *record;
    FILE *stream;
    struct tracks tracks;
    struct links links;
    struct gauges gauges;
    const char *separator;
    uint64_t flows;
};

static unsigned perfetto_process(const struct perfetto *perfetto, const char *name)
{
    unsigned process = 0;

    for (size_t i = 0; i < perfetto->tracks.count; i++) {
        const char *other = perfetto->tracks.tracks[i].process;

        process += i == 0 || strcmp(other, perfetto->tracks.tracks[i - 1].process) != 0;
        if (strcmp(other, name) == 0)
            break;
    }
    return process;
}

static void perfetto_begin(struct perfetto *perfetto, const char *phase, const char *process,
                           uint32_t thread)
{
    fprintf(perfetto->stream, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%" PRIu32, perfetto->separator,
            phase, perfetto_process(perfetto, process), thread + 1);
    perfetto->separator = ",\n";
}

static void perfetto_time(const struct perfetto *perfetto, const char *key, uint64_t ns)
{
    fprintf(perfetto->stream, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

/* --- Names ----------------------------------------------------------------------------------- */

static void perfetto_name_say(struct perfetto *perfetto, const char *what, uint32_t track,
                              const char *name)
{
    perfetto_begin(perfetto, "M", perfetto->tracks.tracks[track].process, track);
    fprintf(perfetto->stream, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
    output_json_word(perfetto->stream, name);
    fputs("}}", perfetto->stream);
    perfetto_begin(perfetto, "M", perfetto->tracks.tracks[track].process, track);
    fprintf(perfetto->stream, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
            what, track + 1);
}

/* The disk's tracks all have one name; behind the first stands a number. */
static void perfetto_names_say(struct perfetto *perfetto)
{
    unsigned number = 1;

    for (uint32_t i = 0; i < perfetto->tracks.count; i++) {
        const struct track *track = &perfetto->tracks.tracks[i];
        bool first = i == 0 || strcmp(track[-1].process, track->process) != 0;
        char name[64];

        number = !first && strcmp(track[-1].name, track->name) == 0 ? number + 1 : 1;
        if (first)
            perfetto_name_say(perfetto, "process", i, track->process);
        if (track->overlaps)
            continue;
        snprintf(name, sizeof(name), number == 1 ? "%.48s" : "%.48s/%u", track->name, number);
        perfetto_name_say(perfetto, "thread", i, name);
    }
}

/* --- Events ---------------------------------------------------------------------------------- */

static void perfetto_number(const struct perfetto *perfetto, const struct event *event,
                            uint32_t key, const char *name, uint64_t number)
{
    if ((event->keys & key) != 0)
        fprintf(perfetto->stream, ",\"%s\":%" PRIu64, name, number);
}

/* The event's fields by the names of docs/trace.md; `kind` is the first, for there always is one.
 */
static void perfetto_args(const struct perfetto *perfetto, const struct event *event)
{
    fprintf(perfetto->stream, ",\"args\":{\"kind\":\"%s\"", event_kind_name(event->kind));
    perfetto_number(perfetto, event, EVENT_HAS_REQ, "req", event->req);
    perfetto_number(perfetto, event, EVENT_HAS_BY, "by", event->by);
    perfetto_number(perfetto, event, EVENT_HAS_OBJ, "obj", event->obj);
    perfetto_number(perfetto, event, EVENT_HAS_OFF, "off", event->off);
    perfetto_number(perfetto, event, EVENT_HAS_LEN, "len", event->len);
    perfetto_number(perfetto, event, EVENT_HAS_SEC, "sec", event->sec);
    perfetto_number(perfetto, event, EVENT_HAS_WAIT, "wait_ns", event->wait);
    perfetto_number(perfetto, event, EVENT_HAS_N, "n", event->n);
    perfetto_number(perfetto, event, EVENT_HAS_RES, "res", event->res);
    if ((event->keys & EVENT_HAS_CLS) != 0)
        fprintf(perfetto->stream, ",\"cls\":\"%s\"", layer_class_name(event->cls));
    if ((event->keys & EVENT_HAS_WHAT) != 0) {
        fputs(",\"what\":", perfetto->stream);
        output_json_word(perfetto->stream, event->what);
    }
    fputc('}', perfetto->stream);
}

/* An RPC is called by its routine, an operation and a lock by what is done; what waits in a queue
   by its kind alone, for events of one name are drawn together. */
static void perfetto_event_name(const struct perfetto *perfetto, const struct event *event)
{
    const char *kind = event_kind_name(event->kind);
    char name[128];

    if (event->kind == EVENT_IO)
        snprintf(name, sizeof(name), "%s", event->what);
    else if (event->kind == EVENT_OP || event->kind == EVENT_ALLOC_LOCK)
        snprintf(name, sizeof(name), "%s %s", kind, event->what);
    else
        snprintf(name, sizeof(name), "%s", kind);
    fprintf(perfetto->stream, ",\"cat\":\"%s\",\"name\":", kind);
    output_json_word(perfetto->stream, name);
}

static void perfetto_slice(struct perfetto *perfetto, const struct event *event,
                           const struct track_place *place)
{
    perfetto_begin(perfetto, "X", perfetto->tracks.tracks[place->track].process, place->track);
    perfetto_time(perfetto, "ts", event->t);
    perfetto_time(perfetto, "dur", event->dur);
    perfetto_event_name(perfetto, event);
    perfetto_args(perfetto, event);
    fputc('}', perfetto->stream);
}

static void perfetto_async(struct perfetto *perfetto, const struct event *event,
                           const struct track_place *place)
{
    for (unsigned end = 0; end < 2; end++) {
        perfetto_begin(perfetto, end ? "e" : "b", perfetto->tracks.tracks[place->track].process,
                       place->thread);
        perfetto_time(perfetto, "ts", end ? event_end(event) : event->t);
        fprintf(perfetto->stream, ",\"id\":\"0x%" PRIx64 "\"",
                ((uint64_t)(place->track + 1) << 32) + place->row);
        perfetto_event_name(perfetto, event);
        if (!end)
            perfetto_args(perfetto, event);
        fputc('}', perfetto->stream);
    }
}

static void perfetto_events(struct perfetto *perfetto)
{
    for (size_t i = 0; i < perfetto->record->count; i++) {
        const struct track_place *place = &perfetto->tracks.places[i];

        if (place->track == TRACKS_NONE)
            continue;
        if (perfetto->tracks.tracks[place->track].overlaps)
            perfetto_async(perfetto, &perfetto->record->events[i], place);
        else
            perfetto_slice(perfetto, &perfetto->record->events[i], place);
    }
}

/* --- Counters -------------------------------------------------------------------------------- */

static void perfetto_gauges(struct perfetto *perfetto)
{
    for (size_t i = 0; i < perfetto->gauges.count; i++) {
        const struct gauge *gauge = &perfetto->gauges.gauges[i];

        for (size_t j = 0; j < gauge->count; j++) {
            perfetto_begin(perfetto, "C", gauge->process, 0);
            perfetto_time(perfetto, "ts", gauge->points[j].t);
            fprintf(perfetto->stream, ",\"name\":\"%s\",\"args\":{\"value\":%" PRIu64 "}}",
                    gauge->name, gauge->points[j].value);
        }
    }
}

/* --- Flows ----------------------------------------------------------------------------------- */

static bool perfetto_is_slice(const struct perfetto *perfetto, uint32_t event)
{
    uint32_t track = perfetto->tracks.places[event].track;

    return track != TRACKS_NONE && !perfetto->tracks.tracks[track].overlaps;
}

static void perfetto_flow_point(struct perfetto *perfetto, const char *phase, uint32_t event)
{
    uint32_t track = perfetto->tracks.places[event].track;

    if (!perfetto_is_slice(perfetto, event))
        return;
    perfetto_begin(perfetto, phase, perfetto->tracks.tracks[track].process, track);
    perfetto_time(perfetto, "ts", perfetto->record->events[event].t);
    fprintf(perfetto->stream,
            ",\"id\":%" PRIu64 ",\"bp\":\"e\",\"cat\":\"write\",\"name\":\"write\"}",
            perfetto->flows);
}

static void perfetto_flow(void *argument, const struct carry *carry)
{
    struct perfetto *perfetto = argument;

    if (!perfetto_is_slice(perfetto, carry->write) || !perfetto_is_slice(perfetto, carry->command))
        return;
    perfetto->flows++;
    perfetto_flow_point(perfetto, "s", carry->write);
    perfetto_flow_point(perfetto, "t", carry->run);
    if (carry->store != carry->command)
        perfetto_flow_point(perfetto, "t", carry->store);
    perfetto_flow_point(perfetto, "f", carry->command);
}

/* --------------------------------------------------------------------------------------------- */

static void perfetto_print(struct perfetto *perfetto, const char *run)
{
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"run\":", perfetto->stream);
    output_json_word(perfetto->stream, run);
    fprintf(perfetto->stream, ",\"policy\":\"%s\"},\n\"traceEvents\":[\n",
            perfetto->record->policy->choice.name);
    perfetto->separator = "";
    perfetto_names_say(perfetto);
    perfetto_events(perfetto);
    perfetto_gauges(perfetto);
    carries_find(perfetto->record, &perfetto->links, perfetto_flow, perfetto);
    fputs("\n]}\n", perfetto->stream);
}

static int perfetto_make(const struct view_case *view, const struct record *record,
                         struct failure *failure)
{
    struct perfetto perfetto = {.record = record};
    struct output output = {0};
    uint64_t bytes;
    int status =
        output_open(&output, view->folder, record->policy->choice.name, PERFETTO_FILE, failure);

    if (status != STATUS_SUCCESS)
        return status;
    perfetto.stream = output.stream;
    tracks_arrange(&perfetto.tracks, record);
    links_find(&perfetto.links, record);
    gauges_find(&perfetto.gauges, record);
    perfetto_print(&perfetto, view->name);
    status = output_close(&output, &bytes, failure);
    if (status == STATUS_SUCCESS)
        fprintf(view->stream,
                "%s: %s events, %s flows, %.1f MB; open it in ui.perfetto.dev or "
                "chrome://tracing\n",
                output.path, NUMBER_TEXT(record->count), NUMBER_TEXT(perfetto.flows),
                (double)bytes / 1e6);
    gauges_destroy(&perfetto.gauges);
    links_destroy(&perfetto.links);
    tracks_destroy(&perfetto.tracks);
    return status;
}

int view_perfetto(const struct view_case *view, struct failure *failure)
{
    int status = STATUS_SUCCESS;

    for (size_t i = 0; i < view->count && status == STATUS_SUCCESS; i++)
        status = perfetto_make(view, &view->records[i], failure);
    return status;
}
