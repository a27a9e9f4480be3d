// SPDX-License-Identifier: GPL-2.0-or-later
/* A column for each key of docs/trace.md, in its order, with the policy in front; RFC 4180. */
#include "view.h"

#include <inttypes.h>
#include <string.h>

static void csv_number_print(const struct event *event, uint32_t key, uint64_t number, FILE *stream)
{
    if ((event->keys & key) != 0)
        fprintf(stream, ",%" PRIu64, number);
    else
        fputc(',', stream);
}

static void csv_word_print(const char *word, FILE *stream)
{
    bool quoted = strpbrk(word, ",\"\r\n") != NULL;

    fputs(quoted ? ",\"" : ",", stream);
    for (; *word != '\0'; word++) {
        if (*word == '"')
            fputc('"', stream);
        fputc(*word, stream);
    }
    if (quoted)
        fputc('"', stream);
}

static void csv_row_print(const char *policy, const struct event *event, FILE *stream)
{
    fputs(policy, stream);
    csv_number_print(event, EVENT_HAS_T, event->t, stream);
    csv_number_print(event, EVENT_HAS_DUR, event->dur, stream);
    csv_word_print(event_kind_name(event->kind), stream);
    csv_word_print(event->srv, stream);
    csv_word_print(event->thr, stream);
    csv_number_print(event, EVENT_HAS_REQ, event->req, stream);
    csv_number_print(event, EVENT_HAS_BY, event->by, stream);
    csv_number_print(event, EVENT_HAS_OBJ, event->obj, stream);
    csv_number_print(event, EVENT_HAS_OFF, event->off, stream);
    csv_number_print(event, EVENT_HAS_LEN, event->len, stream);
    csv_number_print(event, EVENT_HAS_SEC, event->sec, stream);
    csv_word_print((event->keys & EVENT_HAS_CLS) != 0 ? layer_class_name(event->cls) : "", stream);
    csv_word_print(event->what, stream);
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
    return failure->status;
}
