// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * limit LOGS TEST [ARGUMENT...]: runs one test for `prove`, and sees to it that it ends.
 *
 * What a test starts may start more, in process groups, sessions and terminals of its own. The
 * kernel makes this program the parent of those whose parent is gone (PR_SET_CHILD_SUBREAPER), so
 * that all of them can be found below it. They are ended, asked first and then killed,
 *
 *  - when the test takes longer than TEST_SECONDS: it fails by its name, and the others still run;
 *  - when this program is told to end, by Ctrl-C, or because prove is gone (PR_SET_PDEATHSIG);
 *  - when the test has ended and something that it has started has not: it fails for that.
 *
 * Then this program ends, and not before. Nobody else holds the pipe that prove reads, so that
 * prove does not come to wait for what a test has left.
 *
 * What the test prints goes on to prove, and into the file LOGS/NAME. When it fails,
 * LOGS/NAME.failed says how, in a line, for tests/explain.sh.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_SECONDS    600u  /* that a test may take, where TEST_SECONDS does not say */
#define LIMIT_LINGER_MS  15000 /* that a test's processes may take to end after it */
#define LIMIT_ASK_MS     10000 /* from asking them to end to killing them */
#define LIMIT_GIVE_UP_MS 30000 /* from asking to leaving alone what the kernel does not end */
#define LIMIT_STEP_MS    50
#define LIMIT_STATUS     124 /* as timeout(1) has it */
#define LIMIT_BAD_INPUT  2

enum limit_stream { LIMIT_OUT, LIMIT_ERR, LIMIT_STREAMS };

struct limit {
    const char *test;
    const char *name; /* the same without folders */
    const char *logs;
    unsigned seconds;
    pid_t pid;   /* the test's, 0 once it has ended */
    int status;  /* what it ended with, as wait has it */
    int told;    /* the signal that told this program to end, or 0 */
    int signals; /* where signals are read */
    int log;
    int pipes[LIMIT_STREAMS]; /* what the test prints; -1 at its end */
};

struct limit_process {
    pid_t pid;
    pid_t parent;
    bool is_below; /* this program */
};

/* Every process of the machine, as last looked at. */
static struct {
    struct limit_process *at;
    size_t count;
    size_t room;
} limit_processes;

static int64_t limit_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- What is printed ------------------------------------------------------------------------- */

static void limit_write(int file, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = write(file, text, bytes);

        if (done < 0 && errno != EINTR)
            return; /* prove is gone, or the disk is full: there is nobody to tell */
        if (done > 0) {
            text += done;
            bytes -= (size_t)done;
        }
    }
}

/* Say something to FILE and to the log: to prove on the standard output, to who looks on, for whom
   prove has no comments, on the standard error. */
static void __attribute__((format(printf, 3, 4)))
limit_say(const struct limit *limit, int file, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    limit_write(file, text, strlen(text));
    limit_write(limit->log, text, strlen(text));
}

/* Pass on what the test has printed to STREAM. */
static void limit_pass(struct limit *limit, enum limit_stream stream)
{
    static const int to[LIMIT_STREAMS] = {STDOUT_FILENO, STDERR_FILENO};
    char text[65536];
    ssize_t got = read(limit->pipes[stream], text, sizeof(text));

    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        close(limit->pipes[stream]);
        limit->pipes[stream] = -1;
        return;
    }
    limit_write(to[stream], text, (size_t)got);
    limit_write(limit->log, text, (size_t)got);
}

/* --- Processes ------------------------------------------------------------------------------- */

/* Read who the parent of PID is, if PID has not ended. The name, in parentheses, may hold any. */
static bool limit_process_read(pid_t pid, pid_t *parent)
{
    char path[64];
    char text[512] = "";
    const char *at;
    FILE *stream;
    char state;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    stream = fopen(path, "re");
    if (stream == NULL)
        return false;
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    at = strrchr(text, ')');
    return at != NULL && sscanf(at, ") %c %d", &state, parent) == 2 && strchr("ZXx", state) == NULL;
}

static void limit_process_add(pid_t pid, pid_t parent)
{
    if (limit_processes.count == limit_processes.room) {
        limit_processes.room = 2 * limit_processes.room + 256;
        limit_processes.at =
            reallocarray(limit_processes.at, limit_processes.room, sizeof(limit_processes.at[0]));
        if (limit_processes.at == NULL)
            err(LIMIT_BAD_INPUT, "limit");
    }
    limit_processes.at[limit_processes.count++] = (struct limit_process){pid, parent, false};
}

static void limit_processes_read(void)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;

    if (folder == NULL)
        err(LIMIT_BAD_INPUT, "limit: /proc");
    limit_processes.count = 0;
    while ((entry = readdir(folder)) != NULL) {
        pid_t pid = atoi(entry->d_name);
        pid_t parent;

        if (pid > 0 && limit_process_read(pid, &parent))
            limit_process_add(pid, parent);
    }
    closedir(folder);
}

static bool limit_is_below(pid_t pid)
{
    if (pid == getpid())
        return true;
    for (size_t i = 0; i < limit_processes.count; i++) {
        if (limit_processes.at[i].pid == pid)
            return limit_processes.at[i].is_below;
    }
    return false;
}

/* Look for the processes below this one. Returns how many there are. */
static unsigned limit_processes_find(void)
{
    unsigned found = 0;
    bool more = true;

    limit_processes_read();
    while (more) {
        more = false;
        for (size_t i = 0; i < limit_processes.count; i++) {
            struct limit_process *process = &limit_processes.at[i];

            if (!process->is_below && limit_is_below(process->parent)) {
                process->is_below = more = true;
                found++;
            }
        }
    }
    return found;
}

static void limit_processes_signal(int signal)
{
    for (size_t i = 0; i < limit_processes.count; i++) {
        if (limit_processes.at[i].is_below)
            kill(limit_processes.at[i].pid, signal);
    }
}

/* Say which processes were found, with their arguments. */
static void limit_processes_tell(const struct limit *limit)
{
    for (size_t i = 0; i < limit_processes.count; i++) {
        char path[64];
        char text[400] = "";
        size_t bytes = 0;
        FILE *stream;

        snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)limit_processes.at[i].pid);
        stream = limit_processes.at[i].is_below ? fopen(path, "re") : NULL;
        if (stream == NULL)
            continue;
        bytes = fread(text, 1, sizeof(text) - 1, stream);
        fclose(stream);
        for (size_t j = 0; j < bytes; j++)
            text[j] = text[j] == '\0' || text[j] == '\n' ? ' ' : text[j];
        limit_say(limit, STDERR_FILENO, "# process %d: %s\n", (int)limit_processes.at[i].pid, text);
    }
}

/* --- The test -------------------------------------------------------------------------------- */

static void limit_signals_setup(struct limit *limit)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    limit->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (limit->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
        prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
        err(LIMIT_BAD_INPUT, "limit");
}

/* In the child. Its process group is its own: a Ctrl-C is for this program, which passes it on. */
static _Noreturn void limit_exec(char **argv, const int ends[LIMIT_STREAMS])
{
    int null = open("/dev/null", O_RDONLY);
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(null, STDIN_FILENO);
    dup2(ends[LIMIT_OUT], STDOUT_FILENO);
    dup2(ends[LIMIT_ERR], STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    err(127, "%s", argv[0]);
}

static void limit_start(struct limit *limit, char **argv)
{
    int ends[LIMIT_STREAMS];

    for (unsigned i = 0; i < LIMIT_STREAMS; i++) {
        int both[2];

        if (pipe2(both, O_CLOEXEC) != 0)
            err(LIMIT_BAD_INPUT, "limit");
        limit->pipes[i] = both[0];
        ends[i] = both[1];
    }
    limit->pid = fork();
    if (limit->pid < 0)
        err(LIMIT_BAD_INPUT, "limit");
    if (limit->pid == 0)
        limit_exec(argv, ends);
    for (unsigned i = 0; i < LIMIT_STREAMS; i++)
        close(ends[i]);
}

/* Bury the dead, those of others too. */
static void limit_reap(struct limit *limit)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != limit->pid)
            continue;
        limit->pid = 0;
        limit->status = status;
    }
}

/* Wait for what happens next, for at most MILLISECONDS. */
static void limit_step(struct limit *limit, int milliseconds)
{
    struct pollfd polls[LIMIT_STREAMS + 1];
    struct signalfd_siginfo got;

    for (unsigned i = 0; i < LIMIT_STREAMS; i++)
        polls[i] = (struct pollfd){.fd = limit->pipes[i], .events = POLLIN};
    polls[LIMIT_STREAMS] = (struct pollfd){.fd = limit->signals, .events = POLLIN};
    if (poll(polls, LIMIT_STREAMS + 1, milliseconds) <= 0)
        return;
    for (unsigned i = 0; i < LIMIT_STREAMS; i++) {
        if (polls[i].revents != 0)
            limit_pass(limit, i);
    }
    while (read(limit->signals, &got, sizeof(got)) == (ssize_t)sizeof(got)) {
        if (got.ssi_signo != SIGCHLD && limit->told == 0)
            limit->told = (int)got.ssi_signo;
    }
    limit_reap(limit);
}

/* Wait until no process is left, for at most MILLISECONDS. Returns whether that is so. */
static bool limit_wait_all(struct limit *limit, int milliseconds)
{
    int64_t end = limit_clock_ms() + milliseconds;

    while (limit_processes_find() > 0) {
        if (limit_clock_ms() >= end)
            return false;
        limit_step(limit, LIMIT_STEP_MS);
        limit_reap(limit);
    }
    return true;
}

/* End all that the test has started. */
static void limit_end_all(struct limit *limit)
{
    limit_processes_find();
    limit_processes_signal(SIGTERM);
    limit_processes_signal(SIGCONT);
    if (limit_wait_all(limit, LIMIT_ASK_MS))
        return;
    for (int waited = 0; waited < LIMIT_GIVE_UP_MS; waited += LIMIT_STEP_MS) {
        limit_processes_signal(SIGKILL);
        if (limit_wait_all(limit, LIMIT_STEP_MS))
            return;
    }
    limit_say(limit, STDERR_FILENO, "# these cannot be ended:\n");
    limit_processes_tell(limit);
}

/* All who could write are gone: pass the rest on. */
static void limit_drain(struct limit *limit)
{
    int64_t end = limit_clock_ms() + LIMIT_LINGER_MS;

    while ((limit->pipes[LIMIT_OUT] >= 0 || limit->pipes[LIMIT_ERR] >= 0) && limit_clock_ms() < end)
        limit_step(limit, LIMIT_STEP_MS);
}

/* --- How it went ----------------------------------------------------------------------------- */

static bool limit_ends(struct limit *limit)
{
    int64_t end = limit_clock_ms() + (int64_t)limit->seconds * 1000;

    while (limit->pid != 0 && limit->told == 0 && limit_clock_ms() < end)
        limit_step(limit, LIMIT_STEP_MS * 10);
    return limit->pid == 0;
}

static void limit_log_failure(const struct limit *limit, const char *how)
{
    char path[4096];
    FILE *stream;

    snprintf(path, sizeof(path), "%s/%s.failed", limit->logs, limit->name);
    stream = fopen(path, "we");
    if (stream == NULL)
        return; /* prove's own summary names the test all the same */
    fprintf(stream, "%s %s\n", limit->test, how);
    fclose(stream);
}

/* The test has not come to its end, or not all of it: HOW. */
static void limit_fail(struct limit *limit, const char *how)
{
    limit_processes_find();
    limit_say(limit, STDERR_FILENO, "\n#   Failed test: %s %s; going on:\n", limit->test, how);
    limit_processes_tell(limit);
    limit_end_all(limit);
    limit_drain(limit);
    limit_say(limit, STDOUT_FILENO, "\nnot ok - %s %s\n", limit->test, how);
    limit_log_failure(limit, how);
}

static int limit_fail_late(struct limit *limit)
{
    char how[64];

    snprintf(how, sizeof(how), "did not end within %u seconds", limit->seconds);
    if (limit->told != 0)
        snprintf(how, sizeof(how), "was interrupted by signal %d", limit->told);
    limit_fail(limit, how);
    return limit->told != 0 ? 128 + limit->told : LIMIT_STATUS;
}

static int limit_judge(struct limit *limit)
{
    char how[64];
    int status;

    if (!limit_wait_all(limit, LIMIT_LINGER_MS)) {
        limit_fail(limit, "leaves a process behind");
        return LIMIT_STATUS;
    }
    limit_drain(limit);
    if (WIFSIGNALED(limit->status)) {
        status = 128 + WTERMSIG(limit->status);
        snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(limit->status));
    } else {
        status = WEXITSTATUS(limit->status);
        snprintf(how, sizeof(how), "failed with status %d", status);
    }
    if (status != 0)
        limit_log_failure(limit, how);
    return status;
}

/* --- The beginning --------------------------------------------------------------------------- */

static unsigned limit_seconds(void)
{
    const char *text = getenv("TEST_SECONDS");
    unsigned long seconds;
    char *end;

    if (text == NULL)
        return LIMIT_SECONDS;
    seconds = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || seconds == 0 || seconds > 1000000)
        errx(LIMIT_BAD_INPUT, "TEST_SECONDS: '%s' is not a number of seconds", text);
    return (unsigned)seconds;
}

static void limit_log_open(struct limit *limit)
{
    const char *slash = strrchr(limit->test, '/');
    char path[4096];

    limit->name = slash == NULL ? limit->test : slash + 1;
    snprintf(path, sizeof(path), "%s/%s.failed", limit->logs, limit->name);
    unlink(path);
    snprintf(path, sizeof(path), "%s/%s", limit->logs, limit->name);
    limit->log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (limit->log < 0)
        err(LIMIT_BAD_INPUT, "%s", path);
}

int main(int argc, char **argv)
{
    struct limit limit = {0};

    if (argc < 3)
        errx(LIMIT_BAD_INPUT, "usage: limit LOGS TEST [ARGUMENT...]");
    limit.logs = argv[1];
    limit.test = argv[2];
    limit.seconds = limit_seconds();
    limit_log_open(&limit);
    limit_signals_setup(&limit);
    limit_start(&limit, argv + 2);
    return limit_ends(&limit) ? limit_judge(&limit) : limit_fail_late(&limit);
}
