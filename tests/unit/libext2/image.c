// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image.h"

#define IMAGE_HOLE 4096u

static char image_file[256];
static char image_output[1 << 20];

static void image_fail(const char *what)
{
    perror(what);
    abort();
}

static void image_remove(void)
{
    unlink(image_file);
}

static const char *image_path(void)
{
    if (image_file[0] != '\0')
        return image_file;
    const char *folder = getenv("TMPDIR");
    if (folder == NULL) /* e2fsprogs syncs what it has written, so rather no disk */
        folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(image_file, sizeof image_file, "%s/libext2-XXXXXX", folder);
    int fd = mkstemp(image_file);
    if (fd < 0)
        image_fail(image_file);
    close(fd);
    atexit(image_remove);
    return image_file;
}

int image_run(char *output, size_t size, const char *format, ...)
{
    char command[1024] = "PATH=$PATH:/usr/sbin:/sbin; ";
    size_t length = strlen(command);
    va_list args;
    va_start(args, format);
    vsnprintf(command + length, sizeof command - length, format, args);
    va_end(args);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        image_fail(command);
    size_t got = fread(output, 1, size - 1, pipe);
    output[got] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool image_load(struct device *device, const char *path)
{
    struct stat stat;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &stat) != 0)
        return false;
    device_init(device, (uint64_t)stat.st_size);
    bool done = read(fd, device->bytes, device->size) == (ssize_t)device->size;
    close(fd);
    return done;
}

void image_make(struct device *device, const char *options, uint64_t size)
{
    const char *path = image_path();
    if (truncate(path, 0) != 0 || truncate(path, (off_t)size) != 0)
        image_fail(path);
    int status = image_run(image_output, sizeof image_output,
                           "E2FSPROGS_FAKE_TIME=1600000000 mke2fs -q -F %s %s 2>&1", options, path);
    if (status != 0 || !image_load(device, path)) {
        fprintf(stderr, "mke2fs: %s\n", image_output);
        abort();
    }
}

/* Write what is not zero, so that the file stays small. */
static void image_write(const struct device *device, int fd)
{
    static const uint8_t zeros[IMAGE_HOLE];
    for (uint64_t offset = 0; offset < device->size; offset += IMAGE_HOLE) {
        size_t left = (size_t)(device->size - offset);
        size_t here = left < IMAGE_HOLE ? left : IMAGE_HOLE;
        if (memcmp(device->bytes + offset, zeros, here) != 0 &&
            pwrite(fd, device->bytes + offset, here, (off_t)offset) != (ssize_t)here)
            image_fail(image_file);
    }
}

const char *image_store(const struct device *device)
{
    const char *path = image_path();
    int fd = open(path, O_WRONLY | O_TRUNC);
    if (fd < 0 || ftruncate(fd, (off_t)device->size) != 0)
        image_fail(path);
    image_write(device, fd);
    close(fd);
    return path;
}

bool image_is_clean(const struct device *device)
{
    const char *path = image_store(device);
    int status =
        image_run(image_output, sizeof image_output, "e2fsck -fn %s 2>&1 < /dev/null", path);
    if (status != 0)
        fprintf(stderr, "%s\n", image_output);
    return status == 0;
}

const char *image_debugfs(const struct device *device, const char *request)
{
    const char *path = image_store(device);
    image_run(image_output, sizeof image_output, "debugfs -R '%s' %s 2>/dev/null", request, path);
    return image_output;
}

/* One item of "BLOCKS:", such as (12-1035):600-1623 or (IND):599. */
static bool image_parse_item(const char *item, unsigned long *block, unsigned long *count)
{
    unsigned long first;
    unsigned long last;
    unsigned long end;
    if (sscanf(item, "(%lu-%lu):%lu-%lu", &first, &last, block, &end) == 4) {
        *count = end - *block + 1;
        return true;
    }
    *count = 1;
    return sscanf(item, "(%lu):%lu", &first, block) == 2;
}

unsigned int image_count_extents(const struct device *device, const char *name)
{
    char request[300];
    unsigned int nextents = 0;
    unsigned long next = 0;
    unsigned long block;
    unsigned long count;
    char *save;
    snprintf(request, sizeof request, "stat %s", name);
    (void)image_debugfs(device, request);
    char *items = strstr(image_output, "BLOCKS:");
    for (char *item = items != NULL ? strtok_r(items, " ,\n", &save) : NULL; item != NULL;
         item = strtok_r(NULL, " ,\n", &save)) {
        if (!image_parse_item(item, &block, &count))
            continue;
        nextents += block != next ? 1 : 0;
        next = block + count;
    }
    return nextents;
}
