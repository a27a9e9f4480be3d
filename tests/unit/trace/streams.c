// SPDX-License-Identifier: GPL-2.0-or-later
#include "streams.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "babeltrace.h"
#include "librt/clock.h"

struct streams streams;

/* Three cycles are two nanoseconds. */
uint64_t rt_clock_cycles_to_ns(uint64_t cycles)
{
    return cycles / 3 * 2 + cycles % 3 * 2 / 3;
}

static bool streams_is_full(bool last)
{
    const struct ctf_memory *head = (const void *)streams.memory;

    return (head->taken >= streams.room && !last) || head->taken + 1 >= CTF_MEMORY_SLOTS;
}

void streams_put(const uint8_t *packet)
{
    struct ctf_memory *head = (void *)streams.memory;

    memcpy(streams.memory + (size_t)++head->taken * CTF_PACKET_BYTES, packet, CTF_PACKET_BYTES);
}

void streams_begin(void)
{
    static const struct options options = {.build = "build", .trace = &choice_traces[2]};
    int file;

    streams = (struct streams){.folder = "/tmp/machbed-test-ctf-XXXXXX", .room = UINT32_MAX};
    assert_string_equal(options.trace->name, "ctf");
    assert_non_null(mkdtemp(streams.folder));
    assert_int_equal(ctf_begin(&streams.ctf, &options, streams.folder, &streams.failure), 0);
    file = open(streams_path("ctf.memory"), O_RDWR);
    streams.memory = mmap(NULL, CTF_MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(streams.memory != MAP_FAILED);
    close(file);
}

void streams_init(struct ctf_stream *stream, const char *thread)
{
    static const struct ctf_sink sink = {.is_full = streams_is_full, .put = streams_put};

    ctf_stream_init(stream, &sink, "pager", thread);
}

void streams_fill(struct ctf_stream *stream, uint64_t us, uint32_t request, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct trace_event event = {.kind = TRACE_STORE_READ,
                                    .start = (us + i) * 1500,
                                    .end = (us + i) * 1500 + 1500,
                                    .request = request + i,
                                    .length = 512};

        ctf_stream_put(stream, &event);
    }
}

const char *streams_path(const char *file)
{
    static char path[160];

    snprintf(path, sizeof(path), "%s/%s", streams.folder, file);
    return path;
}

size_t streams_size(const char *file)
{
    struct stat stat_;

    assert_int_equal(stat(streams_path(file), &stat_), 0);
    return (size_t)stat_.st_size;
}

int streams_end(int64_t offset_ns)
{
    return ctf_end(&streams.ctf, offset_ns, &streams.failure);
}

int streams_read(void)
{
    record_destroy(&streams.record);
    streams.record = (struct record){0};
    names_init(&streams.record.log.names);
    console_init(&streams.record.log.console);
    return babeltrace_load(&streams.record, streams_path("ctf"), &streams.failure);
}

const char *streams_warnings(void)
{
    static char text[RECORD_WARNINGS * RECORD_WARNING_BYTES];

    text[0] = '\0';
    for (size_t i = 0; i < streams.record.warnings_count; i++) {
        strcat(text, streams.record.warnings[i]);
        strcat(text, "\n");
    }
    return text;
}

static int streams_entry_remove(const char *path, const struct stat *stat, int type,
                                struct FTW *where)
{
    (void)stat;
    (void)type;
    (void)where;
    return remove(path);
}

void streams_remove(void)
{
    record_destroy(&streams.record);
    munmap(streams.memory, CTF_MEMORY_BYTES);
    ctf_destroy(&streams.ctf);
    nftw(streams.folder, streams_entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}
