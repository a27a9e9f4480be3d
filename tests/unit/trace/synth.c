// SPDX-License-Identifier: GPL-2.0-or-later
#include "synth.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYNTH_HOST_US    UINT64_C(1700000000000000) /* the host's clock when the guest's is 0 */
#define SYNTH_COMMAND    32768u
#define SYNTH_TEXT_BYTES 65536

static FILE *synth_file(const struct synth *synth, const char *name)
{
    char path[128];
    FILE *stream;

    snprintf(path, sizeof(path), "%s/page/%s", synth->folder, name);
    stream = fopen(path, "w");
    assert_non_null(stream);
    return stream;
}

void synth_begin(struct synth *synth)
{
    char path[128];

    *synth = (struct synth){.folder = "/tmp/machbed-test-trace-XXXXXX", .stamped = true};
    assert_non_null(mkdtemp(synth->folder));
    snprintf(path, sizeof(path), "%s/page", synth->folder);
    assert_int_equal(mkdir(path, 0777), 0);
    synth->serial = synth_file(synth, "serial.log");
    synth->trace = synth_file(synth, "qemu.trace");
    synth->kinds = "all";
    synth->job =
        json_pack("{s:s,s:s,s:{s:{s:i,s:i}},s:{},s:{},s:{},s:{s:{}}}", "server", "pager", "fs",
                  "none", "partitions", "sd0s2", "sector", SYNTH_PARTITION, "sectors", 1048576,
                  "layers", "layers_file", "layers_meta", "servers", "pager");
    assert_non_null(synth->job);
    synth_say(synth, "GNU Mach 1.8");
    synth_say(synth, "machbed start server=pager");
    synth_say(synth, "machbed start server=workload");
    fprintf(synth->trace, "bdrv_open_common bs 0xa2 filename \"disk.img\" flags 0x2 format_name "
                          "\"raw\"\nfw_cfg_select 0xf0 key 0x3ff0 'unknown', ret: 0\n");
}

void synth_say(struct synth *synth, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(synth->serial, format, arguments);
    va_end(arguments);
    fputs("\r\n", synth->serial);
}

void synth_event(struct synth *synth, uint64_t t, uint64_t dur, const char *kind,
                 const char *format, ...)
{
    va_list arguments;

    fprintf(synth->serial, "event t=%" PRIu64 " dur=%" PRIu64 " kind=%s ", t, dur, kind);
    va_start(arguments, format);
    vfprintf(synth->serial, format, arguments);
    va_end(arguments);
    fputs("\r\n", synth->serial);
}

void synth_command(struct synth *synth, uint64_t ns, bool write, uint64_t sector, uint64_t bytes)
{
    uint64_t host = SYNTH_HOST_US + (uint64_t)((double)ns / (1 + synth->drift) / 1000);

    if (synth->stamped)
        fprintf(synth->trace, "4711@%" PRIu64 ".%06" PRIu64 ":", host / 1000000, host % 1000000);
    fprintf(synth->trace,
            "blk_co_p%s blk 0x1 bs 0xa2 offset %" PRIu64 " bytes %" PRIu64 " flags 0x0\n",
            write ? "writev" : "readv", (SYNTH_PARTITION + sector) * 512, bytes);
}

void synth_write(struct synth *synth, uint64_t t, uint64_t req, uint64_t by, uint64_t sector,
                 uint64_t bytes)
{
    synth_event(synth, t, 1000000, "store_write",
                "srv=pager thr=w req=%" PRIu64 " by=%" PRIu64 " len=%" PRIu64 " sec=%" PRIu64
                " cls=file res=0",
                req, by, bytes, sector);
    for (uint64_t at = 0; at < bytes; at += SYNTH_COMMAND) {
        uint64_t rest = bytes - at < SYNTH_COMMAND ? bytes - at : SYNTH_COMMAND;

        synth_command(synth, t + 100000 + at, true, sector + at / 512, rest);
    }
}

void synth_close(struct synth *synth, uint64_t events, uint64_t dropped)
{
    synth_say(synth, "machbed store server=pager device=sd0s2 block=4096 rmw_bytes=0 "
                     "copied_bytes=0");
    synth_say(synth, "machbed trace server=pager events=%" PRIu64 " dropped=%" PRIu64 " drain_us=1",
              events, dropped);
    synth_say(synth, "machbed end status=0 reason=\"done\"");
    fprintf(synth->trace, "fw_cfg_select 0xf0 key 0x3ff1 'unknown', ret: 0\n");
}

void synth_count(struct synth *synth, const char *where, const char *layer, uint64_t count,
                 uint64_t bytes)
{
    json_t *object = json_object_get(synth->job, where);
    uint64_t size = count == 0 ? 0 : bytes / count;
    json_t *value = json_pack("{s:I,s:I,s:I,s:{}}", "count", (json_int_t)count, "bytes",
                              (json_int_t)bytes, "max", (json_int_t)size, "hist");
    char floor[24];

    if (strcmp(where, "servers/pager") == 0)
        object = json_object_get(json_object_get(synth->job, "servers"), "pager");
    assert_non_null(object);
    snprintf(floor, sizeof(floor), "%" PRIu64,
             size == 0 ? 0 : UINT64_C(1) << (63 - __builtin_clzll(size)));
    if (count != 0)
        json_object_set_new(json_object_get(value, "hist"), floor, json_integer((json_int_t)count));
    assert_int_equal(json_object_set_new(object, layer, value), 0);
}

int synth_load(struct synth *synth)
{
    FILE *config = synth_file(synth, "run.cfg");

    fprintf(config, "fs=none\ntrace=text\ntrace_events=%s\n", synth->kinds);
    fclose(config);
    fclose(synth->serial);
    fclose(synth->trace);
    synth->serial = NULL;
    return record_load(&synth->record, synth->folder, policy_lookup("page"), synth->job,
                       &synth->failure);
}

const char *synth_view(struct synth *synth, view_show_t *show, uint64_t request, const char *server)
{
    static char text[SYNTH_TEXT_BYTES];
    struct view_case view = {"run", &synth->record, 1, request, server, NULL};

    memset(text, 0, sizeof(text));
    view.stream = fmemopen(text, sizeof(text), "w");
    assert_non_null(view.stream);
    synth->failure = (struct failure){0};
    show(&view, &synth->failure);
    fclose(view.stream);
    return text;
}

static int synth_remove(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    (void)stat;
    (void)type;
    (void)where;
    return remove(path);
}

void synth_end(struct synth *synth)
{
    if (synth->serial != NULL) {
        fclose(synth->serial);
        fclose(synth->trace);
    }
    record_destroy(&synth->record);
    json_decref(synth->job);
    nftw(synth->folder, synth_remove, 8, FTW_DEPTH | FTW_PHYS);
}
