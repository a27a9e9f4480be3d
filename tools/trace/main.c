// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * machbed-trace: looks at the trace that a run has left.
 *
 *   babeltrace.c  the same from CTF
 *   log.c      the console's log, event by event    match.c    whose a command of the disk is
 *   record.c   all that a boot left, together       align.c    the host's clock and the guest's
 *   sums.c     counted, and against result.json     kin.c      what was done for what, for one
 *   links.c    the same, for all events             tracks.c   where on a time line an event is
 *   gauge.c    queues and free pages over time      output.c   files that views make
 *   thin.c     fewer events                         html-page.c  page/, in this program
 *   summary.c, request.c, latency.c, csv.c, perfetto.c, html.c, plot.c  the views
 *
 * Warnings go to the standard error, so that the rows of csv can be piped.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/machine.h"
#include "run/options.h"
#include "run/size.h"
#include "view.h"

#define MAIN_NAMES_BYTES 256

struct main_options {
    const char *build;
    const char *name;
    const char *policy;
    const char *server;
    const struct choice *view;
    uint64_t request;
};

static int main_view_read(struct main_options *options, const char *value, struct failure *failure)
{
    char names[MAIN_NAMES_BYTES];

    options->view = choice_lookup(view_choices, value);
    if (options->view == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "--view: unknown value '%s'; there are: %s",
                           value, choice_names(view_choices, names, sizeof(names)));
    return STATUS_SUCCESS;
}

static int main_policy_read(struct main_options *options, const char *value,
                            struct failure *failure)
{
    char names[MAIN_NAMES_BYTES];
    const struct policy *policy = policy_lookup(value);

    if (policy == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "--policy: unknown value '%s'; there are: %s",
                           value, policy_names(names, sizeof(names)));
    options->policy = policy->choice.name;
    return STATUS_SUCCESS;
}

static int main_option_read(struct main_options *options, const char *name, const char *value,
                            struct failure *failure)
{
    if (strcmp(name, "--view") == 0)
        return main_view_read(options, value, failure);
    if (strcmp(name, "--policy") == 0)
        return main_policy_read(options, value, failure);
    if (strcmp(name, "--build") == 0)
        options->build = value;
    else if (strcmp(name, "--name") == 0)
        options->name = value;
    else if (strcmp(name, "--server") == 0)
        options->server = value;
    else if (strcmp(name, "--request") != 0)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "unknown option '%s'; there are: --build, --name, --policy, --request, "
                           "--server, --view",
                           name);
    else if (number_parse(value, &options->request) != 0 || options->request == 0)
        return failure_set(failure, STATUS_BAD_INPUT, "--request: '%s' is not a number above zero",
                           value);
    return STATUS_SUCCESS;
}

static int main_options_read(struct main_options *options, char **argv, struct failure *failure)
{
    int status = STATUS_SUCCESS;

    for (; status == STATUS_SUCCESS && argv[0] != NULL; argv += 2) {
        if (argv[1] == NULL)
            return failure_set(failure, STATUS_BAD_INPUT, "%s: its value is missing", argv[0]);
        status = main_option_read(options, argv[0], argv[1], failure);
    }
    if (status == STATUS_SUCCESS && options->name == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "which run? NAME=, a folder in %s/runs",
                           options->build);
    if (status == STATUS_SUCCESS)
        status = options_name_check(options->name, failure);
    return status;
}

/* The entry of a policy in result.json, or NULL. */
static json_t *main_job_lookup(const json_t *result, const char *policy)
{
    const json_t *jobs = json_object_get(result, "jobs");

    for (size_t i = 0; i < json_array_size(jobs); i++) {
        json_t *job = json_array_get(jobs, i);
        const char *name = json_string_value(json_object_get(job, "policy"));

        if (name != NULL && strcmp(name, policy) == 0)
            return job;
    }
    return NULL;
}

static bool main_has_boot(const char *run, const char *policy)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/%s/%s", run, policy, MACHINE_SERIAL) < PATH_MAX &&
           access(path, F_OK) == 0;
}

static void main_warnings_print(const struct record *record)
{
    for (size_t i = 0; i < record->warnings_count; i++)
        fprintf(stderr, "machbed: warning: policy %s: %s\n", record->policy->choice.name,
                record->warnings[i]);
}

/* Reads the boots of the run: the policy that was chosen, or all. */
static int main_records_load(struct view_case *view, const struct main_options *options,
                             struct failure *failure)
{
    int status = STATUS_SUCCESS;

    for (size_t i = 0; i < policies_count && status == STATUS_SUCCESS; i++) {
        const char *policy = policies[i].choice.name;

        if (options->policy != NULL && strcmp(options->policy, policy) != 0)
            continue;
        if (view->count == VIEW_RECORDS_MAX || !main_has_boot(view->folder, policy))
            continue;
        status = record_load(&view->records[view->count++], view->folder, &policies[i],
                             main_job_lookup(view->result, policy), failure);
        main_warnings_print(&view->records[view->count - 1]);
    }
    if (status == STATUS_SUCCESS && view->count == 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s holds no %s of %s", view->folder,
                           MACHINE_SERIAL,
                           options->policy == NULL ? "any policy" : options->policy);
    return status;
}

/* What the runner has written of the run; NULL: a warning says that it is not there. */
static json_t *main_result_load(const char *run)
{
    char path[PATH_MAX];
    json_t *result;

    snprintf(path, sizeof(path), "%.*s/result.json", PATH_MAX - 64, run);
    result = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    if (result == NULL)
        fprintf(stderr, "machbed: warning: %s cannot be read: there is nothing to compare with\n",
                path);
    return result;
}

static int main_records_show(struct view_case *view, const struct main_options *options,
                             struct failure *failure)
{
    int status;

    view->records = calloc(VIEW_RECORDS_MAX, sizeof(*view->records));
    if (view->records == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "out of memory");
    status = main_records_load(view, options, failure);
    if (status == STATUS_SUCCESS)
        status = view_lookup(options->view)(view, failure);
    for (size_t i = 0; i < view->count; i++)
        record_destroy(&view->records[i]);
    free(view->records);
    return status;
}

static int main_view(const struct main_options *options, struct failure *failure)
{
    char run[PATH_MAX];
    struct view_case view = {.name = options->name,
                             .folder = run,
                             .request = options->request,
                             .server = options->server,
                             .stream = stdout};
    json_t *result;
    int status;

    if (snprintf(run, sizeof(run), "%s/runs/%s", options->build, options->name) >= PATH_MAX - 64)
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", options->build);
    if (access(run, F_OK) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "there is no run %s: %s: %s", options->name,
                           run, strerror(errno));
    result = main_result_load(run);
    view.result = result;
    status = main_records_show(&view, options, failure);
    json_decref(result);
    return status;
}

int main(int argc, char **argv)
{
    struct main_options options = {.build = "build", .view = &view_choices[0]};
    struct failure failure = {0};

    if (main_options_read(&options, argv + (argc > 0), &failure) == STATUS_SUCCESS)
        main_view(&options, &failure);
    if (fflush(stdout) != 0 || ferror(stdout))
        failure_set(&failure, STATUS_BAD_INPUT, "what the view says cannot be written: %s",
                    strerror(errno));
    if (failure.status != STATUS_SUCCESS)
        fprintf(stderr, "machbed: status %d: %s\n", failure.status, failure.reason);
    return failure.status;
}
