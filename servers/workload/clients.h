// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clients of a job: threads that share its files. Client 0 is the thread that calls; with more
 * there is a thread for each. A job goes in steps: all clients do one, each with its own files, one
 * file after the other, and the next step begins when all have done it.
 */
#ifndef WORKLOAD_CLIENTS_H
#define WORKLOAD_CLIENTS_H

#include "workload/job.h"

struct client {
    struct job *job;
    uint32_t number;
    vm_address_t buffer; /* of the job's block */
    int status;          /* of its first step that failed, or 0 */
    char reason[JOB_REASON_MAX];
};

/* What a client does with FILE. Returns 0; or a status, with a sentence in client->reason. */
typedef int clients_step_t(struct client *client, struct job_file *file);

/* Make the clients of JOB. => once; blocks; a failure is a panic. */
void clients_setup(struct job *job);

/*
 * Have the clients do STEP with all files. When one fails, the others go on with no further file.
 * Returns 0; or the status of the client with the lowest number that failed, and its sentence in
 * REASON (JOB_REASON_MAX bytes).
 * => blocks; no step is under way.
 */
int clients_do(clients_step_t *step, char *reason);

/* Whether a client has failed: there is no point in going on. => does not block. */
bool clients_failed(void);

#endif
