// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All signals that matter are blocked and taken by sigtimedwait in process_wait, so that no code
 * ever runs in a signal handler: a Ctrl-C is an event like the end of the child.
 *
 * The child sits in a process group of its own. A Ctrl-C at the terminal therefore reaches the
 * runner alone, which ends the child by its number; and whatever the child itself started goes
 * with it. Should the runner be killed outright, the kernel kills the child (PR_SET_PDEATHSIG).
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESS_GRACE_MS 1000u

static const int process_signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};

static void process_signal_set(sigset_t *set)
{
    sigemptyset(set);
    for (unsigned i = 0; i < sizeof(process_signals) / sizeof(process_signals[0]); i++)
        sigaddset(set, process_signals[i]);
}

void process_setup(void)
{
    sigset_t set;

    process_signal_set(&set);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would make children vanish unseen */
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* In the child: everything between fork and exec. Returns only with an error. */
static error_t process_exec(char *const *argv, const char *folder, const char *output, pid_t parent)
{
    sigset_t none;
    int in = open("/dev/null", O_RDONLY);
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        return errno;
    if (chdir(folder) != 0)
        return errno;
    close(in);
    close(out);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    return errno;
}

static void process_child(int report, char *const *argv, const char *folder, const char *output,
                          pid_t parent)
{
    error_t error = process_exec(argv, folder, output, parent);

    if (write(report, &error, sizeof(error)) < 0)
        _exit(126);
    _exit(127);
}

/* Waits until the child runs its program or says why it cannot. */
static error_t process_report_read(int report)
{
    error_t error = 0;
    ssize_t got;

    do {
        got = read(report, &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(error) ? error : 0;
}

static error_t process_spawn(struct process *process, char *const *argv, const char *folder,
                             const char *output)
{
    pid_t parent = getpid();
    int report[2];
    error_t error;

    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    process->pid = fork();
    if (process->pid == 0)
        process_child(report[1], argv, folder, output, parent);
    error = process->pid < 0 ? errno : 0;
    close(report[1]);
    if (error == 0) {
        setpgid(process->pid, process->pid); /* so that it is done whoever runs first */
        error = process_report_read(report[0]);
        if (error != 0)
            waitpid(process->pid, NULL, 0);
    }
    close(report[0]);
    return error;
}

int process_start(struct process *process, char *const *argv, const char *folder,
                  const char *output, struct failure *failure)
{
    error_t error;

    *process = (struct process){.code = -1};
    error = process_spawn(process, argv, folder, output);
    if (error != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be started: %s", argv[0],
                           strerror(error));
    return STATUS_SUCCESS;
}

/* Collects the child if it has ended. */
static bool process_reap(struct process *process)
{
    int status;

    if (process->pid == 0)
        return true;
    if (waitpid(process->pid, &status, WNOHANG) != process->pid)
        return false;
    process->pid = 0;
    if (WIFEXITED(status))
        process->code = WEXITSTATUS(status);
    else
        process->signal = WTERMSIG(status);
    return true;
}

enum process_event process_wait(struct process *process, unsigned milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    sigset_t set;
    int signal;

    if (process_reap(process))
        return PROCESS_ENDED;
    process_signal_set(&set);
    signal = sigtimedwait(&set, NULL, &time);
    if (signal > 0 && signal != SIGCHLD) {
        process->interrupt = signal;
        return PROCESS_INTERRUPTED;
    }
    return process_reap(process) ? PROCESS_ENDED : PROCESS_IDLE;
}

/* Waits for the end and nothing else; further signals to the runner change nothing by now. */
static bool process_wait_end(struct process *process, unsigned milliseconds)
{
    const struct timespec step = {0, 10 * 1000000L};

    for (unsigned waited = 0; waited < milliseconds; waited += 10) {
        if (process_reap(process))
            return true;
        nanosleep(&step, NULL);
    }
    return process_reap(process);
}

void process_end(struct process *process)
{
    pid_t group = process->pid;

    if (group == 0)
        return;
    kill(-group, SIGTERM);
    if (!process_wait_end(process, PROCESS_GRACE_MS)) {
        kill(-group, SIGKILL);
        while (!process_wait_end(process, PROCESS_GRACE_MS)) {
        }
    }
}
