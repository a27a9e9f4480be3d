// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random sequences of all operations, each step compared with a model in memory; at intervals
 * e2fsck looks at the image, and libext2fs compares all of it with the model.
 *
 *   test-libext2-model [STEPS [SEED]]
 *
 * A sequence that fails is run again and again, without parts of it, until no part can go; what is
 * left is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

#define MODEL_STEPS    510000u
#define MODEL_SEQUENCE 10000u /* steps on one image */
#define MODEL_CHECK    2500u  /* steps between two looks at the image */

static const struct {
    const char *options;
    uint64_t size;
    bool direct;
} model_images[] = {
    {"-t ext2 -b 1024 -N 400", 6 << 20, true},
    {"-t ext2 -b 2048 -N 400", 8 << 20, true},
    {"-t ext2 -b 4096 -N 400", 16 << 20, true},
    {"-t ext2 -b 1024 -N 80 -I 128 -O ^filetype", 2 << 20, false},
    {"-t ext2 -b 2048 -I 128 -O ^sparse_super,^resize_inode", 6 << 20, true},
    {"-t ext2 -b 1024 -r 0", 5 << 20, true},
    {"-t ext2 -b 4096 -I 256 -g 1024", 12 << 20, false},
};

#define MODEL_IMAGES (sizeof model_images / sizeof model_images[0])

static uint64_t model_random_state;

/* splitmix64 */
static uint64_t model_random(void)
{
    uint64_t z = model_random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void model_steps_make(struct step *steps, uint32_t count, uint64_t seed)
{
    model_random_state = seed;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t first = model_random();
        uint64_t second = model_random();
        steps[i] = (struct step){(uint32_t)first, (uint32_t)(first >> 32), (uint32_t)second,
                                 (uint32_t)(second >> 32)};
    }
}

static void model_run(const struct step *steps, uint32_t count, unsigned int image)
{
    static struct world world;
    world_setup(&world, model_images[image].options, model_images[image].size);
    world.device.direct = model_images[image].direct;
    for (uint32_t i = 0; i < count; i++) {
        world_step(&world, &steps[i]);
        if ((i + 1) % MODEL_CHECK == 0)
            world_check(&world);
    }
    world_teardown(&world);
}

/* Run in a process of its own; whether it came to its end. */
static bool model_passes(const struct step *steps, uint32_t count, unsigned int image, bool quiet)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (quiet && freopen("/dev/null", "w", stderr) == NULL)
            _exit(2);
        model_run(steps, count, image);
        exit(0);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Leave out as much as can be without the failure going away. Returns how many steps are left. */
static uint32_t model_shrink(struct step *steps, uint32_t count, unsigned int image)
{
    struct step *shorter = calloc(count + 1, sizeof *shorter);
    for (uint32_t part = count / 2; part > 0; part /= 2)
        for (uint32_t at = 0; at + part <= count;) {
            memcpy(shorter, steps, at * sizeof *steps);
            memcpy(shorter + at, steps + at + part, (count - at - part) * sizeof *steps);
            if (model_passes(shorter, count - part, image, true)) {
                at += part;
            } else {
                count -= part;
                memcpy(steps, shorter, count * sizeof *steps);
            }
        }
    free(shorter);
    return count;
}

static void model_explain(struct step *steps, uint32_t count, unsigned int image)
{
    count = model_shrink(steps, count, image);
    fprintf(stderr, "# these %u steps are enough:\n", count);
    for (uint32_t i = 0; i < count; i++)
        step_print(&steps[i]);
    (void)model_passes(steps, count, image, false); /* says why it fails */
}

int main(int argc, char **argv)
{
    uint32_t left = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : MODEL_STEPS;
    const char *first = argc > 2 ? argv[2] : getenv("MACHBED_SEED");
    uint64_t seed = first != NULL ? strtoull(first, NULL, 0) : (uint64_t)time(NULL) << 20;
    struct step *steps = calloc(MODEL_SEQUENCE, sizeof *steps);
    unsigned int ntests = (left + MODEL_SEQUENCE - 1) / MODEL_SEQUENCE;
    unsigned int nfailed = 0;
    printf("1..%u\n", ntests);
    for (unsigned int i = 0; i < ntests; i++, seed++) {
        uint32_t count = left < MODEL_SEQUENCE ? left : MODEL_SEQUENCE;
        unsigned int image = (unsigned int)(seed % MODEL_IMAGES);
        left -= count;
        model_steps_make(steps, count, seed);
        bool passed = model_passes(steps, count, image, false);
        printf("%sok %u - %u steps with seed %llu do what the model does (%s)\n",
               passed ? "" : "not ", i + 1, count, (unsigned long long)seed,
               model_images[image].options);
        fflush(stdout);
        if (!passed && nfailed++ == 0)
            model_explain(steps, count, image);
    }
    free(steps);
    return nfailed > 0;
}
