// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libbabeltrace2 works as a graph: its component source.ctf.fs opens the folder and has a port for
 * each stream; behind each port is a sink of ours, which turns messages into events. There is no
 * muxer between: events are sorted by their beginnings anyway, and a stream that cannot be read on
 * does not keep the others from it.
 *
 * But a file that is cut off, or whose packets do not begin as packets do, makes source.ctf.fs
 * refuse the whole folder. So the files are looked through before (packets.c).
 */
#include "babeltrace.h"

#include <babeltrace2/babeltrace.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "packets.h"
#include "run/size.h"

#define BABELTRACE_CAUSE_BYTES 160
#define PLURAL(count)          ((count) == 1 ? "" : "s")
#define IS(count)              ((count) == 1 ? "is" : "are")

struct babeltrace {
    struct record *record;
    uint64_t nevents;  /* that were read */
    uint64_t nbroken;  /* of these, those that are none of ours */
    uint64_t nstopped; /* streams that could not be read to their ends */
    uint64_t ndiscarded;
    uint64_t nlost; /* packets */
    char cause[BABELTRACE_CAUSE_BYTES];
};

/* --- An event -------------------------------------------------------------------------------- */

static error_t babeltrace_number_take(struct event *event, const char *name, const bt_field *field)
{
    return event_number_put(event, name, bt_field_integer_unsigned_get_value(field));
}

/* The word that stands for an enumeration's value. */
static error_t babeltrace_label_take(struct event *event, const char *name, const bt_field *field,
                                     struct names *names)
{
    bt_field_class_enumeration_mapping_label_array labels;
    uint64_t count = 0;

    if (bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &count) !=
            BT_FIELD_ENUMERATION_GET_MAPPING_LABELS_STATUS_OK ||
        count != 1)
        return EINVAL;
    return event_word_put(event, name, labels[0], names);
}

static error_t babeltrace_field_take(struct event *event, const char *name, const bt_field *field,
                                     struct names *names)
{
    switch (bt_field_get_class_type(field)) {
    case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
        return babeltrace_number_take(event, name, field);
    case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
        return babeltrace_label_take(event, name, field, names);
    case BT_FIELD_CLASS_TYPE_STRING:
        return event_word_put(event, name, bt_field_string_get_value(field), names);
    default:
        return EINVAL;
    }
}

/* Takes all members of FIELD, a structure or null, that have a name of one of our keys. */
static error_t babeltrace_fields_take(struct event *event, const bt_field *field,
                                      struct names *names)
{
    const bt_field_class *class;
    error_t error = 0;

    if (field == NULL)
        return EINVAL;
    class = bt_field_borrow_class_const(field);
    for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(class) && error == 0; i++) {
        const bt_field_class_structure_member *member =
            bt_field_class_structure_borrow_member_by_index_const(class, i);

        error = babeltrace_field_take(
            event, bt_field_class_structure_member_get_name(member),
            bt_field_structure_borrow_member_field_by_index_const(field, i), names);
    }
    return error;
}

/* CTF knows when an event ended, and how long it took. */
static error_t babeltrace_begin_take(struct event *event, const bt_message *message)
{
    const bt_clock_snapshot *clock = bt_message_event_borrow_default_clock_snapshot_const(message);
    uint64_t end = bt_clock_snapshot_get_value(clock);

    return end < event->dur ? EINVAL : event_number_put(event, "t", end - event->dur);
}

static error_t babeltrace_event_read(struct event *event, const bt_message *message,
                                     struct names *names)
{
    const bt_event *from = bt_message_event_borrow_event_const(message);
    const bt_packet *packet = bt_event_borrow_packet_const(from);
    const char *kind = bt_event_class_get_name(bt_event_borrow_class_const(from));
    error_t error;

    event_init(event);
    error = kind == NULL ? EINVAL : event_word_put(event, "kind", kind, names);
    if (error == 0)
        error = babeltrace_fields_take(event, bt_packet_borrow_context_field_const(packet), names);
    if (error == 0)
        error = babeltrace_fields_take(event, bt_event_borrow_payload_field_const(from), names);
    if (error == 0)
        error = babeltrace_begin_take(event, message);
    return error == 0 && event_is_whole(event) ? 0 : EINVAL;
}

static void babeltrace_event_take(struct babeltrace *this, const bt_message *message)
{
    struct log *log = &this->record->log;
    struct event event;

    this->nevents++;
    if (babeltrace_event_read(&event, message, &log->names) != 0) {
        this->nbroken++;
        return;
    }
    event.line = this->nevents;
    log_event_add(log, &event);
}

/* --- A stream -------------------------------------------------------------------------------- */

static void babeltrace_message_take(struct babeltrace *this, const bt_message *message)
{
    uint64_t count = 0;

    switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_EVENT:
        babeltrace_event_take(this, message);
        break;
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        bt_message_discarded_events_get_count(message, &count);
        this->ndiscarded += count;
        break;
    case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
        bt_message_discarded_packets_get_count(message, &count);
        this->nlost += count;
        break;
    default:
        break;
    }
}

/* Keeps the innermost cause of what went wrong last, the first time that something does. Returns
   whether something did. */
static bool babeltrace_error_take(struct babeltrace *this)
{
    const bt_error *error = bt_current_thread_take_error();

    if (error == NULL)
        return false;
    if (this->cause[0] == '\0' && bt_error_get_cause_count(error) != 0)
        snprintf(this->cause, sizeof(this->cause), "%s",
                 bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
    bt_error_release(error);
    return true;
}

static bt_graph_simple_sink_component_initialize_func_status
babeltrace_sink_init(bt_message_iterator *iterator, void *data)
{
    (void)iterator;
    (void)data;
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

/* A stream that cannot be read on is over, and the graph goes on. Where a file ends within an
   event, source.ctf.fs calls that the stream's end, and leaves an error behind, with which the
   library's next step, in another stream, would abort the program. */
static bt_graph_simple_sink_component_consume_func_status
babeltrace_sink_consume(bt_message_iterator *iterator, void *data)
{
    struct babeltrace *this = data;
    bt_message_array_const messages;
    uint64_t count = 0;
    bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages, &count);
    bool failed = babeltrace_error_take(this);

    switch (status) {
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
        break;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
        this->nstopped += failed;
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
    default:
        this->nstopped++;
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
    }
    for (uint64_t i = 0; i < count; i++) {
        babeltrace_message_take(this, messages[i]);
        bt_message_put_ref(messages[i]);
    }
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* --- The graph ------------------------------------------------------------------------------- */

/* Adds source.ctf.fs for FOLDER to GRAPH; NULL: it cannot be, the error says why. */
static const bt_component_source *babeltrace_source_add(bt_graph *graph, const char *folder)
{
    const bt_plugin *plugin = NULL;
    const bt_component_class_source *class = NULL;
    const bt_component_source *source = NULL;
    bt_value *parameters = bt_value_map_create();
    bt_value *inputs = NULL;

    if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, &plugin) ==
        BT_PLUGIN_FIND_STATUS_OK)
        class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
    if (class != NULL && parameters != NULL &&
        bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) ==
            BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
        bt_value_array_append_string_element(inputs, folder) ==
            BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK &&
        bt_graph_add_source_component(graph, class, "ctf", parameters, BT_LOGGING_LEVEL_NONE,
                                      &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
        source = NULL;
    bt_value_put_ref(parameters);
    bt_plugin_put_ref(plugin);
    return source;
}

static bool babeltrace_port_connect(struct babeltrace *this, bt_graph *graph,
                                    const bt_component_source *source, uint64_t port)
{
    const bt_component_sink *sink = NULL;
    char name[32];

    snprintf(name, sizeof(name), "sink%" PRIu64, port);
    return bt_graph_add_simple_sink_component(graph, name, babeltrace_sink_init,
                                              babeltrace_sink_consume, NULL, this,
                                              &sink) == BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
           bt_graph_connect_ports(
               graph, bt_component_source_borrow_output_port_by_index_const(source, port),
               bt_component_sink_borrow_input_port_by_index_const(sink, 0),
               NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
}

/* Returns whether the graph could be made, and had something to do. */
static bool babeltrace_graph_run(struct babeltrace *this, const char *folder)
{
    bt_graph *graph = bt_graph_create(0);
    const bt_component_source *source = graph == NULL ? NULL : babeltrace_source_add(graph, folder);
    uint64_t count = source == NULL ? 0 : bt_component_source_get_output_port_count(source);
    bool ok = source != NULL;

    for (uint64_t i = 0; i < count && ok; i++)
        ok = babeltrace_port_connect(this, graph, source, i);
    if (ok && count != 0 && bt_graph_run(graph) != BT_GRAPH_RUN_STATUS_OK)
        this->nstopped++;
    if (!ok || this->nstopped != 0)
        babeltrace_error_take(this);
    bt_graph_put_ref(graph);
    return ok;
}

/* --- What is missing ------------------------------------------------------------------------- */

static void babeltrace_files_warn(struct record *record, const struct packets *packets)
{
    if (packets->nbad != 0)
        record_warn(record, "%s damaged packet%s of CTF %s left out: %s",
                    NUMBER_TEXT(packets->nbad), PLURAL(packets->nbad), IS(packets->nbad),
                    packets->bad);
    if (packets->ncut != 0)
        record_warn(record, "%s file%s of CTF %s cut off: %s", NUMBER_TEXT(packets->ncut),
                    PLURAL(packets->ncut), IS(packets->ncut), packets->cut);
}

static void babeltrace_warn(const struct babeltrace *this)
{
    struct record *record = this->record;

    if (this->nbroken != 0)
        record_warn(record, "%s event%s of CTF %s left out, not as docs/trace.md says",
                    NUMBER_TEXT(this->nbroken), PLURAL(this->nbroken), IS(this->nbroken));
    if (this->nstopped != 0)
        record_warn(record, "%s stream%s of CTF cannot be read to the end: %s",
                    NUMBER_TEXT(this->nstopped), PLURAL(this->nstopped), this->cause);
    if (this->ndiscarded != 0)
        record_warn(record, "%s event%s %s discarded, say CTF's own counters",
                    NUMBER_TEXT(this->ndiscarded), PLURAL(this->ndiscarded),
                    this->ndiscarded == 1 ? "was" : "were");
    if (this->nlost != 0)
        record_warn(record, "%s packet%s of CTF %s missing, say the numbers of the others",
                    NUMBER_TEXT(this->nlost), PLURAL(this->nlost), IS(this->nlost));
}

int babeltrace_load(struct record *record, const char *folder, struct failure *failure)
{
    struct babeltrace this = {.record = record};
    struct packets packets;
    int status = packets_open(&packets, folder, failure);

    if (status == STATUS_SUCCESS && !babeltrace_graph_run(&this, packets.folder))
        status = failure_set(failure, STATUS_BAD_INPUT, "%s cannot be read as CTF: %s", folder,
                             this.cause[0] != '\0' ? this.cause : "libbabeltrace2 gives no reason");
    if (status == STATUS_SUCCESS) {
        babeltrace_files_warn(record, &packets);
        babeltrace_warn(&this);
        log_sort(&record->log);
    }
    packets_close(&packets);
    return status;
}
