// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's clock is a straight line over the host's: guest = v + (1 + b) * host. A command of
 * the disk comes about between the beginning and the end of the call that asked for it, so each
 * pair says begin <= guest(host) <= end, which for a fixed drift b leaves an interval of v:
 *
 *   low(b) = max(begin - (1 + b) * host),   high(b) = min(end - (1 + b) * host)
 *
 * low is convex and high is concave in b, so high - low has one maximum, which a search by thirds
 * finds. There, and in the middle of the interval, is the line that stays away the most from what
 * the pairs forbid. The drifts at which the interval just vanishes bound the lines that are
 * possible; how far those go at the first and at the last pair is the uncertainty.
 *
 * If no drift leaves an interval, the pairs contradict each other (a pair is wrong, or a clock was
 * set meanwhile); the line is then the one that violates them the least.
 */
#include "align.h"

#include <math.h>

/* Further than any calibration is wrong by; on a busy host that can be a factor of several. */
#define ALIGN_DRIFT_MIN (-0.99)
#define ALIGN_DRIFT_MAX 9.0
#define ALIGN_STEPS     80
#define ALIGN_STAMP_NS  1000.0 /* the host's stamps are cut to a microsecond */

struct align_data {
    const struct align_pair *pairs;
    size_t count;
    uint64_t host_us; /* the zeros that doubles count from */
    uint64_t guest_ns;
    double at; /* where on the host's clock an interval is asked for */
};

struct align_interval {
    double low;
    double high;
};

/* Nanoseconds from the zero. */
static double align_host(const struct align_data *data, uint64_t host_us)
{
    return (double)(int64_t)(host_us - data->host_us) * 1000.0;
}

/* What the guest's clock can have shown at data->at, if it drifts so. */
static struct align_interval align_interval(const struct align_data *data, double drift)
{
    struct align_interval interval = {-INFINITY, INFINITY};

    for (size_t i = 0; i < data->count; i++) {
        const struct align_pair *pair = &data->pairs[i];
        double moved = (1 + drift) * (data->at - align_host(data, pair->host_us));
        double begin = (double)(int64_t)(pair->begin_ns - data->guest_ns) - ALIGN_STAMP_NS;
        double end = (double)(int64_t)(pair->end_ns - data->guest_ns);

        interval.low = fmax(interval.low, begin + moved);
        interval.high = fmin(interval.high, end + moved);
    }
    return interval;
}

typedef double align_value_t(const struct align_data *data, double drift);

static double align_width(const struct align_data *data, double drift)
{
    struct align_interval interval = align_interval(data, drift);

    return interval.high - interval.low;
}

static double align_high(const struct align_data *data, double drift)
{
    return align_interval(data, drift).high;
}

static double align_low_negated(const struct align_data *data, double drift)
{
    return -align_interval(data, drift).low;
}

/* Where between LOW and HIGH a concave VALUE is largest. */
static double align_maximise(const struct align_data *data, align_value_t *value, double low,
                             double high)
{
    for (unsigned i = 0; i < ALIGN_STEPS; i++) {
        double left = low + (high - low) / 3;
        double right = high - (high - low) / 3;

        if (value(data, left) < value(data, right))
            low = left;
        else
            high = right;
    }
    return (low + high) / 2;
}

/* The drift between INSIDE, which leaves an interval, and OUTSIDE at which it vanishes. */
static double align_edge(const struct align_data *data, double inside, double outside)
{
    if (align_width(data, outside) >= 0)
        return outside;
    for (unsigned i = 0; i < ALIGN_STEPS; i++) {
        double middle = (inside + outside) / 2;

        if (align_width(data, middle) >= 0)
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

/* How far from VALUE a possible clock can be at data->at. */
static double align_deviation(const struct align_data *data, double value, double first,
                              double last)
{
    double high = align_high(data, align_maximise(data, align_high, first, last));
    double low = -align_low_negated(data, align_maximise(data, align_low_negated, first, last));

    return fmax(high - value, value - low);
}

/* Sets the zeros to the first pair's, and returns the last pair's place. */
static double align_span(struct align_data *data)
{
    uint64_t last = data->pairs[0].host_us;

    data->host_us = last;
    for (size_t i = 0; i < data->count; i++) {
        if (data->pairs[i].host_us < data->host_us)
            data->host_us = data->pairs[i].host_us;
        if (data->pairs[i].host_us > last)
            last = data->pairs[i].host_us;
    }
    data->guest_ns = data->pairs[0].begin_ns;
    return align_host(data, last);
}

static void align_tolerate(struct align *align, struct align_data *data, double value, double span)
{
    double first = align_edge(data, align->drift, ALIGN_DRIFT_MIN);
    double last = align_edge(data, align->drift, ALIGN_DRIFT_MAX);
    double begin = align_deviation(data, value, first, last);

    align->drift_tolerance = fmax(last - align->drift, align->drift - first);
    data->at = span;
    align->uncertainty_ns =
        fmax(begin, align_deviation(data, value + (1 + align->drift) * span, first, last));
}

void align_find(struct align *align, const struct align_pair *pairs, size_t count)
{
    struct align_data data = {.pairs = pairs, .count = count};
    struct align_interval interval;
    double span;
    double value;

    *align = (struct align){.pairs = count};
    if (count == 0)
        return;
    span = align_span(&data);
    align->drift = align_maximise(&data, align_width, ALIGN_DRIFT_MIN, ALIGN_DRIFT_MAX);
    interval = align_interval(&data, align->drift);
    value = (interval.low + interval.high) / 2;
    align->known = true;
    align->host_us = data.host_us;
    align->guest_ns = (double)data.guest_ns + value;
    if (interval.high >= interval.low)
        align_tolerate(align, &data, value, span);
    else
        align->miss_ns = (interval.low - interval.high) / 2;
}

uint64_t align_guest_ns(const struct align *align, uint64_t host_us)
{
    double elapsed = (double)(int64_t)(host_us - align->host_us) * 1000.0;
    double guest = align->guest_ns + (1 + align->drift) * elapsed;

    return guest < 0 ? 0 : (uint64_t)guest;
}
