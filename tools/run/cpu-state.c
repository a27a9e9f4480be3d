// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kernel that stands still looks in one of three ways: the processor is halted and no interrupt
 * comes, it runs in circles in one place, or QEMU itself has stopped it. So it is looked at several
 * times. What stands on the stack and points into code is printed too: among it are the callers.
 */
#include "cpu-state.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols.h"

#define CPU_LOOKS       5
#define CPU_LOOK_MS     100
#define CPU_TEXT_BYTES  16384
#define CPU_STACK_WORDS 128
#define CPU_PAGE_BYTES  4096   /* also a stack of the kernel's, which is aligned to that */
#define CPU_FLAG_IF     0x200u /* interrupts are enabled (Intel SDM, EFLAGS) */

/* Programs that addresses may belong to: the kernel first. */
struct cpu_programs {
    struct symbols symbols[OPTIONS_MODULES_MAX + 1];
    size_t count;
};

struct cpu_look {
    uint64_t pc;
    uint64_t sp;
    uint64_t flags;
    bool halted;
    bool user;
    bool wide; /* a processor of 64 bits */
};

static void cpu_programs_add(struct cpu_programs *programs, const char *name, const char *path)
{
    if (path != NULL && symbols_init(&programs->symbols[programs->count], name, path) == 0)
        programs->count++;
}

static void cpu_programs_init(struct cpu_programs *programs, const struct options *options)
{
    programs->count = 0;
    cpu_programs_add(programs, "the kernel", options->kernel);
    for (size_t i = 0; i < options->modules_count; i++)
        cpu_programs_add(programs, options->modules[i].name, options->modules[i].path);
}

static void cpu_programs_destroy(struct cpu_programs *programs)
{
    while (programs->count > 0)
        symbols_destroy(&programs->symbols[--programs->count]);
}

/* The program whose code ADDRESS is in, or NULL. */
static const struct symbols *cpu_program_of(const struct cpu_programs *programs, uint64_t address)
{
    for (size_t i = 0; i < programs->count; i++)
        if (symbols_has(&programs->symbols[i], address))
            return &programs->symbols[i];
    return NULL;
}

static const char *cpu_place(const struct cpu_programs *programs, uint64_t address,
                             char text[SYMBOLS_TEXT_BYTES])
{
    const struct symbols *program = cpu_program_of(programs, address);

    if (program != NULL)
        return symbols_print(program, address, text);
    snprintf(text, SYMBOLS_TEXT_BYTES, "no known program");
    return text;
}

/* --- What QEMU says -------------------------------------------------------------------------- */

/* The number behind NAME in what "info registers" says. */
static bool cpu_register(const char *text, const char *name, int base, uint64_t *value)
{
    const char *at = strstr(text, name);

    if (at == NULL)
        return false;
    *value = strtoull(at + strlen(name), NULL, base);
    return true;
}

static bool cpu_look_parse(const char *text, struct cpu_look *look)
{
    uint64_t halted = 0;
    uint64_t level = 0;
    bool wide = strstr(text, "RIP=") != NULL;

    look->wide = wide;
    look->halted = cpu_register(text, "HLT=", 10, &halted) && halted != 0;
    look->user = cpu_register(text, "CPL=", 10, &level) && level != 0;
    return cpu_register(text, wide ? "RIP=" : "EIP=", 16, &look->pc) &&
           cpu_register(text, wide ? "RSP=" : "ESP=", 16, &look->sp) &&
           cpu_register(text, wide ? "RFL=" : "EFL=", 16, &look->flags);
}

static void cpu_pause(void)
{
    const struct timespec time = {.tv_nsec = CPU_LOOK_MS * 1000000L};

    nanosleep(&time, NULL);
}

/* Have QEMU say what COMMAND asks, and print it. */
static error_t cpu_ask(struct qmp *qmp, const char *command, char *text, FILE *stream)
{
    error_t error = qmp_monitor(qmp, command, text, CPU_TEXT_BYTES);

    if (error == 0)
        fprintf(stream, "--- %s\n%s\n", command, text);
    else
        fprintf(stream, "--- %s: %s\n\n", command, strerror(error));
    return error;
}

static bool cpu_is_paused(struct qmp *qmp, char *text, FILE *stream)
{
    return cpu_ask(qmp, "info status", text, stream) == 0 && strstr(text, "paused") != NULL;
}

/* Print the words on the stack from SP on that point into code. */
static void cpu_stack_print(const struct cpu_programs *programs, const char *text, FILE *stream)
{
    char place[SYMBOLS_TEXT_BYTES];

    fprintf(stream, "--- what on the stack points into code\n");
    for (const char *at = strstr(text, "0x"); at != NULL; at = strstr(at + 2, "0x")) {
        uint64_t word = strtoull(at, NULL, 16);

        if (cpu_program_of(programs, word) != NULL)
            fprintf(stream, "0x%" PRIx64 "  %s\n", word, cpu_place(programs, word, place));
    }
    fprintf(stream, "\n");
}

static void cpu_stack_take(struct qmp *qmp, const struct cpu_programs *programs,
                           const struct cpu_look *look, char *text, FILE *stream)
{
    uint64_t words = (CPU_PAGE_BYTES - look->sp % CPU_PAGE_BYTES) / (look->wide ? 8 : 4);
    char command[64];

    if (words > CPU_STACK_WORDS)
        words = CPU_STACK_WORDS;
    snprintf(command, sizeof(command), "x /%" PRIu64 "x%c 0x%" PRIx64, words,
             look->wide ? 'g' : 'w', look->sp);
    if (cpu_ask(qmp, command, text, stream) == 0)
        cpu_stack_print(programs, text, stream);
}

/* --- What it comes to ------------------------------------------------------------------------ */

/* Whether the interrupt controllers let nothing through, from what "info pic" says. */
static bool cpu_is_masked(const char *text)
{
    const char *at = strstr(text, "imr=");
    bool masked = at != NULL;

    for (; at != NULL && masked; at = strstr(at + 4, "imr="))
        masked = strncmp(at, "imr=ff", 6) == 0;
    return masked;
}

static bool cpu_stands_still(const struct cpu_look *looks, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (looks[i].pc != looks[0].pc || looks[i].halted != looks[0].halted)
            return false;
    return true;
}

static bool cpu_works_for_task(const struct cpu_look *looks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (looks[i].user)
            return !cpu_stands_still(looks, count);
    return false;
}

static void cpu_describe(struct cpu_state *state, const struct cpu_programs *programs,
                         const struct cpu_look *looks, size_t count, const char *why)
{
    const struct cpu_look *last = &looks[count - 1];
    const char *how = "is";
    char place[SYMBOLS_TEXT_BYTES];

    if (cpu_stands_still(looks, count))
        how = last->halted ? "is halted" : "does not get on";
    snprintf(state->sentence, sizeof(state->sentence),
             "the processor %s at 0x%" PRIx64 " (%s), with interrupts %s%s", how, last->pc,
             cpu_place(programs, last->pc, place),
             (last->flags & CPU_FLAG_IF) != 0 ? "enabled" : "disabled", why);
}

static size_t cpu_looks_take(struct qmp *qmp, struct cpu_look *looks, char *text, FILE *stream)
{
    size_t count = 0;

    while (count < CPU_LOOKS && qmp_monitor(qmp, "info registers", text, CPU_TEXT_BYTES) == 0 &&
           cpu_look_parse(text, &looks[count])) {
        count++;
        cpu_pause();
    }
    if (count > 0)
        fprintf(stream, "--- info registers, the last of %d times\n%s\n", CPU_LOOKS, text);
    return count;
}

static void cpu_looks_print(const struct cpu_programs *programs, const struct cpu_look *looks,
                            size_t count, FILE *stream)
{
    char place[SYMBOLS_TEXT_BYTES];

    fprintf(stream, "--- where it was, %d ms apart\n", CPU_LOOK_MS);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "0x%" PRIx64 "  %s%s%s\n", looks[i].pc,
                cpu_place(programs, looks[i].pc, place), looks[i].user ? ", for a task" : "",
                looks[i].halted ? ", halted" : "");
    fprintf(stream, "\n");
}

static void cpu_state_ask(struct cpu_state *state, struct qmp *qmp,
                          const struct cpu_programs *programs, char *text, FILE *stream)
{
    struct cpu_look looks[CPU_LOOKS];
    const char *why = cpu_is_paused(qmp, text, stream) ? "; QEMU has paused it" : "";
    size_t count = cpu_looks_take(qmp, looks, text, stream);

    if (count == 0)
        return;
    cpu_looks_print(programs, looks, count, stream);
    if (cpu_ask(qmp, "info pic", text, stream) == 0 && cpu_is_masked(text) && *why == '\0')
        why = ", but all of them masked";
    cpu_stack_take(qmp, programs, &looks[count - 1], text, stream);
    cpu_describe(state, programs, looks, count, why);
    state->for_task = cpu_works_for_task(looks, count);
    fprintf(stream, "%s\n", state->sentence);
}

void cpu_state_take(struct cpu_state *state, struct qmp *qmp, const struct options *options,
                    FILE *stream)
{
    char *text = malloc(CPU_TEXT_BYTES);
    struct cpu_programs programs;

    *state = (struct cpu_state){0};
    if (text == NULL)
        return;
    cpu_programs_init(&programs, options);
    cpu_state_ask(state, qmp, &programs, text, stream);
    cpu_programs_destroy(&programs);
    free(text);
}
