// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How fast the time stamp counter runs, measured against channel 2 of the 8254 interval timer (the
 * speaker's, which nobody else uses). The timer's count is read from the device itself. The
 * kernel's clock would not do: it counts interrupts, and when the host does not let the machine run
 * for a while, some are lost and others come at once. The count goes on meanwhile, as does the time
 * stamp counter.
 *
 * In mode 0 the timer counts down from 65,536, 1,193,182 times a second, and raises its output when
 * it reaches 0, which port 0x61 shows: a measurement that took too long is noticed, and repeated.
 */
#include "librt/x86/arch.h"
#include "librt/log.h"
#include "startup/startup.h"

#define CALIBRATE_HZ      1193182u
#define CALIBRATE_CHANNEL 0x42 /* of counter 2, low byte first */
#define CALIBRATE_COMMAND 0x43
#define CALIBRATE_CONTROL 0x61
#define CALIBRATE_MODE    0xb0 /* counter 2, two bytes, mode 0, binary */
#define CALIBRATE_LATCH   0x80 /* counter 2 */
#define CALIBRATE_GATE    0x01
#define CALIBRATE_SPEAKER 0x02
#define CALIBRATE_OUTPUT  0x20
#define CALIBRATE_TOP     0xffffu
#define CALIBRATE_COUNTS  48000u /* 40 ms: an error of reading, some us, is below 0.01 % */
#define CALIBRATE_READS   16u
#define CALIBRATE_TRIES   100u

/* What the timer and the time stamp counter showed at one moment. */
struct calibrate_moment {
    uint64_t cycles;
    uint64_t window; /* so many cycles passed while both were read */
    uint32_t count;
};

static void calibrate_read(struct calibrate_moment *moment)
{
    uint64_t before = rt_arch_cycles();
    uint64_t after;

    rt_arch_out8(CALIBRATE_COMMAND, CALIBRATE_LATCH);
    after = rt_arch_cycles();
    moment->count = rt_arch_in8(CALIBRATE_CHANNEL);
    moment->count |= (uint32_t)rt_arch_in8(CALIBRATE_CHANNEL) << 8;
    moment->cycles = before + (after - before) / 2;
    moment->window = after - before;
}

/* The best of several readings: the one that was interrupted the least. */
static void calibrate_read_well(struct calibrate_moment *best)
{
    calibrate_read(best);
    for (unsigned int i = 1; i < CALIBRATE_READS; i++) {
        struct calibrate_moment moment;

        calibrate_read(&moment);
        if (moment.window < best->window)
            *best = moment;
    }
}

static void calibrate_start(void)
{
    uint8_t control = rt_arch_in8(CALIBRATE_CONTROL);

    rt_arch_out8(CALIBRATE_CONTROL, (uint8_t)((control & ~CALIBRATE_SPEAKER) | CALIBRATE_GATE));
    rt_arch_out8(CALIBRATE_COMMAND, CALIBRATE_MODE);
    rt_arch_out8(CALIBRATE_CHANNEL, CALIBRATE_TOP & 0xff);
    rt_arch_out8(CALIBRATE_CHANNEL, CALIBRATE_TOP >> 8);
}

/* Returns whether the timer did not reach 0 meanwhile. */
static bool calibrate_measure(struct calibrate_moment *first, struct calibrate_moment *last)
{
    struct calibrate_moment now;

    calibrate_start();
    calibrate_read_well(first);
    do {
        calibrate_read(&now);
    } while (first->count >= now.count && first->count - now.count < CALIBRATE_COUNTS);
    calibrate_read_well(last);
    return (rt_arch_in8(CALIBRATE_CONTROL) & CALIBRATE_OUTPUT) == 0 && last->count < first->count;
}

uint64_t startup_calibrate(void)
{
    struct calibrate_moment first;
    struct calibrate_moment last;

    for (unsigned int i = 0; i < CALIBRATE_TRIES; i++) {
        if (calibrate_measure(&first, &last))
            return (last.cycles - first.cycles) * CALIBRATE_HZ / (first.count - last.count);
    }
    rt_panic("the time stamp counter cannot be calibrated: the timer does not count");
}
