// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tree: what a request was done for stands above it, what was done for it below it and further to
 * the right. Three times stand in front of each row: when it began, how long it took, and how much
 * of that is its own, which is what no row below it accounts for. The gap is the time in which the
 * request waited for somebody to begin: from the end of what went before it, if that was over.
 */
#include "view.h"

#include <inttypes.h>
#include <string.h>

#include "kin.h"
#include "run/size.h"

#define REQUEST_CHILDREN_MAX 4u   /* of one kind, of one request */
#define REQUEST_WRITERS_MAX  4u   /* of one data_return */
#define REQUEST_ROWS_MAX     100u /* in all */
#define REQUEST_DEPTH_MAX    12u

struct request {
    const struct view_case *view;
    const struct record *record;
    size_t asked;   /* place of the request that is shown */
    uint64_t start; /* of the first row */
    unsigned rows;
    bool cut; /* not all is shown */
    uint64_t own[EVENT_KINDS];
};

/* What a row's gap counts from. */
struct request_before {
    const struct event *parent;
    const struct event *sibling;
};

/* --- Rows ---------------------------------------------------------------------------------- */

static double request_us(uint64_t ns)
{
    return (double)ns / 1000;
}

/* The part of the event's time that none of what is below it covers. A window of a sync covers less
   than the returns below it, which end later: they are CHILDREN's, too. */
static uint64_t request_own_of(const struct record *record, const struct event *event,
                               const struct kin *children)
{
    uint64_t at = event->t;
    uint64_t own = 0;

    for (size_t i = 0; i < children->count && at < event_end(event); i++) {
        const struct event *child = &record->events[children->at[i]];

        if (child->t >= event_end(event))
            break;
        if (child->t > at)
            own += child->t - at;
        if (event_end(child) > at)
            at = event_end(child);
    }
    return at < event_end(event) ? own + (event_end(event) - at) : own;
}

static uint64_t request_own(const struct record *record, size_t place, const struct kin *children)
{
    struct kin below = {0};
    uint64_t own;

    for (size_t i = 0; i < children->count; i++) {
        struct kin returns;

        kin_add(&below, children->at[i]);
        if (record->events[children->at[i]].kind != EVENT_LOCK_REQUEST)
            continue;
        kin_children(record, children->at[i], &returns);
        for (size_t j = 0; j < returns.count; j++)
            kin_add(&below, returns.at[j]);
        kin_destroy(&returns);
    }
    kin_sort(&below);
    own = request_own_of(record, &record->events[place], &below);
    kin_destroy(&below);
    return own;
}

static void request_gap_print(const struct event *event, const struct request_before *before,
                              FILE *stream)
{
    uint64_t from = 0;

    if (before->parent != NULL)
        from =
            event->t >= event_end(before->parent) ? event_end(before->parent) : before->parent->t;
    if (before->sibling != NULL && event_end(before->sibling) > from)
        from = event_end(before->sibling);
    if ((before->parent == NULL && before->sibling == NULL) || event->t < from)
        fprintf(stream, "%11s  ", "-");
    else
        fprintf(stream, "%11.1f  ", request_us(event->t - from));
}

static void request_place_print(const struct event *event, FILE *stream)
{
    if ((event->keys & EVENT_HAS_OBJ) != 0)
        fprintf(stream, " object %" PRIu64, event->obj);
    if ((event->keys & EVENT_HAS_LEN) != 0)
        fprintf(stream, " %s bytes", NUMBER_TEXT(event->len));
    if ((event->keys & EVENT_HAS_OFF) != 0)
        fprintf(stream, " at %s", NUMBER_TEXT(event->off));
    if ((event->keys & EVENT_HAS_SEC) != 0)
        fprintf(stream, " at sector %s", NUMBER_TEXT(event->sec));
}

static void request_details_print(const struct event *event, FILE *stream)
{
    if (event->what[0] != '\0')
        fprintf(stream, " %s", event->what);
    request_place_print(event, stream);
    if (event->kind < EVENT_GUEST_KINDS && (event->keys & EVENT_HAS_CLS) != 0)
        fprintf(stream, " %s", layer_class_name(event->cls));
    if (event->kind == EVENT_MEMORY)
        fprintf(stream, " %s free pages", NUMBER_TEXT(event->n));
    else if ((event->keys & EVENT_HAS_N) != 0)
        fprintf(stream, " of %" PRIu64 " return%s", event->n, event->n == 1 ? "" : "s");
    if ((event->keys & EVENT_HAS_WAIT) != 0)
        fprintf(stream, " granted after %.1f", request_us(event->wait));
    if (event->res != 0)
        fprintf(stream, " error %" PRIu64 " (%s)", event->res, strerror((int)event->res));
}

static void request_name_print(const struct event *event, unsigned depth, FILE *stream)
{
    fprintf(stream, "%*s%s", (int)(2 * depth), "", event_kind_name(event->kind));
    if ((event->keys & EVENT_HAS_REQ) != 0)
        fprintf(stream, " %" PRIu64 " %s (%s)", event->req, event->srv, event->thr);
}

static void request_row_print(struct request *request, size_t place, unsigned depth, uint64_t own,
                              const struct request_before *before)
{
    const struct event *event = &request->record->events[place];
    FILE *stream = request->view->stream;
    bool disk = event->kind >= EVENT_GUEST_KINDS;

    request->rows++;
    request->own[event->kind] += own;
    fputc(place == request->asked ? '>' : ' ', stream);
    if ((event->keys & EVENT_HAS_T) == 0)
        fprintf(stream, "%11s %11s %11s %11s  ", "?", "?", "?", "?");
    else {
        fprintf(stream, "%11.1f %s%*.1f %11.1f ", request_us(event->t - request->start),
                disk ? "<" : "", disk ? 10 : 11, request_us(event->dur), request_us(own));
        request_gap_print(event, before, stream);
    }
    request_name_print(event, depth, stream);
    request_details_print(event, stream);
    fputc('\n', stream);
}

/* Says that COUNT further rows of KIND were left out. */
static void request_rest_print(struct request *request, size_t count, enum event_kind kind,
                               unsigned depth)
{
    request->cut = true;
    fprintf(request->view->stream, "%51s%*s... %s more %s\n", "", (int)(2 * depth), "",
            NUMBER_TEXT(count), event_kind_name(kind));
}

/* --- Down ---------------------------------------------------------------------------------- */

static void request_down(struct request *request, size_t place, unsigned depth,
                         const struct request_before *before);

/* Whether no further row has room, behind so many of its kind. */
static bool request_is_full(const struct request *request, size_t shown, unsigned depth)
{
    return shown == REQUEST_CHILDREN_MAX || request->rows >= REQUEST_ROWS_MAX ||
           depth >= REQUEST_DEPTH_MAX;
}

/* How many of the children from FIRST on are of KIND. */
static size_t request_kind_count(const struct request *request, const struct kin *children,
                                 size_t first, enum event_kind kind)
{
    size_t count = 0;

    for (size_t i = first; i < children->count; i++)
        count += request->record->events[children->at[i]].kind == kind;
    return count;
}

/* At most REQUEST_CHILDREN_MAX of each kind. */
static void request_children_print(struct request *request, size_t place, unsigned depth,
                                   const struct kin *children)
{
    struct request_before before = {.parent = &request->record->events[place]};
    size_t shown[EVENT_KINDS] = {0};

    for (size_t i = 0; i < children->count; i++) {
        const struct event *child = &request->record->events[children->at[i]];
        size_t *count = &shown[child->kind];

        if (*count <= REQUEST_CHILDREN_MAX && request_is_full(request, *count, depth)) {
            request_rest_print(request, request_kind_count(request, children, i, child->kind),
                               child->kind, depth);
            *count = REQUEST_CHILDREN_MAX;
        } else if (*count < REQUEST_CHILDREN_MAX) {
            request_down(request, children->at[i], depth, &before);
        }
        ++*count;
        before.sibling = child;
    }
}

/* The row at PLACE and all below it. */
static void request_down(struct request *request, size_t place, unsigned depth,
                         const struct request_before *before)
{
    struct kin children;

    kin_children(request->record, place, &children);
    request_row_print(request, place, depth, request_own(request->record, place, &children),
                      before);
    request_children_print(request, place, depth + 1, &children);
    kin_destroy(&children);
}

/* --- Up ------------------------------------------------------------------------------------ */

/* A single row: its own time, but nothing below it. */
static void request_single_print(struct request *request, size_t place, unsigned depth,
                                 const struct request_before *before)
{
    struct kin children;

    kin_children(request->record, place, &children);
    request_row_print(request, place, depth, request_own(request->record, place, &children),
                      before);
    kin_destroy(&children);
}

/* The places from the request at PLACE up to what has nothing above it; returns how many. */
static unsigned request_line(const struct record *record, size_t place,
                             size_t line[REQUEST_DEPTH_MAX])
{
    unsigned count = 0;

    while (place != SIZE_MAX && count < REQUEST_DEPTH_MAX) {
        line[count++] = place;
        place = kin_parent(record, place);
    }
    return count;
}

/* The line above the request at PLACE, from the top down, and the request itself if LAST says so.
   Returns the depth behind it. */
static unsigned request_line_print(struct request *request, size_t place, unsigned depth, bool last)
{
    size_t line[REQUEST_DEPTH_MAX];
    unsigned count = request_line(request->record, place, line);
    struct request_before before = {0};

    for (unsigned i = count; i-- > (last ? 0 : 1);) {
        request_single_print(request, line[i], depth++, &before);
        before.parent = &request->record->events[line[i]];
    }
    return depth;
}

/* Those who wrote the bytes of a data_return, and the sync that asked for it. */
static void request_sources_print(struct request *request, size_t brought)
{
    size_t window = kin_window(request->record, brought);
    struct kin writers;

    kin_writers(request->record, brought, &writers);
    for (size_t i = 0; i < writers.count && i < REQUEST_WRITERS_MAX; i++)
        request_line_print(request, writers.at[i], 0, true);
    if (writers.count > REQUEST_WRITERS_MAX)
        request_rest_print(request, writers.count - REQUEST_WRITERS_MAX,
                           request->record->events[writers.at[0]].kind, 0);
    if (window != SIZE_MAX)
        request_line_print(request, window, 0, true);
    kin_destroy(&writers);
}

/* The earliest row of those that will be shown. */
static uint64_t request_start_find(const struct request *request, size_t top)
{
    const struct record *record = request->record;
    uint64_t start = record->events[top].t;
    struct kin writers = {0};
    size_t line[REQUEST_DEPTH_MAX];
    size_t first = top;

    if (record->events[top].kind == EVENT_DATA_RETURN) {
        kin_writers(record, top, &writers);
        first = writers.count != 0 ? writers.at[0] : kin_window(record, top);
    }
    if (first != SIZE_MAX) {
        unsigned count = request_line(record, first, line);

        start = record->events[line[count - 1]].t;
    }
    kin_destroy(&writers);
    return start;
}

/* --- The view ------------------------------------------------------------------------------ */

static void request_totals_print(const struct request *request)
{
    FILE *stream = request->view->stream;
    const char *separator = "";

    fprintf(stream, "own times%s: ", request->cut ? " of what is shown" : "");
    for (unsigned i = 0; i < EVENT_KINDS; i++) {
        if (request->own[i] == 0)
            continue;
        fprintf(stream, "%s%s%s %.1f", separator, event_kind_name((enum event_kind)i),
                i >= EVENT_GUEST_KINDS ? " at most" : "", request_us(request->own[i]));
        separator = ", ";
    }
    fputs("\n>: the request asked for\n", stream);
    if (request->own[EVENT_DISK_WRITE] != 0 || request->own[EVENT_DISK_READ] != 0)
        fputs("<: at most so long: QEMU says when a command came, not when it ended\n", stream);
}

static void request_show(struct request *request)
{
    FILE *stream = request->view->stream;
    const struct record *record = request->record;
    size_t line[REQUEST_DEPTH_MAX];
    unsigned count = request_line(record, request->asked, line);
    size_t top = line[count - 1];
    struct request_before before = {0};
    unsigned depth;

    request->start = request_start_find(request, top);
    fprintf(stream, "run %s, policy %s; microseconds, from %.1f of the guest's clock on\n\n",
            request->view->name, record->policy->choice.name, request_us(request->start));
    fprintf(stream, " %11s %11s %11s %11s  request\n", "start", "time", "own", "gap");
    if (record->events[top].kind == EVENT_DATA_RETURN)
        request_sources_print(request, top);
    depth = request_line_print(request, request->asked, 0, false);
    before.parent = count > 1 ? &record->events[line[1]] : NULL;
    request_down(request, request->asked, depth, &before);
    fputc('\n', stream);
    request_totals_print(request);
}

/* The place of the request that is asked for, or SIZE_MAX; COUNT says how many there are. */
static size_t request_find(const struct view_case *view, const struct record *record, size_t *count)
{
    size_t place = SIZE_MAX;

    *count = 0;
    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];

        if ((event->keys & EVENT_HAS_REQ) == 0 || event->req != view->request ||
            (view->server != NULL && strcmp(view->server, event->srv) != 0))
            continue;
        place = i;
        ++*count;
    }
    return place;
}

static int request_refuse(const struct view_case *view, struct failure *failure)
{
    const struct record *record = &view->records[0];
    char text[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < record->count && used < sizeof(text) - 1; i++) {
        const struct event *event = &record->events[i];

        if ((event->keys & EVENT_HAS_REQ) == 0 || event->req != view->request)
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s of %s",
                                 used == 0 ? "" : ", ", event_kind_name(event->kind), event->srv);
    }
    if (used == 0)
        return failure_set(failure, STATUS_BAD_INPUT, "request %" PRIu64 " is not in the trace",
                           view->request);
    return failure_set(failure, STATUS_BAD_INPUT,
                       "request %" PRIu64 " is one of: %s; choose with SERVER=", view->request,
                       text);
}

int view_request(const struct view_case *view, struct failure *failure)
{
    struct request request = {.view = view, .record = &view->records[0]};
    size_t count;

    if (view->request == 0)
        return failure_set(
            failure, STATUS_BAD_INPUT,
            "which request? REQUEST=n, a number of the column req in VIEW=csv, behind req= "
            "in serial.log, or on the page of VIEW=html");
    if (view->count != 1)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "the run has several policies: choose one with POLICY=");
    request.asked = request_find(view, request.record, &count);
    if (count != 1)
        return request_refuse(view, failure);
    request_show(&request);
    return STATUS_SUCCESS;
}
