// SPDX-License-Identifier: GPL-2.0-or-later
/* A whole run, and result.json, which says what came of it for other programs. */
#ifndef RUN_RESULT_H
#define RUN_RESULT_H

#include "boot.h"
#include "sha256.h"

struct run {
    const struct options *options;
    const struct job *job;
    char kernel_sha256[SHA256_TEXT_BYTES]; /* "": no kernel was named */
    struct boot boots[OPTIONS_POLICIES_MAX];
    size_t boots_count; /* those that were begun */
    struct failure failure;
};

/* Write the run to the file PATH, in the form that docs/result.md describes. */
int result_write(const struct run *run, const char *path, struct failure *failure);

#endif
