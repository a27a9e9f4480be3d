// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libext2 beside libext2fs: the same work on equal images, in turns, in one run; the best of
 * several rounds counts. Times are those of a host with the image in memory: they compare the two
 * libraries and say nothing about disks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ext2.h"

#define BENCH_ROUNDS 3u
#define BENCH_FILES  2000u  /* empty ones, created and removed */
#define BENCH_LARGE  16384u /* blocks of the file that is extended */
#define BENCH_STEP   16u    /* blocks a call: 64 KiB */
#define BENCH_MAPS   50u

enum bench_row { BENCH_CREATE, BENCH_REMOVE, BENCH_EXTEND, BENCH_MAP, BENCH_DELETE, BENCH_ROWS };

static const struct {
    const char *name;
    const char *unit;
    double count;
} bench_rows[BENCH_ROWS] = {
    [BENCH_CREATE] = {"create", "files", BENCH_FILES},
    [BENCH_REMOVE] = {"remove", "files", BENCH_FILES},
    [BENCH_EXTEND] = {"extend", "calls of 64 KiB", BENCH_LARGE / BENCH_STEP},
    [BENCH_MAP] = {"map", "files of 64 MiB", BENCH_MAPS},
    [BENCH_DELETE] = {"delete", "files of 64 MiB", 1},
};

static char bench_path[64];
static uint64_t bench_sum; /* so that no work is left out */

void bench_require(long error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "bench-ext2: %s: error %ld\n", what, error);
    exit(1);
}

static double bench_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void bench_image(void)
{
    char command[400];
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/sbin:/sbin; rm -f %s; mke2fs -q -F -t ext2 -b 4096 -N 8192 %s 256M > "
             "/dev/null",
             bench_path, bench_path);
    bench_require(system(command), "mke2fs");
}

static void bench_check(void)
{
    char command[400];
    snprintf(command, sizeof command, "PATH=$PATH:/usr/sbin:/sbin; e2fsck -fn %s > /dev/null 2>&1",
             bench_path);
    bench_require(system(command), "e2fsck");
}

static void bench_files(void (*each)(const char *name))
{
    char name[32];
    for (unsigned int i = 0; i < BENCH_FILES; i++) {
        snprintf(name, sizeof name, "file-%u", i);
        each(name);
    }
}

static void bench_work(const struct bench_side *side, enum bench_row row)
{
    switch (row) {
    case BENCH_CREATE:
        bench_files(side->create);
        break;
    case BENCH_REMOVE:
        bench_files(side->remove);
        break;
    case BENCH_EXTEND:
        side->create("large");
        side->extend("large", BENCH_LARGE, BENCH_STEP);
        break;
    case BENCH_MAP:
        for (unsigned int i = 0; i < BENCH_MAPS; i++)
            bench_sum += side->map("large", BENCH_LARGE);
        break;
    default:
        side->remove("large");
    }
}

static void bench_round(const struct bench_side *side, double best[BENCH_ROWS])
{
    bench_image();
    side->open(bench_path);
    for (unsigned int row = 0; row < BENCH_ROWS; row++) {
        double start = bench_now();
        bench_work(side, row);
        double seconds = bench_now() - start;
        if (best[row] == 0 || seconds < best[row])
            best[row] = seconds;
    }
    side->close();
    bench_check();
}

int main(void)
{
    static double ours[BENCH_ROWS];
    static double theirs[BENCH_ROWS];
    snprintf(bench_path, sizeof bench_path, "%s/bench-ext2-%ld",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    for (unsigned int round = 0; round < BENCH_ROUNDS; round++) {
        bench_round(&bench_libext2, ours);
        bench_round(&bench_libext2fs, theirs);
    }
    unlink(bench_path);
    printf("%-8s %14s %14s %8s  per second\n", "", "libext2", "libext2fs", "ratio");
    bool slower = false;
    for (unsigned int row = 0; row < BENCH_ROWS; row++) {
        double count = bench_rows[row].count;
        printf("%-8s %14.0f %14.0f %7.1fx  %s\n", bench_rows[row].name, count / ours[row],
               count / theirs[row], theirs[row] / ours[row], bench_rows[row].unit);
        slower = slower || ours[row] > theirs[row];
    }
    printf("libext2 is %sslower in a row (checksum %llx)\n", slower ? "" : "not ",
           (unsigned long long)bench_sum);
    return 0;
}
