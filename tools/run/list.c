// SPDX-License-Identifier: GPL-2.0-or-later
#include "list.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "combination.h"
#include "job.h"
#include "size.h"

static void list_choice_print(const struct choice *choice, FILE *stream)
{
    fprintf(stream, "  %-12s %s\n", choice->name, choice->what);
}

static void list_table_print(const char *title, const struct choice *table, FILE *stream)
{
    fprintf(stream, "\n%s\n", title);
    for (; table->name != NULL; table++)
        list_choice_print(table, stream);
}

static void list_policies_print(FILE *stream)
{
    fprintf(stream, "policies (POLICY, one or several with commas between)\n");
    for (size_t i = 0; i < policies_count; i++)
        list_choice_print(&policies[i].choice, stream);
}

static void list_disks_print(FILE *stream)
{
    fprintf(stream, "\ndisks (DISK)\n");
    for (size_t i = 0; i < disks_count; i++)
        list_choice_print(&disks[i].choice, stream);
}

static int list_job_filter(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return entry->d_name[0] != '.' && dot != NULL && strcmp(dot, ".job") == 0;
}

/* What a job is for: the comment that its file begins with. */
static void list_comment_print(const char *path, FILE *stream)
{
    FILE *file = fopen(path, "r");
    char line[1024];

    if (file == NULL)
        return;
    while (fgets(line, sizeof(line), file) != NULL && line[0] == '#')
        fprintf(stream, "      %s", line + 1 + strspn(line + 1, " "));
    fclose(file);
}

static void list_job_print(const char *folder, const char *name, FILE *stream)
{
    char path[4096];
    struct failure failure = {0};
    struct job job = {0};

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return;
    if (job_load(&job, path, &failure) != STATUS_SUCCESS)
        fprintf(stream, "  %s: %s\n", path, failure.reason);
    else
        fprintf(stream, "  %-22s %s: fs=%s rw=%s ioengine=%s size=%s\n", path, job.name, job.fs,
                job.rw, job.ioengine, SIZE_TEXT(job.size));
    list_comment_print(path, stream);
    job_destroy(&job);
}

static void list_jobs_print(const char *folder, FILE *stream)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, list_job_filter, alphasort);

    fprintf(stream, "\njobs (JOB)\n");
    for (int i = 0; i < count; i++) {
        list_job_print(folder, entries[i]->d_name, stream);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

void list_print(const char *jobs, FILE *stream)
{
    list_policies_print(stream);
    list_disks_print(stream);
    list_table_print("ways to boot (BOOT)", choice_boots, stream);
    list_table_print("boot media (MEDIUM)", choice_mediums, stream);
    list_table_print("machines (MACHINE)", choice_machines, stream);
    list_table_print("firmware (FIRMWARE)", choice_firmwares, stream);
    list_table_print("accelerators (ACCEL)", choice_accels, stream);
    list_table_print("kernels (VARIANT)", choice_variants, stream);
    list_table_print("events of each request (TRACE)", choice_traces, stream);
    list_table_print("kinds of event (TRACE_EVENTS, all or several with commas between)",
                     choice_trace_kinds, stream);
    combination_list(stream);
    list_jobs_print(jobs, stream);
    fprintf(stream, "\nkeys of a job file (docs/jobs.md)\n");
    job_print_keys(stream);
}
