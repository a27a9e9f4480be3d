// SPDX-License-Identifier: GPL-2.0-or-later
#include "startup/startup.h"

#include <stdlib.h>
#include <string.h>

#include "librt/log.h"
#include "librt/sync.h"

#include "server_user.h"

static struct startup_task tasks[STARTUP_TASKS_MAX];
static size_t ntasks;
static struct rt_mutex services_lock = {.name = "services"};
static struct rt_cond services_changed = {.name = "service_registered"};

static mach_port_t startup_port_of_word(const char *value)
{
    return (mach_port_t)strtoul(value, NULL, 0);
}

static void startup_task_add(char *word)
{
    char *equals = strchr(word, '=');

    if (equals == NULL)
        rt_panic("boot script: '%s' is not name=port", word);
    *equals = '\0';
    if (strcmp(word, "host") == 0)
        startup_privileges.host = startup_port_of_word(equals + 1);
    else if (strcmp(word, "dev") == 0)
        startup_privileges.device_master = startup_port_of_word(equals + 1);
    else if (ntasks < STARTUP_TASKS_MAX)
        tasks[ntasks++] =
            (struct startup_task){.name = word, .task = startup_port_of_word(equals + 1)};
    else
        rt_panic("boot script: more than %d tasks", STARTUP_TASKS_MAX);
}

void startup_tasks_init(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        startup_task_add(argv[i]);
    if (startup_privileges.host == MACH_PORT_NULL ||
        startup_privileges.device_master == MACH_PORT_NULL)
        rt_panic("boot script: startup needs the words host= and dev=");
}

static struct startup_task *startup_task_find(const char *name)
{
    for (size_t i = 0; i < ntasks; i++)
        if (strcmp(tasks[i].name, name) == 0)
            return &tasks[i];
    return NULL;
}

const struct startup_task *startup_task_get(size_t n)
{
    return n < ntasks ? &tasks[n] : NULL;
}

const char *startup_task_name(task_t task)
{
    if (task == mach_task_self())
        return rt_image.name;
    for (size_t i = 0; i < ntasks; i++)
        if (tasks[i].task == task)
            return tasks[i].name;
    return NULL;
}

static kern_return_t startup_task_give_exit_port(task_t task)
{
    mach_port_t permission;
    kern_return_t kr =
        i386_io_perm_create(startup_privileges.device_master, STARTUP_EXIT_PORT_FIRST,
                            STARTUP_EXIT_PORT_LAST, &permission);

    if (kr != KERN_SUCCESS)
        return kr;
    return i386_io_perm_modify(task, permission, TRUE);
}

static kern_return_t startup_task_watch(task_t task, mach_port_t port)
{
    mach_port_t previous = MACH_PORT_NULL;

    return mach_port_request_notification(mach_task_self(), task, MACH_NOTIFY_DEAD_NAME, 0, port,
                                          MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous);
}

static kern_return_t startup_task_prepare(task_t task, mach_port_t port)
{
    kern_return_t kr = startup_task_give_exit_port(task);

    if (kr == KERN_SUCCESS)
        kr = task_set_special_port(task, TASK_BOOTSTRAP_PORT, port);
    if (kr == KERN_SUCCESS)
        kr = task_set_special_port(task, TASK_EXCEPTION_PORT, port);
    if (kr == KERN_SUCCESS)
        kr = startup_task_watch(task, port);
    return kr;
}

static void startup_task_start(struct startup_task *task, mach_port_t port)
{
    kern_return_t kr = startup_task_prepare(task->task, port);

    if (kr == KERN_SUCCESS)
        kr = task_resume(task->task);
    if (kr != KERN_SUCCESS)
        rt_panic("starting %s: error %#x", task->name, kr);
    task->started = true;
}

static void startup_tasks_start_named(char *names, mach_port_t port)
{
    char *rest = NULL;

    for (char *name = strtok_r(names, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest)) {
        struct startup_task *task = startup_task_find(name);

        if (task == NULL) {
            rt_log("the boot medium has no task '%s'", name);
            startup_end(2, "the boot medium lacks a server that the job needs");
        }
        startup_task_start(task, port);
    }
}

void startup_tasks_start(const char *servers, mach_port_t port)
{
    char *names = strdup(servers);

    if (names == NULL)
        rt_panic("no memory for the list of servers");
    rt_assert(startup_task_prepare(mach_task_self(), port) == KERN_SUCCESS);
    startup_tasks_start_named(names, port);
    free(names);
    for (size_t i = 0; i < ntasks; i++)
        if (!tasks[i].started)
            task_terminate(tasks[i].task);
}

error_t startup_service_add(const char *name, mach_port_t port)
{
    struct startup_task *task = startup_task_find(name);
    error_t error = 0;

    if (task == NULL)
        return ENOENT;
    rt_mutex_lock(&services_lock);
    if (task->service == MACH_PORT_NULL)
        task->service = port;
    else
        error = EEXIST;
    rt_cond_broadcast(&services_changed);
    rt_mutex_unlock(&services_lock);
    return error;
}

mach_port_t startup_service_wait(const char *name)
{
    struct startup_task *task = startup_task_find(name);

    if (task == NULL)
        return MACH_PORT_NULL;
    rt_mutex_lock(&services_lock);
    while (task->service == MACH_PORT_NULL)
        rt_cond_wait(&services_changed, &services_lock);
    rt_mutex_unlock(&services_lock);
    return task->service;
}

void startup_tasks_report(void)
{
    for (size_t i = 0; i < ntasks; i++) {
        kern_return_t kr = KERN_SUCCESS;

        if (tasks[i].service != MACH_PORT_NULL)
            kr = server_report(tasks[i].service);
        if (kr != KERN_SUCCESS)
            rt_log("%s does not report: error %#x", tasks[i].name, kr);
    }
}
