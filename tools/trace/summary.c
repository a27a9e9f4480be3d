// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table has the runner's form, a row for each policy, but a group for each server and class:
 * that is what the trace knows and the runner's table does not show.
 */
#include "view.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "run/size.h"
#include "run/table.h"
#include "sums.h"

static const enum layer_kind summary_guest_kinds[] = {LAYER_DATA_REQUEST, LAYER_STORE_READ,
                                                      LAYER_DATA_RETURN, LAYER_STORE_WRITE};
static const enum layer_kind summary_disk_kinds[] = {LAYER_DISK_READ, LAYER_DISK_WRITE};

struct summary {
    const struct view_case *view;
    const struct sums *sums;
    const char *server; /* NULL: the disk */
    enum layer_class class;
};

static struct layer summary_layer(const struct summary *summary, size_t boot, enum layer_kind kind)
{
    static const struct layers none;
    const struct layers *layers = &summary->sums[boot].disk;

    if (summary->server != NULL)
        layers = sums_server_lookup(&summary->sums[boot], summary->server);
    if (layers == NULL)
        layers = &none;
    return layers->at[kind][summary->class];
}

/* What rates are over: the syncs, as far as all file data was written in them. */
static uint64_t summary_time(const struct summary *summary, size_t boot, enum layer_kind kind)
{
    const struct sums *sums = &summary->sums[boot];

    return layer_kind_is_write(kind) && summary->class == LAYER_FILE && !sums->written_outside
               ? sums->sync_ns / 1000
               : 0;
}

static void summary_kind_print(const struct summary *summary, enum layer_kind kind)
{
    const char *name = layer_kind_name(kind);

    for (size_t i = 0; i < summary->view->count; i++) {
        struct layer layer = summary_layer(summary, i, kind);

        if (layer.count == 0)
            continue;
        table_layer_print(name, summary->view->records[i].policy->choice.name, &layer,
                          summary_time(summary, i, kind), summary->view->stream);
        name = "";
    }
}

static bool summary_is_empty(const struct summary *summary, const enum layer_kind *kinds,
                             size_t count)
{
    for (size_t i = 0; i < summary->view->count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (summary_layer(summary, i, kinds[j]).count != 0)
                return false;
        }
    }
    return true;
}

static void summary_group_print(struct summary *summary, const enum layer_kind *kinds, size_t count)
{
    static const char *const classes[] = {"file data", "the rest"};

    for (unsigned class = 0; class < LAYER_SPLIT; class ++) {
        summary->class = (enum layer_class) class;
        if (summary_is_empty(summary, kinds, count))
            continue;
        fprintf(summary->view->stream, "%s, %s:\n",
                summary->server == NULL ? "disk" : summary->server, classes[class]);
        for (size_t i = 0; i < count; i++)
            summary_kind_print(summary, kinds[i]);
        fputc('\n', summary->view->stream);
    }
}

static void summary_ops_print(const struct summary *summary)
{
    const char *name = "op";

    for (size_t i = 0; i < summary->view->count; i++) {
        if (summary->sums[i].ops.count == 0)
            continue;
        table_layer_print(name, summary->view->records[i].policy->choice.name,
                          &summary->sums[i].ops, 0, summary->view->stream);
        name = "";
    }
    if (name[0] == '\0')
        fputc('\n', summary->view->stream);
}

/* All servers that any boot has events of, in the order of the first. */
static void summary_servers_print(struct summary *summary)
{
    const struct sums *sums = summary->sums;

    for (size_t i = 0; i < summary->view->count; i++) {
        for (size_t j = 0; j < sums[i].servers_count; j++) {
            bool shown = false;

            for (size_t k = 0; k < i; k++)
                shown = shown || sums_server_lookup(&sums[k], sums[i].servers[j].name) != NULL;
            summary->server = sums[i].servers[j].name;
            if (!shown)
                summary_group_print(summary, summary_guest_kinds, LAYER_GUEST_KINDS);
        }
    }
    summary->server = NULL;
    summary_group_print(summary, summary_disk_kinds, 2);
}

static void summary_clock_print(const struct record *record, FILE *stream)
{
    const struct align *align = &record->align;

    if (!align->known)
        fprintf(stream, "  clocks: the disk's commands have no times that could be compared\n");
    else if (align->miss_ns != 0)
        fprintf(stream, "  clocks: %s commands contradict each other by %.1f us\n",
                NUMBER_TEXT(align->pairs), align->miss_ns / 1000);
    else
        fprintf(stream,
                "  clocks: from %s commands, the disk's times are right to %.1f us; the guest's "
                "clock is\n  %.4f %% %s than the host's (to %.4f %%)\n",
                NUMBER_TEXT(align->pairs), align->uncertainty_ns / 1000,
                (align->drift < 0 ? -align->drift : align->drift) * 100,
                align->drift < 0 ? "slower" : "faster", align->drift_tolerance * 100);
}

static void summary_table_print(struct summary *summary)
{
    const struct view_case *view = summary->view;

    for (size_t i = 0; i < view->count; i++) {
        const struct record *record = &view->records[i];

        fprintf(view->stream, "run %s, policy %s: %s events, %s commands of the disk\n", view->name,
                record->policy->choice.name, NUMBER_TEXT(record->log.count),
                NUMBER_TEXT(record->count - record->log.count));
        summary_clock_print(record, view->stream);
    }
    fputc('\n', view->stream);
    table_columns_print(view->stream);
    summary_ops_print(summary);
    summary_servers_print(summary);
}

static void summary_compare(const struct summary *summary, struct sums_verdict *verdict)
{
    const struct view_case *view = summary->view;

    for (size_t i = 0; i < view->count; i++) {
        unsigned before = verdict->differences;

        fprintf(view->stream, "policy %s against result.json:\n",
                view->records[i].policy->choice.name);
        sums_compare(&summary->sums[i], &view->records[i], verdict, view->stream);
        if (verdict->differences == before)
            fprintf(view->stream, "  no difference\n");
    }
}

int view_summary(const struct view_case *view, struct failure *failure)
{
    struct sums *sums = calloc(view->count, sizeof(*sums));
    struct summary summary = {.view = view, .sums = sums};
    struct sums_verdict verdict = {0};

    if (sums == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i < view->count; i++)
        sums_count(&sums[i], &view->records[i]);
    summary_table_print(&summary);
    summary_compare(&summary, &verdict);
    free(sums);
    if (verdict.differences != 0)
        return failure_set(
            failure, STATUS_FAILED,
            "the trace and result.json differ in %u places; %u numbers were compared",
            verdict.differences, verdict.compared);
    fprintf(view->stream, "machbed: status 0: the trace and result.json agree in %u numbers%s\n",
            verdict.compared,
            verdict.partial ? "; a part of the trace is not there to compare" : "");
    return STATUS_SUCCESS;
}
