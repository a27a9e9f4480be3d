// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu-state.h"
#include "fake-monitor.h"

#define REGISTERS(pc, flags, level, halted)                                                        \
    "{\"return\": \"\\r\\nCPU#0\\r\\nEAX=00000000 ESP=c1ffffe0\\r\\nEIP=" pc " EFL=" flags         \
    " [----] CPL=" level " II=0 A20=1 SMM=0 HLT=" halted "\\r\\n\"}"
#define RUNNING "{\"return\": \"VM status: running\\r\\n\"}"
#define PICS(mask)                                                                                 \
    "{\"return\": \"pic1: irr=04 imr=" mask " isr=00\\r\\npic0: irr=01 imr=ff isr=00\\r\\n\"}"
#define STACK "{\"return\": \"c1ffffe0: 0x00000000 0xc1000010\\r\\n\"}"

static struct qmp qmp;
static char *said; /* what was written */

/* Has QEMU say ANSWERS; SAID must be freed. */
static void ask(struct cpu_state *state, const struct fake_answer *answers)
{
    static const struct options options; /* no programs */
    struct fake_monitor fake;
    size_t bytes;
    FILE *stream = open_memstream(&said, &bytes);

    assert_non_null(stream);
    fake_monitor_init(&fake, answers);
    assert_int_equal(qmp_init(&qmp, fake.folder, FAKE_MONITOR_NAME), 0);
    cpu_state_take(state, &qmp, &options, stream);
    qmp_destroy(&qmp);
    fake_monitor_destroy(&fake);
    fclose(stream);
}

static void a_processor_that_waits_for_masked_interrupts_is_said_to_be_halted(void **state)
{
    static const struct fake_answer answers[] = {
        {"qmp_capabilities", "{\"return\": {}}"},
        {"info status", RUNNING},
        {"info registers", REGISTERS("c101facc", "00000246", "0", "1")},
        {"info pic", PICS("ff")},
        {"x /", STACK},
        {NULL, NULL},
    };
    struct cpu_state cpu;

    (void)state;
    ask(&cpu, answers);
    assert_string_equal(cpu.sentence, "the processor is halted at 0xc101facc (no known program), "
                                      "with interrupts enabled, but all of them masked");
    assert_contains(said, "HLT=1");
    assert_contains(said, "c1ffffe0: 0x00000000 0xc1000010");
    free(said);
}

static void a_processor_in_a_circle_does_not_get_on(void **state)
{
    static const struct fake_answer answers[] = {
        {"qmp_capabilities", "{\"return\": {}}"},
        {"info status", RUNNING},
        {"info registers", REGISTERS("10000123", "00000046", "3", "0")},
        {"info pic", PICS("b8")},
        {"x /", STACK},
        {NULL, NULL},
    };
    struct cpu_state cpu;

    (void)state;
    ask(&cpu, answers);
    assert_string_equal(cpu.sentence, "the processor does not get on at 0x10000123 (no known "
                                      "program), with interrupts disabled");
    assert_contains(said, "for a task");
    assert_false(cpu.for_task);
    free(said);
}

static void a_processor_that_works_for_a_task_gets_on(void **state)
{
    static const struct fake_answer answers[] = {
        {"qmp_capabilities", "{\"return\": {}}"},
        {"info status", RUNNING},
        {"1:info registers", REGISTERS("08000456", "00000246", "3", "0")},
        {"info registers", REGISTERS("c101facc", "00000246", "0", "0")},
        {"info pic", PICS("b8")},
        {"x /", STACK},
        {NULL, NULL},
    };
    struct cpu_state cpu;

    (void)state;
    ask(&cpu, answers);
    assert_string_equal(cpu.sentence, "the processor is at 0xc101facc (no known program), with "
                                      "interrupts enabled");
    assert_true(cpu.for_task);
    free(said);
}

static void the_stack_of_a_64_bit_processor_has_words_of_64_bits(void **state)
{
    static const struct fake_answer answers[] = {
        {"qmp_capabilities", "{\"return\": {}}"},
        {"info status", RUNNING},
        {"info registers",
         "{\"return\": \"\\r\\nCPU#0\\r\\nRAX=0000000000000000 RSP=ffffffff82001fe0\\r\\n"
         "RIP=ffffffff81012345 RFL=00000046 [----] CPL=0 II=0 A20=1 SMM=0 HLT=0\\r\\n\"}"},
        {"info pic", PICS("b8")},
        {"x /4xg 0xffffffff82001fe0",
         "{\"return\": \"ffffffff82001fe0: 0x0000000000000000 0xffffffff81000010\\r\\n\"}"},
        {NULL, NULL},
    };
    struct cpu_state cpu;

    (void)state;
    ask(&cpu, answers);
    assert_string_equal(cpu.sentence, "the processor does not get on at 0xffffffff81012345 (no "
                                      "known program), with interrupts disabled");
    assert_contains(said, "ffffffff82001fe0: 0x0000000000000000");
    free(said);
}

static void a_machine_that_qemu_has_paused_is_said_to_be(void **state)
{
    static const struct fake_answer answers[] = {
        {"qmp_capabilities", "{\"return\": {}}"},
        {"info status", "{\"return\": \"VM status: paused\\r\\n\"}"},
        {"info registers", REGISTERS("c101facc", "00000246", "0", "1")},
        {"info pic", PICS("b8")},
        {"x /", STACK},
        {NULL, NULL},
    };
    struct cpu_state cpu;

    (void)state;
    ask(&cpu, answers);
    assert_contains(cpu.sentence, "; QEMU has paused it");
    free(said);
}

static void a_monitor_that_refuses_leaves_no_sentence(void **state)
{
    static const struct fake_answer answers[] = {
        {"qmp_capabilities", "{\"return\": {}}"},
        {"human", "{\"error\": {}}"},
        {NULL, NULL},
    };
    struct cpu_state cpu;

    (void)state;
    ask(&cpu, answers);
    assert_string_equal(cpu.sentence, "");
    free(said);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_processor_that_waits_for_masked_interrupts_is_said_to_be_halted),
        cmocka_unit_test(a_processor_in_a_circle_does_not_get_on),
        cmocka_unit_test(a_processor_that_works_for_a_task_gets_on),
        cmocka_unit_test(the_stack_of_a_64_bit_processor_has_words_of_64_bits),
        cmocka_unit_test(a_machine_that_qemu_has_paused_is_said_to_be),
        cmocka_unit_test(a_monitor_that_refuses_leaves_no_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
