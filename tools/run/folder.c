// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lock is a file beside the folder, `.NAME.lock`, and not in it: the folder is removed while
 * the lock is held. It is flock's, so that it vanishes with its holder, and is closed on exec, so
 * that a child does not hold it on.
 */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_REMOVE_FDS 16
#define FOLDER_ROOM_BYTES 65536

static int folder_path_join(char path[FOLDER_PATH_BYTES], const char *folder, const char *name,
                            struct failure *failure)
{
    int length = snprintf(path, FOLDER_PATH_BYTES, "%s/%s", folder, name);

    if (length < 0 || length >= FOLDER_PATH_BYTES)
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", folder);
    return STATUS_SUCCESS;
}

static int folder_mkdir(const char *path, struct failure *failure)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return STATUS_SUCCESS;
    return failure_set(failure, STATUS_BAD_INPUT, "the folder %s cannot be made: %s", path,
                       strerror(errno));
}

/* Makes BUILD and BUILD/runs, and writes the latter to RUNS. */
static int folder_runs_make(char runs[FOLDER_PATH_BYTES], const char *build,
                            struct failure *failure)
{
    int status = folder_mkdir(build, failure);

    if (status == STATUS_SUCCESS)
        status = folder_path_join(runs, build, "runs", failure);
    if (status == STATUS_SUCCESS)
        status = folder_mkdir(runs, failure);
    return status;
}

static int folder_lock(struct folder *folder, const char *runs, const char *name,
                       struct failure *failure)
{
    char lock[FOLDER_PATH_BYTES];

    if (snprintf(lock, sizeof(lock), "%s/.%s.lock", runs, name) >= (int)sizeof(lock))
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", runs);
    folder->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (folder->lock < 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be made: %s", lock,
                           strerror(errno));
    if (flock(folder->lock, LOCK_EX | LOCK_NB) == 0)
        return STATUS_SUCCESS;
    failure_set(failure, STATUS_BAD_INPUT,
                "a run named %s is still going on; wait for it, or choose another NAME", name);
    close(folder->lock);
    return failure->status;
}

static int folder_entry_remove(const char *path, const struct stat *stat, int type,
                               struct FTW *where)
{
    (void)stat;
    (void)type;
    (void)where;
    return remove(path);
}

static int folder_renew(const struct folder *folder, struct failure *failure)
{
    if (nftw(folder->path, folder_entry_remove, FOLDER_REMOVE_FDS, FTW_DEPTH | FTW_PHYS) != 0 &&
        errno != ENOENT)
        return failure_set(failure, STATUS_BAD_INPUT, "the earlier %s cannot be removed: %s",
                           folder->path, strerror(errno));
    return folder_mkdir(folder->path, failure);
}

int folder_open(struct folder *folder, const char *build, const char *name, struct failure *failure)
{
    char runs[FOLDER_PATH_BYTES];
    int status = folder_runs_make(runs, build, failure);

    if (status == STATUS_SUCCESS)
        status = folder_path_join(folder->path, runs, name, failure);
    if (status == STATUS_SUCCESS)
        status = folder_lock(folder, runs, name, failure);
    if (status != STATUS_SUCCESS)
        return status;
    status = folder_renew(folder, failure);
    if (status != STATUS_SUCCESS)
        folder_close(folder);
    return status;
}

void folder_close(struct folder *folder)
{
    close(folder->lock);
}

int folder_make(const struct folder *folder, const char *name, char path[FOLDER_PATH_BYTES],
                struct failure *failure)
{
    int status = folder_path_join(path, folder->path, name, failure);

    return status != STATUS_SUCCESS ? status : folder_mkdir(path, failure);
}

/* Writes so many bytes to a new file, which is not kept. A file system may say when it is closed
   that they had no room. */
static error_t folder_room_try(const char *path)
{
    static const char bytes[FOLDER_ROOM_BYTES] = {1};
    FILE *stream = fopen(path, "we");
    error_t error = stream == NULL ? errno : 0;

    if (error == 0 && fwrite(bytes, 1, sizeof(bytes), stream) != sizeof(bytes))
        error = errno;
    if (stream != NULL && fclose(stream) != 0 && error == 0)
        error = errno;
    unlink(path);
    return error;
}

int folder_room_check(const char *folder, struct failure *failure)
{
    char path[FOLDER_PATH_BYTES];
    int status = folder_path_join(path, folder, "room", failure);
    error_t error = status == STATUS_SUCCESS ? folder_room_try(path) : 0;

    if (error == 0)
        return status;
    return failure_set(failure, STATUS_BAD_INPUT, "nothing more can be written to %s: %s", folder,
                       strerror(error));
}

int folder_link(const struct folder *folder, const char *name, const char *file,
                struct failure *failure)
{
    char target[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES];
    char link[FOLDER_PATH_BYTES];
    int status = folder_path_join(target, name, file, failure);

    if (status == STATUS_SUCCESS)
        status = folder_path_join(path, folder->path, target, failure);
    if (status == STATUS_SUCCESS)
        status = folder_path_join(link, folder->path, file, failure);
    if (status != STATUS_SUCCESS || access(path, F_OK) != 0)
        return status;
    if (symlink(target, link) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "the link %s cannot be made: %s", link,
                           strerror(errno));
    return STATUS_SUCCESS;
}
