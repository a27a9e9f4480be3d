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

void synth_two_writes(struct synth *synth)
{
    static const char server[] = "srv=pager thr=w";

    synth_event(synth, 900000000, 10000, "data_return",
                "%s req=90 obj=7 off=0 len=131072 cls=file what=dirty res=0", server);
    synth_event(synth, 1000000000, 50000, "op",
                "srv=workload thr=main req=1 off=0 len=65536 what=write res=0");
    synth_event(synth, 1000010000, 30000, "io",
                "%s req=11 obj=7 off=0 len=65536 what=io_write res=0", server);
    synth_event(synth, 1000012000, 5000, "data_request",
                "%s req=12 obj=7 off=4096 len=4096 cls=file res=0", server);
    synth_event(synth, 1000013000, 2000, "alloc_lock", "%s req=13 by=12 obj=7 what=read wait=500",
                server);
    synth_event(synth, 1001000000, 50000, "op",
                "srv=workload thr=main req=2 off=65536 len=65536 what=write res=0");
    synth_event(synth, 1001010000, 30000, "io",
                "%s req=21 obj=7 off=65536 len=65536 what=io_write res=0", server);
    synth_event(synth, 1002000000, 3000000, "op",
                "srv=workload thr=main req=3 off=0 len=131072 what=sync res=0");
    synth_event(synth, 1002010000, 2900000, "io",
                "%s req=31 obj=7 off=0 len=0 what=file_sync res=0", server);
    synth_event(synth, 1002020000, 200000, "lock_request",
                "%s req=32 by=31 obj=7 off=0 len=131072 cls=file what=sync", server);
    synth_event(synth, 1002100000, 1800000, "data_return",
                "%s req=40 obj=7 off=0 len=65536 cls=file what=dirty res=0", server);
    synth_event(synth, 1002110000, 1790000, "data_return",
                "%s req=41 obj=7 off=65536 len=65536 cls=file what=dirty res=0", server);
    synth_event(synth, 1002300000, 1500000, "run",
                "%s req=42 by=40 obj=7 off=0 len=131072 cls=file n=2", server);
    synth_write(synth, 1002400000, 43, 42, 800, 65536);
    synth_event(synth, 1003000000, 10000, "io",
                "srv=other thr=w req=11 obj=7 off=0 len=65536 what=io_write res=28");
    synth_close(synth, 14, 0);
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
    struct view_case view = {"run", &synth->record, 1, request, server, NULL, synth->folder, NULL};

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
