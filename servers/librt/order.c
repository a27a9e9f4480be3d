// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Locks of one name are a class. For each class a word has a bit for every class that has been
 * taken with it held. A lock is checked against each that its taker holds: when the bit is there
 * already, as nearly always, that is all. A new bit is looked at once: if the lock that is held can
 * be reached from the new one, along bits that were there before, then two threads could wait for
 * each other.
 *
 * The places of each pair of classes are kept, to be named when the other order turns up.
 */
#include "librt/order.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/frames.h"
#include "librt/order-private.h"
#include "librt/rt.h"
#include "librt/symbol.h"
#include "librt/sync-private.h"

#define ORDER_PAIRS     256
#define ORDER_PLACE_MAX 320

/* RPCs of our own interfaces (servers/defs); what the kernel answers has other numbers. */
#define ORDER_CALL_FIRST 30000
#define ORDER_CALL_LAST  39999

/* THREAD's label, for as long as the block around it lives. */
#define LABEL(thread) rt_thread_label(thread, (char[RT_LABEL_MAX]){0})

/* Class SECOND has been taken by THREAD with class FIRST held. */
struct order_pair {
    uint8_t first;
    uint8_t second;
    const struct rt_thread *thread;
    struct rt_callers first_callers;
    struct rt_callers second_callers;
};

static struct rt_mutex order_lock = {.name = "order"}; /* guards changes of what follows */
const char *rt_order_names[RT_ORDER_CLASSES];
static unsigned int order_nclasses = 1;
uint32_t rt_order_known[RT_ORDER_CLASSES];
static uint32_t order_nested; /* the classes that may be taken inside themselves */
static struct order_pair order_pairs[ORDER_PAIRS];
static unsigned int order_npairs;

/* --- Violations ------------------------------------------------------------------------------ */

static void order_place(const struct rt_callers *callers, char *text)
{
    struct rt_symbols table = {rt_image.symbols, rt_image.symbols_end};

    rt_symbol_callers(&table, callers->at, RT_CALLERS_MAX, text, ORDER_PLACE_MAX);
}

/* Say FORMAT for people, and end the run with it. */
__attribute__((format(printf, 1, 2))) static _Noreturn void order_violation(const char *format, ...)
{
    char sentence[RT_LINE_MAX - 64];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    rt_log("%s", sentence);
    rt_emit("end status=99 reason=\"%s: %s\"", rt_image.name, sentence);
    rt_end(RT_END_FAILED);
}

static _Noreturn void order_violation_nested(const struct order_pair *now)
{
    const char *name = rt_order_names[now->first];
    char first[ORDER_PLACE_MAX], second[ORDER_PLACE_MAX];

    order_place(&now->first_callers, first);
    order_place(&now->second_callers, second);
    order_violation("lock order: %s takes %s at %s with another %s held since %s",
                    LABEL(now->thread), name, second, name, first);
}

static const struct order_pair *order_pair_lookup(uint8_t first, uint8_t second)
{
    for (unsigned int i = 0; i < order_npairs; i++)
        if (order_pairs[i].first == first && order_pairs[i].second == second)
            return &order_pairs[i];
    return NULL;
}

/* The last step of the way from FROM to TO, which there is. */
static const struct order_pair *order_way_end(uint8_t from, uint8_t to);

/* Say for people what PAIR did. PLACE becomes where it took the second lock. */
static void order_pair_print(const struct order_pair *pair, char *place)
{
    char first[ORDER_PLACE_MAX];

    order_place(&pair->first_callers, first);
    order_place(&pair->second_callers, place);
    rt_log("lock order: %s held %s, taken at %s, and took %s at %s", LABEL(pair->thread),
           rt_order_names[pair->first], first, rt_order_names[pair->second], place);
}

static _Noreturn void order_violation_pair(const struct order_pair *now)
{
    const struct order_pair *before = order_way_end(now->second, now->first);
    char place[ORDER_PLACE_MAX], other[ORDER_PLACE_MAX] = "an unknown place";

    order_pair_print(now, place);
    if (before != NULL)
        order_pair_print(before, other);
    order_violation("lock order: %s is taken at %s with %s held; but %s was taken at %s with %s "
                    "held",
                    rt_order_names[now->second], place, rt_order_names[now->first],
                    rt_order_names[now->first], other,
                    rt_order_names[before == NULL ? now->second : before->first]);
}

/* --- Classes --------------------------------------------------------------------------------- */

/* => order_lock held. */
static uint8_t order_class_find(const char *name)
{
    for (unsigned int i = 1; i < order_nclasses; i++)
        if (strcmp(rt_order_names[i], name) == 0)
            return (uint8_t)i;
    if (order_nclasses == RT_ORDER_CLASSES)
        rt_panic("locks have more than %d names", RT_ORDER_CLASSES - 1);
    rt_order_names[order_nclasses] = name;
    rt_order_known[order_nclasses] = RT_ORDER_NONE;
    return (uint8_t)order_nclasses++;
}

uint8_t rt_order_class(struct rt_thread *self, struct rt_order_lock lock)
{
    if (*lock.class == 0) {
        rt_mutex_enter(&order_lock, self);
        *lock.class = order_class_find(lock.name);
        rt_mutex_leave(&order_lock);
    }
    return *lock.class;
}

void rt_order_nests(const char *name)
{
    rt_mutex_enter(&order_lock, rt_thread_self());
    order_nested |= UINT32_C(1) << order_class_find(name);
    rt_mutex_leave(&order_lock);
}

/* --- Pairs ----------------------------------------------------------------------------------- */

/* The classes from which TO can be reached, itself among them. */
static uint32_t order_before(uint8_t to)
{
    uint32_t found = UINT32_C(1) << to;
    uint32_t previous;

    do {
        previous = found;
        for (unsigned int i = 1; i < order_nclasses; i++)
            if ((found >> i & 1) != 0)
                found |= rt_order_known[i];
    } while (found != previous);
    return found;
}

static bool order_reaches(uint8_t from, uint8_t to)
{
    return (order_before(to) >> from & 1) != 0;
}

static const struct order_pair *order_way_end(uint8_t from, uint8_t to)
{
    for (unsigned int i = 1; i < order_nclasses; i++)
        if ((rt_order_known[to] >> i & 1) != 0 && order_reaches(from, (uint8_t)i))
            return order_pair_lookup((uint8_t)i, to);
    return NULL;
}

/* Remember NOW. A full table loses places, not the order. */
static void order_pair_add(const struct order_pair *now)
{
    rt_order_known[now->second] |= UINT32_C(1) << now->first;
    if (order_npairs < ORDER_PAIRS)
        order_pairs[order_npairs++] = *now;
}

static void order_pair_init(struct order_pair *pair, const struct rt_thread *self,
                            const struct rt_held *held, uint8_t class, const void *frame)
{
    struct rt_frames frames;

    rt_frames_take(&frames, frame);
    *pair = (struct order_pair){.first = held->class,
                                .second = class,
                                .thread = self,
                                .first_callers = rt_held_callers(held, &frames),
                                .second_callers = rt_frames_callers(&frames)};
}

static void order_pair_check(struct rt_thread *self, const struct rt_held *held, uint8_t class,
                             const void *frame)
{
    struct order_pair now;

    order_pair_init(&now, self, held, class, frame);
    if (held->class == class)
        order_violation_nested(&now);
    rt_mutex_enter(&order_lock, self);
    if (order_reaches(class, held->class))
        order_violation_pair(&now);
    order_pair_add(&now);
    rt_mutex_leave(&order_lock);
}

/* Whether taking CLASS with HELD held is known to be in order. */
static bool order_is_known(const struct rt_held *held, uint8_t class)
{
    if (held->class == class)
        return (order_nested >> class & 1) != 0;
    return (rt_order_known[class] >> held->class & 1) != 0;
}

/* --- What threads hold ----------------------------------------------------------------------- */

void rt_order_check_all(struct rt_thread *self, struct rt_order_lock lock, const void *frame)
{
    uint8_t class = rt_order_class(self, lock);

    for (unsigned int i = 0; i < self->nheld; i++) {
        const struct rt_held *held = &self->held[i];

        if (held->object == lock.object)
            rt_panic("%s takes %s twice", LABEL(self), lock.name);
        if (!order_is_known(held, class))
            order_pair_check(self, held, class, frame);
        else
            self->held_nests = self->held_nests || held->class == class;
    }
}

void rt_order_drop_any(struct rt_thread *self, const void *object)
{
    unsigned int i = self->nheld;

    while (i > 0 && self->held[i - 1].object != object)
        i--;
    if (i == 0)
        rt_panic("%s releases a lock that it does not hold", LABEL(self));
    self->nheld--;
    for (i--; i < self->nheld; i++)
        self->held[i] = self->held[i + 1];
    self->held_classes = RT_ORDER_NONE;
    self->held_nests = self->held_nests && self->nheld > 1;
    for (i = 0; i < self->nheld; i++)
        self->held_classes |= UINT32_C(1) << self->held[i].class;
}

void rt_order_call(struct rt_thread *self, const mach_msg_header_t *message, const void *frame)
{
    char taken[ORDER_PLACE_MAX], called[ORDER_PLACE_MAX];
    const struct rt_held *held;
    struct order_pair now;

    if (self->nheld == 0 || message->msgh_id < ORDER_CALL_FIRST ||
        message->msgh_id > ORDER_CALL_LAST)
        return;
    held = &self->held[self->nheld - 1];
    order_pair_init(&now, self, held, 0, frame);
    order_place(&now.first_callers, taken);
    order_place(&now.second_callers, called);
    order_violation("a lock held across a call of a server: %s sends message %d at %s with %s "
                    "held, taken at %s",
                    LABEL(self), message->msgh_id, called, rt_order_names[held->class], taken);
}

/* --- Levels ---------------------------------------------------------------------------------- */

void rt_level_enter(unsigned int level)
{
    rt_thread_self()->level = level;
}

void rt_level_check(unsigned int level, const char *call)
{
    const struct rt_thread *self = rt_thread_self();
    struct rt_callers callers;
    struct rt_frames frames;
    char place[ORDER_PLACE_MAX];

    if (self->level == 0 || self->level > level)
        return;
    rt_frames_take(&frames, __builtin_frame_address(0));
    callers = rt_frames_callers(&frames);
    order_place(&callers, place);
    order_violation("level order: %s, of level %u, calls %s at %s, which waits for level %u",
                    LABEL(self), self->level, call, place, level);
}
