// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names are fixed: other programs read them. What was not measured is null, so that nobody takes
 * it for a zero. The functions that make an object never fail: libjansson's json_object_set_new
 * takes a NULL, which only a lack of memory can give, for an error that json_dump_file then shows.
 */
#include "result.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "ram.h"
#include "text.h"

#define RESULT_VERSION 1
#define MIB            (UINT64_C(1) << 20)

static json_t *result_number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* What was said, by the guest or a tool: JSON takes UTF-8 only. */
static json_t *result_said(const char *text)
{
    char clean[CONSOLE_LINE_BYTES];

    return json_string(text_fit(clean, sizeof(clean), text));
}

/* What cannot be 0 when it was measured. */
static json_t *result_positive(uint64_t value)
{
    return value == 0 ? json_null() : result_number(value);
}

static json_t *result_hist(const struct layer *layer)
{
    json_t *hist = json_object();

    for (unsigned i = 0; i < LAYER_CLASSES; i++) {
        char key[24];

        if (layer->hist[i] == 0)
            continue;
        snprintf(key, sizeof(key), "%llu", (unsigned long long)layer_class_floor(i));
        json_object_set_new(hist, key, result_number(layer->hist[i]));
    }
    return hist;
}

static json_t *result_layer(const struct layer *layer)
{
    json_t *object = json_object();

    json_object_set_new(object, "count", result_number(layer->count));
    json_object_set_new(object, "bytes", result_number(layer->bytes));
    json_object_set_new(object, "avg", result_number(layer_average(layer)));
    json_object_set_new(object, "max", result_number(layer->max));
    json_object_set_new(object, "hist", result_hist(layer));
    return object;
}

/* Which part of each layer an object of layers shows. */
enum result_part { RESULT_FILE, RESULT_META, RESULT_ALL };

static json_t *result_layer_part(const struct layers *layers, enum layer_kind kind,
                                 enum result_part part)
{
    struct layer sum = layers_sum(layers, kind);

    if (part == RESULT_ALL)
        return result_layer(&sum);
    return result_layer(&layers->at[kind][part == RESULT_FILE ? LAYER_FILE : LAYER_META]);
}

/* Layers that nobody measured are null: COUNTED says whether servers did, TRACED whether QEMU. */
static json_t *result_layers(const struct layers *layers, enum result_part part, bool counted,
                             bool traced)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < LAYER_KINDS; i++) {
        enum layer_kind kind = (enum layer_kind)i;
        bool known = kind < LAYER_GUEST_KINDS ? counted : traced;

        json_object_set_new(object, layer_kind_name(kind),
                            known ? result_layer_part(layers, kind, part) : json_null());
    }
    return object;
}

static json_t *result_server(const struct console_server *server)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < LAYER_GUEST_KINDS; i++) {
        enum layer_kind kind = (enum layer_kind)i;

        if (server->counted[kind][LAYER_FILE] || server->counted[kind][LAYER_META])
            json_object_set_new(object, layer_kind_name(kind),
                                result_layer_part(&server->layers, kind, RESULT_ALL));
    }
    if (server->threads.said)
        json_object_set_new(object, "threads", result_number(server->threads.last));
    return object;
}

static json_t *result_servers(const struct console *console)
{
    json_t *object = json_object();

    for (size_t i = 0; i < console->servers_count; i++)
        json_object_set_new(object, console->servers[i].name, result_server(&console->servers[i]));
    return object;
}

static json_t *result_checks(const struct boot *boot)
{
    json_t *object = json_object();

    for (size_t i = 0; i < boot->console.checks_count; i++) {
        const struct console_check *check = &boot->console.checks[i];

        json_object_set_new(object, check->name, result_said(check->result));
    }
    if (boot->content[0] != '\0')
        json_object_set_new(object, "content", result_said(boot->content));
    if (boot->fsck[0] != '\0')
        json_object_set_new(object, "fsck", result_said(boot->fsck));
    if (boot->disk_agrees[0] != '\0')
        json_object_set_new(object, "disk_agrees", result_said(boot->disk_agrees));
    return object;
}

/* The sum of one number over the store lines; null when there is none. */
static json_t *result_stores_sum(const struct console *console, size_t offset)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < console->stores_count; i++)
        sum += *(const uint64_t *)((const char *)&console->stores[i] + offset);
    return console->stores_count == 0 ? json_null() : result_number(sum);
}

static json_t *result_ns_as_us(uint64_t ns)
{
    return json_real((double)ns / 1000);
}

static void result_job_times(json_t *object, const struct console *console)
{
    const struct console_job *job = &console->job;

    json_object_set_new(object, "fill_us", job->said ? result_number(job->fill_us) : json_null());
    json_object_set_new(object, "sync_us", job->said ? result_number(job->sync_us) : json_null());
    json_object_set_new(object, "runtime_us",
                        job->said ? result_number(job->runtime_us) : json_null());
    json_object_set_new(object, "plain_us",
                        console->plain.said ? result_number(console->plain.us) : json_null());
    json_object_set_new(object, "plain_128k_us",
                        console->plain.said ? result_ns_as_us(console->plain.one_ns) : json_null());
}

/* From QEMU's start on, to some 20 ms. */
static json_t *result_boot_times(const struct qemu_ending *ending)
{
    json_t *object = json_object();

    json_object_set_new(object, "kernel", result_positive(ending->kernel_ms));
    json_object_set_new(object, "workload", result_positive(ending->server_ms));
    json_object_set_new(object, "end", result_positive(ending->end_ms));
    return object;
}

/* store_writes of metadata for each page of it. */
static json_t *result_meta_per_page(const struct boot *boot, bool counted)
{
    const struct layer *layer = &boot->layers.at[LAYER_STORE_WRITE][LAYER_META];

    return counted && layer->count != 0 ? json_real(layer_per(layer, PAGE_BYTES)) : json_null();
}

/* Null when no server told of it; of none that waited there are no times. */
static json_t *result_wait(const struct console_wait *wait)
{
    json_t *object;

    if (!wait->said)
        return json_null();
    object = json_object();
    json_object_set_new(object, "count", result_number(wait->count));
    json_object_set_new(object, "p99_us",
                        wait->count == 0 ? json_null() : result_ns_as_us(wait->p99_ns));
    json_object_set_new(object, "max_us",
                        wait->count == 0 ? json_null() : result_ns_as_us(wait->max_ns));
    return object;
}

/* What the side jobs did. */
static json_t *result_sides(const struct console *console)
{
    json_t *array = json_array();

    for (size_t i = 0; i < console->sides_count; i++) {
        const struct console_side *side = &console->sides[i];
        json_t *object = json_object();

        json_object_set_new(object, "name", json_string(side->name));
        json_object_set_new(object, "count", result_number(side->count));
        json_object_set_new(object, "faults", result_number(side->faults));
        json_object_set_new(object, "p99_us", result_ns_as_us(side->p99_ns));
        json_object_set_new(object, "max_us", result_ns_as_us(side->max_ns));
        json_array_append_new(array, object);
    }
    return array;
}

static void result_job_layers(json_t *object, const struct boot *boot)
{
    const struct console *console = &boot->console;
    const struct console_server *server = console_server_lookup(console, job_server(boot->job));
    bool counted = server != NULL && server->counted[LAYER_DATA_RETURN][LAYER_FILE];

    json_object_set_new(object, "layers",
                        result_layers(&boot->layers, RESULT_ALL, counted, boot_knows_disk(boot)));
    json_object_set_new(object, "layers_file",
                        result_layers(&boot->layers, RESULT_FILE, counted, boot_knows_disk(boot)));
    json_object_set_new(object, "layers_meta",
                        result_layers(&boot->layers, RESULT_META, counted, boot_knows_disk(boot)));
    json_object_set_new(object, "meta_writes_per_page", result_meta_per_page(boot, counted));
    json_object_set_new(object, "servers", result_servers(console));
    json_object_set_new(object, "alloc_lock", result_wait(&console->alloc_lock));
    json_object_set_new(object, "bytes_copied",
                        result_stores_sum(console, offsetof(struct console_store, copied_bytes)));
    json_object_set_new(object, "rmw_bytes",
                        result_stores_sum(console, offsetof(struct console_store, rmw_bytes)));
    json_object_set_new(object, "prefetch_unused_pages", json_null());
}

/* What each server recorded; null when nothing was asked for. */
static json_t *result_trace(const struct boot *boot)
{
    json_t *object = json_object();

    for (size_t i = 0; i < boot->console.servers_count; i++) {
        const struct console_server *server = &boot->console.servers[i];
        const struct console_trace *trace = &server->trace;

        if (trace->said)
            json_object_set_new(object, server->name,
                                json_pack("{s:I,s:I,s:I}", "events", (json_int_t)trace->events,
                                          "dropped", (json_int_t)trace->dropped, "drain_us",
                                          (json_int_t)trace->drain_us));
    }
    if (json_object_size(object) != 0)
        return object;
    json_decref(object);
    return json_null();
}

/* Where the disk's partitions begin, by their names in Mach. */
static json_t *result_partitions(const struct boot *boot)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < MBR_PARTITIONS; i++) {
        const struct mbr_partition *partition = &boot->mbr.partitions[i];
        char name[CONSOLE_WORD_BYTES];

        snprintf(name, sizeof(name), "%ss%u", boot->options->disk->device, i + 1);
        if (partition->sectors != 0)
            json_object_set_new(object, name,
                                json_pack("{s:I,s:I}", "sector", (json_int_t)partition->sector,
                                          "sectors", (json_int_t)partition->sectors));
    }
    return object;
}

static json_t *result_job(const struct boot *boot)
{
    const struct console *console = &boot->console;
    json_t *object = json_object();

    json_object_set_new(object, "name", json_string(boot->job->name));
    json_object_set_new(object, "policy", json_string(boot->policy->choice.name));
    json_object_set_new(object, "merge_max",
                        boot->policy->cap_bytes == 0 ? result_number(boot->options->merge_bytes)
                                                     : json_null());
    json_object_set_new(object, "sync_every", result_number(boot->options->sync_every));
    json_object_set_new(object, "fs", json_string(boot->job->fs));
    json_object_set_new(object, "server", json_string(job_server(boot->job)));
    json_object_set_new(object, "block_size", result_positive(boot_block_bytes(boot)));
    json_object_set_new(object, "device_block",
                        console->stores_count == 0 ? json_null()
                                                   : result_number(console->stores[0].block));
    json_object_set_new(object, "partitions", result_partitions(boot));
    json_object_set_new(object, "bytes", result_number(boot->job->size));
    json_object_set_new(object, "nrfiles", result_number(boot->job->nrfiles));
    json_object_set_new(object, "numjobs", result_number(boot->job->numjobs));
    result_job_times(object, console);
    json_object_set_new(object, "sides", result_sides(console));
    json_object_set_new(object, "boot_ms", result_boot_times(&boot->ending));
    json_object_set_new(object, "seed", result_number(boot->seed));
    result_job_layers(object, boot);
    json_object_set_new(object, "trace", result_trace(boot));
    json_object_set_new(object, "checks", result_checks(boot));
    json_object_set_new(object, "status", json_integer(boot->failure.status));
    json_object_set_new(object, "reason", json_string(boot->failure.reason));
    return object;
}

static json_t *result_jobs(const struct run *run)
{
    json_t *array = json_array();

    for (size_t i = 0; i < run->boots_count; i++)
        json_array_append_new(array, result_job(&run->boots[i]));
    return array;
}

static json_t *result_tune(const struct tune *tune)
{
    json_t *object = json_object();

    for (size_t i = 0; i < tune->count; i++)
        json_object_set_new(object, tune->limits[i].name, result_number(tune->limits[i].value));
    return object;
}

static json_t *result_kernel(const struct run *run)
{
    json_t *object = json_object();

    json_object_set_new(object, "version", json_string(run->options->kernel_version));
    json_object_set_new(object, "sha256",
                        run->kernel_sha256[0] == '\0' ? json_null()
                                                      : json_string(run->kernel_sha256));
    json_object_set_new(object, "origin", json_string(run->options->origin->name));
    json_object_set_new(object, "variant", json_string(run->options->variant->name));
    json_object_set_new(object, "tune", result_tune(&run->options->tune));
    return object;
}

static json_t *result_machine(const struct options *options)
{
    json_t *object = json_object();

    json_object_set_new(object, "arch", json_string(options->arch->name));
    json_object_set_new(object, "machine", json_string(options->machine->name));
    json_object_set_new(object, "disk", json_string(options->disk->choice.name));
    json_object_set_new(object, "driver",
                        ram_is_chosen(options) ? json_null() : json_string("kernel"));
    json_object_set_new(object, "firmware", json_string(options->firmware->name));
    json_object_set_new(object, "medium", json_string(options->medium->name));
    json_object_set_new(object, "boot", json_string(options->boot->name));
    json_object_set_new(object, "mem_mib", result_number(options->mem_bytes / MIB));
    json_object_set_new(object, "accel", json_string(options->accel->name));
    json_object_set_new(object, "fail_sector",
                        options->fail_sector == OPTIONS_NO_SECTOR
                            ? json_null()
                            : result_number(options->fail_sector));
    json_object_set_new(object, "fail_times", result_number(options->fail_times));
    return object;
}

/* Whole, or not at all. */
static error_t result_dump(const json_t *object, const char *path)
{
    char unfinished[PATH_MAX];
    error_t error = 0;

    if (snprintf(unfinished, sizeof(unfinished), "%s.unfinished", path) >= (int)sizeof(unfinished))
        return ENAMETOOLONG;
    errno = 0;
    if (json_dump_file(object, unfinished, JSON_INDENT(2)) != 0)
        error = errno != 0 ? errno : ENOMEM;
    if (error == 0 && rename(unfinished, path) != 0)
        error = errno;
    if (error != 0)
        unlink(unfinished);
    return error;
}

int result_write(const struct run *run, const char *path, struct failure *failure)
{
    json_t *object = json_object();
    error_t error;

    json_object_set_new(object, "machbed", json_integer(RESULT_VERSION));
    json_object_set_new(object, "kernel", result_kernel(run));
    json_object_set_new(object, "machine", result_machine(run->options));
    json_object_set_new(object, "jobs", result_jobs(run));
    json_object_set_new(object, "status", json_integer(run->failure.status));
    json_object_set_new(object, "reason", json_string(run->failure.reason));
    error = result_dump(object, path);
    json_decref(object);
    if (error != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be written: %s", path,
                           strerror(error));
    return STATUS_SUCCESS;
}
