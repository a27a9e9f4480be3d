// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Job files: what a run does. The format is described in docs/jobs.md.
 */
#ifndef RUN_JOB_H
#define RUN_JOB_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "failure.h"

#define JOB_NAME_BYTES 64
#define JOB_FILE_BYTES 1024 /* of a path, as the file interfaces of servers/defs take it */
#define JOB_SIDES_MAX  4

struct job {
    char name[JOB_NAME_BYTES];
    const char *fs;
    const char *rw;
    const char *ioengine;
    const char *fault;
    char filename[JOB_FILE_BYTES]; /* for fs=ext2: a path from the root, no slash in front */
    uint64_t bs;
    uint64_t size;     /* 0: the file did not say */
    uint64_t fragment; /* blocks of a hole, for fs=ext2; 0: free space is left as it is */
    uint64_t nrfiles;  /* files that share the bytes; 0 until job_resize: as many as clients */
    uint64_t numjobs;  /* clients that share the files */
    uint64_t linger;   /* seconds between writing and what comes next */
    uint64_t loops;    /* of a side job: how often; 0: as long as the job syncs */
    struct job *sides; /* further sections: jobs beside this one, each with a few keys only */
    size_t sides_count;
    bool overwrite;
    bool own_size; /* of a side job: its section says its size */
    bool end_fsync;
    bool unmap;
    bool fsync_on_close;
    bool verify;
    const char *plain; /* when a plain loop of device_writes runs: 0, before, after */
};

/*
 * Read a job from STREAM; PATH is its name in error messages, which carry the line as well.
 * => JOB's strings live as long as the program.
 */
int job_read(struct job *job, FILE *stream, const char *path, struct failure *failure);

/* => after job_read or job_load, also when they have failed. */
void job_destroy(struct job *job);

/* The same from the file PATH. */
int job_load(struct job *job, const char *path, struct failure *failure);

/*
 * Give the job SIZE bytes (0: what it says itself), then check that its sizes make sense together.
 * PATH is the job's file, for messages.
 */
int job_resize(struct job *job, uint64_t size, const char *path, struct failure *failure);

/*
 * Write the name of file INDEX, from 0, to NAME: the job's filename, and if there are several files
 * a number behind it. ENAMETOOLONG: it has no room (job_resize has checked that).
 */
error_t job_file_name(const struct job *job, uint64_t index, char name[JOB_FILE_BYTES]);

/* Whether the job works on files of the ext2 file system, else on a bare object. */
bool job_is_ext2(const struct job *job);

/* Whether a plain loop of device_writes runs beside the job. */
bool job_has_plain(const struct job *job);

/* Whether the job reads, and so writes nothing of its own. */
bool job_is_read(const struct job *job);

/* Whether the job sends an RPC for each block, else it uses a mapping. */
bool job_is_rpc(const struct job *job);

/* The servers that a boot with this job starts, blanks between. */
const char *job_servers(const struct job *job);

/* The server under test. */
const char *job_server(const struct job *job);

/* The partition, counted from 1, that the job's bytes go to. */
unsigned job_partition(const struct job *job);

/* Print the job's keys and values as lines of opt/machbed/run (docs/protocol.md). */
void job_print(const struct job *job, FILE *stream);

/* Print the table of keys that exist, for people. */
void job_print_keys(FILE *stream);

#endif
