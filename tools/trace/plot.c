// SPDX-License-Identifier: GPL-2.0-or-later
#include "plot.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"
#include "run/process.h"
#include "run/tool.h"

#define PLOT_FOLDER "plots"
#define PLOT_SCRIPT "plots.gnuplot"
#define PLOT_LOG    "gnuplot.log"

static int plot_folder_make(const struct view_case *view, char folder[PATH_MAX],
                            struct failure *failure)
{
    if (snprintf(folder, PATH_MAX, "%s/" PLOT_FOLDER, view->folder) >= PATH_MAX - 64)
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", view->folder);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be made: %s", folder,
                           strerror(errno));
    return STATUS_SUCCESS;
}

static int plot_script_write(const struct view_case *view, const char *folder,
                             struct failure *failure)
{
    struct output output = {0};
    struct latency *latency;
    uint64_t bytes;
    int status = output_open(&output, folder, NULL, PLOT_SCRIPT, failure);

    if (status != STATUS_SUCCESS)
        return status;
    latency = latency_create(view);
    plot_script_print(view, latency, output.stream);
    latency_free(latency);
    return output_close(&output, &bytes, failure);
}

static int plot_draw(const char *folder, struct failure *failure)
{
    struct command command;
    char log[PATH_MAX];
    char said[256];
    int code;
    int status;

    if (!tool_is_there("gnuplot"))
        return failure_set(failure, STATUS_BAD_INPUT,
                           "there is no program gnuplot; the Debian package gnuplot-nox has it");
    snprintf(log, sizeof(log), "%.*s/" PLOT_LOG, PATH_MAX - 64, folder);
    command_init(&command);
    command_add(&command, "gnuplot");
    command_add(&command, PLOT_SCRIPT);
    process_setup();
    status = tool_run(&command, folder, log, &code, failure);
    command_destroy(&command);
    if (status != STATUS_SUCCESS)
        return status;
    tool_last_line_read(log, said, sizeof(said));
    if (code != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "gnuplot failed: %s; see %s", said, log);
    return STATUS_SUCCESS;
}

int view_plot(const struct view_case *view, struct failure *failure)
{
    char folder[PATH_MAX];
    int status = plot_folder_make(view, folder, failure);

    if (status == STATUS_SUCCESS)
        status = plot_script_write(view, folder, failure);
    if (status == STATUS_SUCCESS)
        status = plot_draw(folder, failure);
    if (status != STATUS_SUCCESS)
        return status;
    fprintf(view->stream, "%s: sizes, latency", folder);
    for (size_t i = 0; i < view->count; i++)
        fprintf(view->stream, ", offset-%s", view->records[i].policy->choice.name);
    fputs(", each as .png and .svg; " PLOT_SCRIPT " draws them\n", view->stream);
    return STATUS_SUCCESS;
}
