// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters in result.json and the events of the trace are two accounts of the same requests, so
 * they must be equal, with three exceptions that the trace itself admits:
 *
 *   a kind was not recorded (TRACE_EVENTS)      it is not compared
 *   a server dropped events                     what is here can only be less, by as many at most
 *   a server never said how many it recorded    what is here can only be less: the log is cut off
 *
 * A server that said how many it printed, and that has others here, is a difference in itself:
 * something happened to the log.
 */
#include "sums.h"

#include <inttypes.h>
#include <string.h>

#include "run/size.h"

static const struct {
    enum event_kind event;
    enum layer_kind layer;
} sums_kinds[LAYER_GUEST_KINDS] = {
    {EVENT_DATA_REQUEST, LAYER_DATA_REQUEST},
    {EVENT_DATA_RETURN, LAYER_DATA_RETURN},
    {EVENT_STORE_WRITE, LAYER_STORE_WRITE},
    {EVENT_STORE_READ, LAYER_STORE_READ},
};

/* --- Counting ------------------------------------------------------------------------------ */

static struct sums_server *sums_server_find(struct sums *sums, const char *name)
{
    for (size_t i = 0; i < sums->servers_count; i++) {
        if (strcmp(sums->servers[i].name, name) == 0)
            return &sums->servers[i];
    }
    return NULL;
}

const struct layers *sums_server_lookup(const struct sums *sums, const char *name)
{
    const struct sums_server *server = sums_server_find((struct sums *)sums, name);

    return server == NULL ? NULL : &server->layers;
}

static struct sums_server *sums_server_get(struct sums *sums, const char *name)
{
    struct sums_server *server = sums_server_find(sums, name);

    if (server != NULL || sums->servers_count == SUMS_SERVERS_MAX)
        return server;
    server = &sums->servers[sums->servers_count++];
    *server = (struct sums_server){.name = name};
    return server;
}

static void sums_guest_add(struct sums *sums, const struct event *event)
{
    struct sums_server *server = sums_server_get(sums, event->srv);

    if (event->kind == EVENT_STORE_WRITE && event->res != 0)
        return; /* what was not written no server counts */
    if (event->kind == EVENT_STORE_WRITE && event->cls == LAYER_FILE && event->t > sums->sync_end)
        sums->written_outside = true;
    for (unsigned i = 0; server != NULL && i < LAYER_GUEST_KINDS; i++) {
        if (sums_kinds[i].event == event->kind)
            layer_add(&server->layers.at[sums_kinds[i].layer][event->cls], event->len);
    }
}

/* Syncs come by their beginnings; where they overlap, the time counts once. */
static void sums_sync_add(struct sums *sums, const struct event *event)
{
    uint64_t from = event->t > sums->sync_end ? event->t : sums->sync_end;

    if (event_end(event) <= from)
        return;
    sums->sync_ns += event_end(event) - from;
    sums->sync_end = event_end(event);
}

static void sums_op_add(struct sums *sums, const struct event *event)
{
    if (strcmp(event->what, "sync") == 0)
        sums_sync_add(sums, event);
    else
        layer_add(&sums->ops, event->len);
}

static void sums_event_add(struct sums *sums, const struct event *event)
{
    switch (event->kind) {
    case EVENT_DISK_WRITE:
        layer_add(&sums->disk.at[LAYER_DISK_WRITE][event->cls], event->len);
        break;
    case EVENT_DISK_READ:
        layer_add(&sums->disk.at[LAYER_DISK_READ][event->cls], event->len);
        break;
    case EVENT_OP:
        sums_op_add(sums, event);
        break;
    default:
        sums_guest_add(sums, event);
        break;
    }
}

void sums_count(struct sums *sums, const struct record *record)
{
    *sums = (struct sums){0};
    for (size_t i = 0; i < record->count; i++)
        sums_event_add(sums, &record->events[i]);
}

/* --- Comparing ----------------------------------------------------------------------------- */

struct sums_case {
    const struct record *record;
    struct sums_verdict *verdict;
    FILE *stream;
    const char *where; /* of result.json: "layers", "servers.pager", ... */
    uint64_t missing;  /* so many events at most need not be here */
};

static void sums_say(const struct sums_case *this, const char *kind, const char *number,
                     uint64_t here, uint64_t there)
{
    fprintf(this->stream, "  differs: %s.%s.%s is %s by the trace, %s by result.json\n",
            this->where, kind, number, NUMBER_TEXT(here), NUMBER_TEXT(there));
    this->verdict->differences++;
}

/* Compares one number; WHOLE says that nothing is missing, else HERE can be less. */
static void sums_number_compare(const struct sums_case *this, const char *kind, const json_t *layer,
                                const char *name, uint64_t here)
{
    uint64_t there = record_number(layer, name, UINT64_MAX);

    this->verdict->compared++;
    if (this->missing == 0 ? here != there : here > there)
        sums_say(this, kind, name, here, there);
}

static void sums_hist_compare(const struct sums_case *this, const char *kind, const json_t *layer,
                              const struct layer *here)
{
    const json_t *hist = json_object_get(layer, "hist");

    for (unsigned i = 0; i < LAYER_CLASSES; i++) {
        char name[48];
        uint64_t there;

        snprintf(name, sizeof(name), "%" PRIu64, layer_class_floor(i));
        there = record_number(hist, name, 0);
        snprintf(name, sizeof(name), "hist.%" PRIu64, layer_class_floor(i));
        if (this->missing == 0 ? here->hist[i] != there : here->hist[i] > there)
            sums_say(this, kind, name, here->hist[i], there);
    }
}

static void sums_layer_compare(const struct sums_case *this, const json_t *layers,
                               enum layer_kind kind, const struct layer *here)
{
    const char *name = layer_kind_name(kind);
    const json_t *layer = json_object_get(layers, name);
    uint64_t there = record_number(layer, "count", 0);

    if (!json_is_object(layer))
        return;
    sums_number_compare(this, name, layer, "count", here->count);
    sums_number_compare(this, name, layer, "bytes", here->bytes);
    sums_number_compare(this, name, layer, "max", here->max);
    sums_hist_compare(this, name, layer, here);
    if (this->missing != 0 && this->missing != UINT64_MAX && here->count < there &&
        there - here->count > this->missing)
        sums_say(this, name, "count", here->count, there);
}

static bool sums_is_recorded(const struct record *record, unsigned kind)
{
    return (record->kinds >> sums_kinds[kind].event & 1) != 0;
}

/* Compares what servers count; PART tells which class, LAYER_SPLIT both. */
static void sums_guest_compare(const struct sums_case *this, const json_t *layers,
                               const struct layers *here, unsigned part)
{
    for (unsigned i = 0; i < LAYER_GUEST_KINDS; i++) {
        enum layer_kind kind = sums_kinds[i].layer;
        struct layer sum = layers_sum(here, kind);

        if (sums_is_recorded(this->record, i))
            sums_layer_compare(this, layers, kind,
                               part == LAYER_SPLIT ? &sum : &here->at[kind][part]);
        else
            this->verdict->partial = true;
    }
}

static void sums_disk_compare(const struct sums_case *this, const json_t *layers,
                              const struct sums *sums)
{
    struct layer writes = layers_sum(&sums->disk, LAYER_DISK_WRITE);
    struct layer reads = layers_sum(&sums->disk, LAYER_DISK_READ);
    struct sums_case disk = *this;

    disk.missing = this->record->disk_known ? 0 : UINT64_MAX;
    sums_layer_compare(&disk, layers, LAYER_DISK_WRITE, &writes);
    sums_layer_compare(&disk, layers, LAYER_DISK_READ, &reads);
}

/* Whether the class of each write of the disk is certain: its call is here, and no device block
   holds file data and something else. */
static bool sums_disk_is_split(const struct sums_case *this)
{
    const struct record *record = this->record;

    return this->missing == 0 && record->disk_known && record->calls != 0 &&
           (record->kinds >> EVENT_STORE_WRITE & 1) != 0 &&
           record_number(record->job, "rmw_bytes", 0) == 0;
}

/* The disk's writes of one class: that of the call by the trace, that of the place on the disk by
   result.json. */
static void sums_disk_part_compare(const struct sums_case *this, const json_t *layers,
                                   const struct sums *sums, unsigned part)
{
    if (sums_disk_is_split(this))
        sums_layer_compare(this, layers, LAYER_DISK_WRITE, &sums->disk.at[LAYER_DISK_WRITE][part]);
    else
        this->verdict->partial = true;
}

/* Compares what a server says of itself with what is here. */
static void sums_closing_compare(const struct sums_case *this, const struct console_server *server)
{
    uint64_t here = log_count(&this->record->log, server->name);

    this->verdict->compared++;
    if (!server->trace.said || server->trace.events == here)
        return;
    fprintf(this->stream, "  differs: %s printed %s events by its own account, %s are here\n",
            server->name, NUMBER_TEXT(server->trace.events), NUMBER_TEXT(here));
    this->verdict->differences++;
}

static void sums_server_compare(const struct sums *sums, const struct sums_case *general,
                                const struct console_server *server)
{
    static const struct layers none;
    const json_t *servers = json_object_get(general->record->job, "servers");
    const json_t *layers = json_object_get(servers, server->name);
    const struct layers *here = sums_server_lookup(sums, server->name);
    struct sums_case this = *general;
    char where[CONSOLE_WORD_BYTES + 16];

    if (here == NULL && !server->trace.said)
        return;
    snprintf(where, sizeof(where), "servers.%s", server->name);
    this.where = where;
    this.missing = record_missing(server);
    this.verdict->partial = this.verdict->partial || this.missing != 0;
    sums_closing_compare(&this, server);
    sums_guest_compare(&this, layers, here == NULL ? &none : here, LAYER_SPLIT);
}

/* The server under test, split into classes. */
static void sums_split_compare(const struct sums *sums, const struct sums_case *general)
{
    static const char *const wheres[] = {
        [LAYER_FILE] = "layers_file", [LAYER_META] = "layers_meta", [LAYER_SPLIT] = "layers"};
    const json_t *job = general->record->job;
    const char *name = json_string_value(json_object_get(job, "server"));
    const struct layers *here = name == NULL ? NULL : sums_server_lookup(sums, name);
    const struct console_server *server =
        here == NULL ? NULL : console_server_lookup(&general->record->log.console, name);

    if (!json_is_object(json_object_get(json_object_get(job, "layers"), "data_return")))
        general->verdict->partial = true;
    for (unsigned part = 0; part <= LAYER_SPLIT; part++) {
        struct sums_case this = *general;
        const json_t *layers = json_object_get(job, wheres[part]);

        this.where = wheres[part];
        if (part == LAYER_SPLIT)
            sums_disk_compare(&this, layers, sums);
        this.missing = server == NULL ? UINT64_MAX : record_missing(server);
        if (here != NULL)
            sums_guest_compare(&this, layers, here, part);
        if (part != LAYER_SPLIT)
            sums_disk_part_compare(&this, layers, sums, part);
    }
}

/* A store in memory asks no disk for anything; result.json has null for the disk's layers then. */
static bool sums_has_disk(const struct record *record)
{
    const json_t *layers = json_object_get(record->job, "layers");

    return !json_is_null(json_object_get(layers, "disk_write"));
}

static void sums_coverage_compare(const struct sums_case *this)
{
    uint64_t uncovered = this->record->uncovered;

    if (!sums_has_disk(this->record))
        return;
    if (!this->record->disk_known || this->record->calls == 0) {
        this->verdict->partial = true;
        return;
    }
    this->verdict->compared++;
    if (uncovered == 0)
        return;
    fprintf(this->stream,
            "  differs: %s store call%s more than the disk was asked for in their time\n",
            NUMBER_TEXT(uncovered), uncovered == 1 ? " wants" : "s want");
    this->verdict->differences++;
}

void sums_compare(const struct sums *sums, const struct record *record,
                  struct sums_verdict *verdict, FILE *stream)
{
    const struct console *console = &record->log.console;
    struct sums_case general = {.record = record, .verdict = verdict, .stream = stream};

    if (record->log.damaged_count != 0 && console->end.said) {
        fprintf(stream, "  differs: %zu damaged line%s in a log that is whole\n",
                record->log.damaged_count, record->log.damaged_count == 1 ? "" : "s");
        verdict->differences++;
    }
    for (size_t i = 0; i < console->servers_count; i++)
        sums_server_compare(sums, &general, &console->servers[i]);
    sums_split_compare(sums, &general);
    sums_coverage_compare(&general);
}
