// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A console line for the runner is `machbed KEYWORD key=value ...`. One table, console_keywords,
 * says for each keyword which fields it must have and where they go; the order of fields is fixed
 * and what follows the known ones is skipped, so that a newer guest may say more.
 *
 * A line is decoded whole into a record on the stack before anything is kept: a torn or malformed
 * line leaves no half of itself behind, and is reported by its number.
 */
#include "console.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "size.h"

#define CONSOLE_FIELDS_MAX 8
#define CONSOLE_TIMES_MAX  INT32_MAX /* nobody writes a place that often */

/* The fields of one line, in the order of its keyword's table entry. */
struct console_line {
    char text[CONSOLE_LINE_BYTES];
    const char *fields[CONSOLE_FIELDS_MAX];
};

typedef error_t console_take_t(struct console *console, const struct console_line *line);

struct console_keyword {
    const char *name;
    const char *fields; /* blanks between */
    console_take_t *take;
};

static console_take_t console_take_start;
static console_take_t console_take_tsc;
static console_take_t console_take_mark;
static console_take_t console_take_job;
static console_take_t console_take_plain;
static console_take_t console_take_counter;
static console_take_t console_take_claim;
static console_take_t console_take_failed;
static console_take_t console_take_store;
static console_take_t console_take_ram;
static console_take_t console_take_side;
static console_take_t console_take_wait;
static console_take_t console_take_check;
static console_take_t console_take_threads;
static console_take_t console_take_crash;
static console_take_t console_take_trace;
static console_take_t console_take_hang;
static console_take_t console_take_end;

static const struct console_keyword console_keywords[] = {
    {"start", "server", console_take_start},
    {"tsc", "hz", console_take_tsc},
    {"mark", "ns", console_take_mark},
    {"job", "name fill_us sync_us runtime_us bytes", console_take_job},
    {"plain", "bytes us one_ns", console_take_plain},
    {"side", "name count faults p99_ns max_ns", console_take_side},
    {"counter", "server layer class count bytes max hist", console_take_counter},
    {"claim", "server device sector sectors times", console_take_claim},
    {"failed", "server device sector sectors times", console_take_failed},
    {"store", "server device block rmw_bytes copied_bytes", console_take_store},
    {"threads", "server first last", console_take_threads},
    {"ram", "server device piece", console_take_ram},
    {"wait", "server what count p99_ns max_ns", console_take_wait},
    {"check", "name result", console_take_check},
    {"crash", "server thread pc symbol exception code subcode", console_take_crash},
    {"trace", "server events dropped drain_us", console_take_trace},
    {"hang", "kind told sentence", console_take_hang},
    {"end", "status reason", console_take_end},
};

void console_init(struct console *console)
{
    *console = (struct console){0};
}

void console_destroy(struct console *console)
{
    free(console->servers);
    free(console->sides);
    free(console->claims);
    free(console->failed);
    free(console->stores);
    free(console->rams);
    free(console->checks);
}

static error_t console_word_copy(char to[CONSOLE_WORD_BYTES], const char *from)
{
    size_t length = strlen(from);

    if (length == 0 || length >= CONSOLE_WORD_BYTES)
        return EINVAL;
    memcpy(to, from, length + 1);
    return 0;
}

static struct console_server *console_server_find(struct console *console, const char *name)
{
    for (size_t i = 0; i < console->servers_count; i++) {
        if (strcmp(console->servers[i].name, name) == 0)
            return &console->servers[i];
    }
    return NULL;
}

const struct console_server *console_server_lookup(const struct console *console, const char *name)
{
    return console_server_find((struct console *)console, name);
}

/* The server's entry, made if need be; NULL when the name is none. */
static struct console_server *console_server_get(struct console *console, const char *name)
{
    struct console_server server = {0};
    struct console_server *found = console_server_find(console, name);

    if (found != NULL)
        return found;
    if (console_word_copy(server.name, name) != 0)
        return NULL;
    console->servers = array_grow(console->servers, console->servers_count, sizeof(server));
    found = &console->servers[console->servers_count++];
    *found = server;
    return found;
}

static error_t console_take_start(struct console *console, const struct console_line *line)
{
    struct console_server *server = console_server_get(console, line->fields[0]);

    if (server == NULL)
        return EINVAL;
    server->started = true;
    return 0;
}

static error_t console_take_tsc(struct console *console, const struct console_line *line)
{
    uint64_t hz;

    (void)console;
    return number_parse(line->fields[0], &hz);
}

static error_t console_numbers_parse(const struct console_line *line, unsigned first,
                                     unsigned count, uint64_t *const *values)
{
    error_t error = 0;

    for (unsigned i = 0; i < count && error == 0; i++)
        error = number_parse(line->fields[first + i], values[i]);
    return error;
}

static error_t console_take_mark(struct console *console, const struct console_line *line)
{
    return number_parse(line->fields[0], &console->mark_ns);
}

static error_t console_take_job(struct console *console, const struct console_line *line)
{
    struct console_job job = {.said = true};
    uint64_t *const values[] = {&job.fill_us, &job.sync_us, &job.runtime_us, &job.bytes};
    error_t error = console_word_copy(job.name, line->fields[0]);

    if (error == 0)
        error = console_numbers_parse(line, 1, 4, values);
    if (error == 0 && console->job.said)
        error = EEXIST;
    if (error == 0)
        console->job = job;
    return error;
}

static error_t console_take_plain(struct console *console, const struct console_line *line)
{
    struct console_plain plain = {.said = true};
    uint64_t *const values[] = {&plain.bytes, &plain.us, &plain.one_ns};
    error_t error = console_numbers_parse(line, 0, 3, values);

    if (error == 0 && console->plain.said)
        error = EEXIST;
    if (error == 0)
        console->plain = plain;
    return error;
}

static error_t console_take_side(struct console *console, const struct console_line *line)
{
    struct console_side side = {0};
    uint64_t *const values[] = {&side.count, &side.faults, &side.p99_ns, &side.max_ns};
    error_t error = console_word_copy(side.name, line->fields[0]);

    if (error == 0)
        error = console_numbers_parse(line, 1, 4, values);
    if (error != 0)
        return error;
    console->sides = array_grow(console->sides, console->sides_count, sizeof(side));
    console->sides[console->sides_count++] = side;
    return 0;
}

static error_t console_layer_parse(const struct console_line *line, struct layer *layer)
{
    uint64_t *const values[] = {&layer->count, &layer->bytes, &layer->max};
    error_t error = console_numbers_parse(line, 3, 3, values);

    if (error == 0)
        error = layer_hist_parse(layer, line->fields[6]);
    if (error == 0 && (layer->max > layer->bytes || (layer->count == 0 && layer->bytes != 0)))
        error = EINVAL;
    return error;
}

static error_t console_take_counter(struct console *console, const struct console_line *line)
{
    struct layer layer;
    enum layer_kind kind;
    enum layer_class class;
    struct console_server *server;
    error_t error = layer_kind_lookup(line->fields[1], &kind);

    if (error == 0 && kind >= LAYER_GUEST_KINDS)
        error = EINVAL;
    if (error == 0)
        error = layer_class_lookup(line->fields[2], &class);
    if (error == 0)
        error = console_layer_parse(line, &layer);
    if (error != 0)
        return error;
    server = console_server_get(console, line->fields[0]);
    if (server == NULL)
        return EINVAL;
    if (server->counted[kind][class])
        return EEXIST;
    server->counted[kind][class] = true;
    server->layers.at[kind][class] = layer;
    return 0;
}

static error_t console_claim_parse(const struct console_line *line, struct console_claim *claim)
{
    uint64_t *const values[] = {&claim->sector, &claim->sectors, &claim->times};
    error_t error = console_word_copy(claim->server, line->fields[0]);

    if (error == 0)
        error = console_word_copy(claim->device, line->fields[1]);
    if (error == 0)
        error = console_numbers_parse(line, 2, 3, values);
    if (error == 0 &&
        (claim->sectors == 0 || claim->times == 0 || claim->times > CONSOLE_TIMES_MAX))
        error = EINVAL;
    return error;
}

static error_t console_take_claim(struct console *console, const struct console_line *line)
{
    struct console_claim claim = {0};
    error_t error = console_claim_parse(line, &claim);

    if (error != 0)
        return error;
    console->claims = array_grow(console->claims, console->claims_count, sizeof(claim));
    console->claims[console->claims_count++] = claim;
    return 0;
}

static error_t console_take_failed(struct console *console, const struct console_line *line)
{
    struct console_claim failed = {0};
    error_t error = console_claim_parse(line, &failed);

    if (error != 0)
        return error;
    console->failed = array_grow(console->failed, console->failed_count, sizeof(failed));
    console->failed[console->failed_count++] = failed;
    return 0;
}

static error_t console_take_store(struct console *console, const struct console_line *line)
{
    struct console_store store = {0};
    uint64_t *const values[] = {&store.block, &store.rmw_bytes, &store.copied_bytes};
    error_t error = console_word_copy(store.server, line->fields[0]);

    if (error == 0)
        error = console_word_copy(store.device, line->fields[1]);
    if (error == 0)
        error = console_numbers_parse(line, 2, 3, values);
    if (error == 0 && (store.block == 0 || store.block % 512 != 0))
        error = EINVAL;
    if (error != 0)
        return error;
    console->stores = array_grow(console->stores, console->stores_count, sizeof(store));
    console->stores[console->stores_count++] = store;
    return 0;
}

static error_t console_take_ram(struct console *console, const struct console_line *line)
{
    struct console_ram ram = {0};
    error_t error = console_word_copy(ram.server, line->fields[0]);

    if (error == 0)
        error = console_word_copy(ram.device, line->fields[1]);
    if (error == 0)
        error = number_parse(line->fields[2], &ram.piece);
    if (error != 0)
        return error;
    console->rams = array_grow(console->rams, console->rams_count, sizeof(ram));
    console->rams[console->rams_count++] = ram;
    return 0;
}

/* There is one lock that servers tell of, and one server that has it. */
static error_t console_take_wait(struct console *console, const struct console_line *line)
{
    struct console_wait wait = {.said = true};
    uint64_t *const values[] = {&wait.count, &wait.p99_ns, &wait.max_ns};
    error_t error = console_numbers_parse(line, 2, 3, values);

    if (error == 0 && (strcmp(line->fields[1], "alloc_lock") != 0 || wait.p99_ns > wait.max_ns))
        error = EINVAL;
    if (error == 0 && console->alloc_lock.said)
        error = EEXIST;
    if (error == 0)
        console->alloc_lock = wait;
    return error;
}

static error_t console_take_check(struct console *console, const struct console_line *line)
{
    struct console_check check = {0};
    error_t error = console_word_copy(check.name, line->fields[0]);

    if (error != 0)
        return error;
    snprintf(check.result, sizeof(check.result), "%s", line->fields[1]);
    console->checks = array_grow(console->checks, console->checks_count, sizeof(check));
    console->checks[console->checks_count++] = check;
    return 0;
}

static const char *console_exception_name(const char *number)
{
    static const char *const names[] = {
        "no exception", "bad access to memory", "bad instruction", "arithmetic", "emulation",
        "software",     "breakpoint",
    }; /* <mach/exception.h>, EXC_* */
    uint64_t index;

    if (number_parse(number, &index) != 0 || index >= sizeof(names) / sizeof(names[0]))
        return "unknown exception";
    return names[index];
}

static error_t console_take_crash(struct console *console, const struct console_line *line)
{
    const char *const *f = line->fields;

    if (console->crash[0] != '\0')
        return 0;
    snprintf(console->crash, sizeof(console->crash),
             "%s crashed in thread %s at %s (%s): %s (exception %s, code %s, subcode %s)", f[0],
             f[1], f[2], f[3], console_exception_name(f[4]), f[4], f[5], f[6]);
    return 0;
}

static error_t console_take_trace(struct console *console, const struct console_line *line)
{
    struct console_trace trace = {.said = true};
    uint64_t *const values[] = {&trace.events, &trace.dropped, &trace.drain_us};
    struct console_server *server;
    error_t error = console_numbers_parse(line, 1, 3, values);

    if (error != 0)
        return error;
    server = console_server_get(console, line->fields[0]);
    if (server == NULL)
        return EINVAL;
    if (server->trace.said)
        return EEXIST;
    server->trace = trace;
    return 0;
}

static error_t console_take_threads(struct console *console, const struct console_line *line)
{
    struct console_threads threads = {.said = true};
    uint64_t *const values[] = {&threads.first, &threads.last};
    struct console_server *server;
    error_t error = console_numbers_parse(line, 1, 2, values);

    if (error == 0 && (threads.first == 0 || threads.last == 0))
        error = EINVAL;
    if (error != 0)
        return error;
    server = console_server_get(console, line->fields[0]);
    if (server == NULL)
        return EINVAL;
    if (server->threads.said)
        return EEXIST;
    server->threads = threads;
    return 0;
}

static error_t console_take_hang(struct console *console, const struct console_line *line)
{
    struct console_hang hang = {.told = strcmp(line->fields[1], "1") == 0};
    error_t error = console_word_copy(hang.kind, line->fields[0]);

    if (error != 0)
        return error;
    snprintf(hang.sentence, sizeof(hang.sentence), "%s", line->fields[2]);
    console->hang = hang;
    return 0;
}

static error_t console_take_end(struct console *console, const struct console_line *line)
{
    struct console_end end = {.said = true};
    error_t error = number_parse(line->fields[0], &end.status);

    if (error == 0 && console->end.said)
        error = EEXIST;
    if (error != 0)
        return error;
    snprintf(end.reason, sizeof(end.reason), "%s", line->fields[1]);
    console->end = end;
    return 0;
}

static const struct console_keyword *console_keyword_lookup(const char *name)
{
    for (size_t i = 0; i < sizeof(console_keywords) / sizeof(console_keywords[0]); i++) {
        if (strcmp(console_keywords[i].name, name) == 0)
            return &console_keywords[i];
    }
    return NULL;
}

/* Cuts a value off the line at *AT: up to the next blank, or between double quotes. */
static error_t console_value_cut(char **at, const char **value)
{
    bool quoted = **at == '"';
    char *end;

    if (quoted)
        ++*at;
    *value = *at;
    end = *at + strcspn(*at, quoted ? "\"" : " \"");
    if (quoted != (*end == '"'))
        return EINVAL;
    if (quoted)
        *end++ = '\0';
    if (*end != ' ' && *end != '\0')
        return EINVAL;
    *at = *end == ' ' ? end + 1 : end;
    *end = '\0';
    return 0;
}

/* Cuts the field NAME (of LENGTH bytes) off the line at *AT. */
static error_t console_field_cut(char **at, const char *name, size_t length, const char **value)
{
    if (strncmp(*at, name, length) != 0 || (*at)[length] != '=')
        return EINVAL;
    *at += length + 1;
    return console_value_cut(at, value);
}

/* Returns NULL, or where in NAMES the field stands that the line lacks. */
static const char *console_fields_cut(struct console_line *line, char *at, const char *names)
{
    for (unsigned i = 0; *names != '\0'; i++) {
        size_t length = strcspn(names, " ");

        if (console_field_cut(&at, names, length, &line->fields[i]) != 0)
            return names;
        names += length;
        names += *names == ' ';
    }
    return NULL;
}

static void console_break(struct console *console, const char *line, const char *how)
{
    if (console->broken[0] != '\0')
        return;
    snprintf(console->broken, sizeof(console->broken), "line %" PRIu64 " %s: %.200s",
             console->lines, how, line);
}

static void console_break_field(struct console *console, const char *line, const char *names)
{
    char how[CONSOLE_WORD_BYTES];

    snprintf(how, sizeof(how), "lacks '%.*s=' in its place", (int)strcspn(names, " "), names);
    console_break(console, line, how);
}

static void console_take(struct console *console, const struct console_keyword *keyword,
                         struct console_line *line, char *at, const char *text)
{
    const char *lacking = console_fields_cut(line, at, keyword->fields);
    error_t error;

    if (lacking != NULL) {
        console_break_field(console, text, lacking);
        return;
    }
    error = keyword->take(console, line);
    if (error != 0)
        console_break(console, text, error == EEXIST ? "says a thing twice" : "is malformed");
}

static void console_feed_machbed(struct console *console, const char *text)
{
    struct console_line line;
    const struct console_keyword *keyword;
    size_t length = strlen(text);
    char *at;

    if (length >= sizeof(line.text)) {
        console_break(console, text, "is too long");
        return;
    }
    memcpy(line.text, text, length + 1);
    at = line.text + strcspn(line.text, " ");
    if (*at == ' ')
        *at++ = '\0';
    keyword = console_keyword_lookup(line.text);
    if (keyword == NULL)
        console_break(console, text, "has an unknown keyword");
    else
        console_take(console, keyword, &line, at, text);
}

/* Whether a ":DIGITS: " stands in the text, as it does after a file's name in C's messages. */
static bool console_has_line_number(const char *text)
{
    while ((text = strchr(text, ':')) != NULL) {
        size_t digits = strspn(++text, "0123456789");

        if (digits > 0 && strncmp(text + digits, ": ", 2) == 0)
            return true;
    }
    return false;
}

static bool console_is_panic(const char *line)
{
    return strncmp(line, "panic ", 6) == 0 && console_has_line_number(line);
}

/* Length of the assertion that the line starts with, or 0. The kernel breaks no line after it, so
   that what its debugger says stands behind it. */
static size_t console_assertion_length(const char *line)
{
    static const char end[] = "' failed.";
    const char *text = strstr(line, ": Assertion `");
    const char *found = text == NULL ? NULL : strstr(text, end);

    if (found == NULL || !console_has_line_number(line))
        return 0;
    return (size_t)(found - line) + sizeof(end) - 1;
}

bool console_feed_death(struct console *console, const char *line)
{
    bool panic = console_is_panic(line);
    size_t length = panic ? strlen(line) : console_assertion_length(line);

    if (length == 0)
        return false;
    if (console->death[0] == '\0') {
        snprintf(console->death, sizeof(console->death), "%.*s", (int)length, line);
        console->death_is_panic = panic;
    }
    return true;
}

static void console_feed_other(struct console *console, const char *line)
{
    if (console->kernel[0] == '\0' && strncmp(line, "GNU Mach ", 9) == 0)
        snprintf(console->kernel, sizeof(console->kernel), "%s", line);
    console_feed_death(console, line);
}

void console_feed(struct console *console, const char *line)
{
    console->lines++;
    if (strncmp(line, "machbed ", 8) == 0)
        console_feed_machbed(console, line + 8);
    else if (strncmp(line, "event ", 6) != 0)
        console_feed_other(console, line);
}
