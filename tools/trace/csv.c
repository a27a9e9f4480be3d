// SPDX-License-Identifier: GPL-2.0-or-later
/* A column for each key of docs/trace.md, in its order, with the policy in front. */
#include "view.h"

#include <inttypes.h>

static void csv_number_print(const struct event *event, uint32_t key, uint64_t number, FILE *stream)
{
    if ((event->keys & key) != 0)
        fprintf(stream, ",%" PRIu64, number);
    else
        fputc(',', stream);
}

static void csv_row_print(const char *policy, const struct event *event, FILE *stream)
{
    fputs(policy, stream);
    csv_number_print(event, EVENT_HAS_T, event->t, stream);
    csv_number_print(event, EVENT_HAS_DUR, event->dur, stream);
    fprintf(stream, ",%s,%s,%s", event_kind_name(event->kind), event->srv, event->thr);
    csv_number_print(event, EVENT_HAS_REQ, event->req, stream);
    csv_number_print(event, EVENT_HAS_BY, event->by, stream);
    csv_number_print(event, EVENT_HAS_OBJ, event->obj, stream);
    csv_number_print(event, EVENT_HAS_OFF, event->off, stream);
    csv_number_print(event, EVENT_HAS_LEN, event->len, stream);
    csv_number_print(event, EVENT_HAS_SEC, event->sec, stream);
    fprintf(stream, ",%s,%s",
            (event->keys & EVENT_HAS_CLS) != 0 ? layer_class_name(event->cls) : "", event->what);
    csv_number_print(event, EVENT_HAS_WAIT, event->wait, stream);
    csv_number_print(event, EVENT_HAS_N, event->n, stream);
    csv_number_print(event, EVENT_HAS_RES, event->res, stream);
    fputc('\n', stream);
}

int view_csv(const struct view_case *view, struct failure *failure)
{
    fputs("policy,t,dur,kind,srv,thr,req,by,obj,off,len,sec,cls,what,wait,n,res\n", view->stream);
    for (size_t i = 0; i < view->count; i++) {
        const struct record *record = &view->records[i];

        for (size_t j = 0; j < record->count; j++)
            csv_row_print(record->policy->choice.name, &record->events[j], view->stream);
    }
    if (fflush(view->stream) != 0 || ferror(view->stream))
        return failure_set(failure, STATUS_BAD_INPUT, "the rows cannot be written");
    return STATUS_SUCCESS;
}
