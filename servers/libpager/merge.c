// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How `merge` takes returns together.
 *
 * The queue is sorted by offset. Returns that overlap are a knot: they are taken together or not at
 * all, so that what is older is never written behind what is newer. Knots that follow each other
 * are a piece, as long as that is not larger than the largest write; of all pieces the one with the
 * oldest return is the next run, so that none waits for ever. What must not be written is a piece
 * of its own, unless it is in a knot with others.
 *
 * The pages of a run must be one range of memory. Messages that were received one after the other
 * mostly lie so (borrow.c). Others are moved into fresh address space, as many at a time as do: for
 * whole pages over memory that was never touched the kernel enters there the memory objects that
 * the messages came with. Where messages overlap they are put there by vm_copy, newer over older,
 * which does not copy a byte either; but then memory objects are shared, and pages cannot be given
 * back to the kernel without being copied (borrow.c). When there is no room for it, the oldest
 * return is written alone.
 */
#include "libpager/merge.h"

#include "libpager/private.h"

#include "librt/log.h"

/* Neighbours in the sorted queue, from *FIRST up to *BEHIND. */
struct merge_piece {
    struct pager_request **first;
    struct pager_request **behind;
    vm_offset_t offset;
    uint64_t end;
    uint64_t oldest; /* the lowest sequence number */
    bool idle;       /* must not be written */
};

typedef bool merge_before_t(const struct pager_request *a, const struct pager_request *b);

static bool merge_is_older(const struct pager_request *a, const struct pager_request *b)
{
    return a->sequence < b->sequence;
}

static bool merge_is_lower(const struct pager_request *a, const struct pager_request *b)
{
    return a->offset < b->offset || (a->offset == b->offset && merge_is_older(a, b));
}

/* Cut LIST behind what of it is in order, and return the rest. */
static struct pager_request *merge_sort_cut(struct pager_request *list, merge_before_t *before)
{
    struct pager_request *rest;

    if (list == NULL)
        return NULL;
    while (list->next != NULL && before(list, list->next))
        list = list->next;
    rest = list->next;
    list->next = NULL;
    return rest;
}

/* Append A and B, both in order, to the list that ends at TAIL, in order. Returns its new tail. */
static struct pager_request **merge_sort_zip(struct pager_request **tail, struct pager_request *a,
                                             struct pager_request *b, merge_before_t *before)
{
    struct pager_request **least;

    while (a != NULL || b != NULL) {
        least = b == NULL || (a != NULL && before(a, b)) ? &a : &b;
        *tail = *least;
        tail = &(*tail)->next;
        *least = *tail;
    }
    *tail = NULL;
    return tail;
}

/* Sort *LIST: stretches that are in order are zipped in pairs until one is left. */
static void merge_sort(struct pager_request **list, merge_before_t *before)
{
    struct pager_request *left, *right, *rest;
    struct pager_request **tail;
    unsigned int npairs;

    do {
        rest = *list;
        tail = list;
        for (npairs = 0; rest != NULL; npairs++) {
            left = rest;
            right = merge_sort_cut(left, before);
            rest = merge_sort_cut(right, before);
            tail = merge_sort_zip(tail, left, right, before);
        }
    } while (npairs > 1);
}

static uint64_t merge_oldest(const struct pager_request *list)
{
    uint64_t oldest = list->sequence;

    for (; list != NULL; list = list->next)
        if (list->sequence < oldest)
            oldest = list->sequence;
    return oldest;
}

/* The knot that begins at *FIRST. */
static struct merge_piece merge_knot(struct pager_request **first)
{
    const struct pager_request *returned = *first;
    struct merge_piece knot = {.first = first,
                               .behind = first,
                               .offset = returned->offset,
                               .end = returned->offset,
                               .oldest = returned->sequence,
                               .idle = returned->stored};

    do {
        if (returned->sequence < knot.oldest)
            knot.oldest = returned->sequence;
        if ((uint64_t)returned->offset + returned->length > knot.end)
            knot.end = (uint64_t)returned->offset + returned->length;
        knot.behind = &(*knot.behind)->next;
        returned = *knot.behind;
        if (returned != NULL && returned->offset < knot.end)
            knot.idle = false;
    } while (returned != NULL && returned->offset < knot.end);
    return knot;
}

static bool merge_fits(const struct merge_piece *piece, const struct merge_piece *knot)
{
    return !piece->idle && !knot->idle && knot->offset == piece->end &&
           knot->end - piece->offset <= pager_policy_merge_max();
}

/* The piece of QUEUE, which is sorted, that has the return number OLDEST. */
static struct merge_piece merge_find(struct pager_request **queue, uint64_t oldest)
{
    struct merge_piece piece = merge_knot(queue);
    struct merge_piece knot;

    while (*piece.behind != NULL) {
        knot = merge_knot(piece.behind);
        if (merge_fits(&piece, &knot)) {
            piece.behind = knot.behind;
            piece.end = knot.end;
            if (knot.oldest < piece.oldest)
                piece.oldest = knot.oldest;
        } else if (piece.oldest == oldest) {
            break;
        } else {
            piece = knot;
        }
    }
    return piece;
}

/* Whether the pages of RUN are in memory as they are in the object: if no two returns overlap, and
   all have the same distance between the two. Where two overlap they have not. */
static bool merge_is_adjacent(const struct pager_run *run)
{
    const struct pager_request *returned;
    vm_address_t distance = run->returns->data - run->returns->offset;

    for (returned = run->returns; returned != NULL; returned = returned->next)
        if (returned->data - returned->offset != distance)
            return false;
    return true;
}

/* Copy the pages of RUN into the untouched memory at run->buffer, oldest first. */
static kern_return_t merge_fill(const struct pager_run *run)
{
    const struct pager_request *returned;
    kern_return_t kr = KERN_SUCCESS;

    for (returned = run->returns; returned != NULL && kr == KERN_SUCCESS; returned = returned->next)
        kr = vm_copy(mach_task_self(), returned->data, returned->length,
                     run->buffer + (returned->offset - run->offset));
    return kr;
}

/* Whether each return's memory may change its address: none holds what is in another, too, nor what
   is behind the object's end. */
static bool merge_can_move(const struct pager_run *run)
{
    const struct pager_request *returned;
    vm_size_t length = 0;

    for (returned = run->returns; returned != NULL; returned = returned->next) {
        if (returned->memory_length != returned->length)
            return false;
        length += returned->length;
    }
    return length == run->length;
}

/* The length of what is in memory as it is in the object, from RETURNED on up to *BEHIND. */
static vm_size_t merge_stretch(const struct pager_request *returned, struct pager_request **behind)
{
    vm_size_t length = returned->length;
    struct pager_request *next = returned->next;

    while (next != NULL && next->offset == returned->offset + length &&
           next->memory == returned->memory + length) {
        length += next->length;
        next = next->next;
    }
    *behind = next;
    return length;
}

/* Move RUN's returns from RETURNED to the one before BEHIND, LENGTH bytes, to where they belong. */
static void merge_move_stretch(const struct pager_run *run, struct pager_request *returned,
                               const struct pager_request *behind, vm_size_t length)
{
    vm_address_t to = run->buffer + (returned->offset - run->offset);
    kern_return_t kr = vm_move(mach_task_self(), to, returned->memory, length);

    rt_assert(kr == KERN_SUCCESS);
    for (; returned != behind; returned = returned->next) {
        returned->memory = run->buffer + (returned->offset - run->offset);
        returned->data = returned->memory;
    }
}

/* Have the pages of RUN follow each other in memory. */
static kern_return_t merge_move(struct pager_run *run)
{
    struct pager_request *returned = run->returns;
    struct pager_request *behind;
    kern_return_t kr = vm_allocate(mach_task_self(), &run->buffer, run->length, TRUE);
    vm_size_t length;

    if (kr != KERN_SUCCESS)
        return kr;
    for (; returned != NULL; returned = behind) {
        length = merge_stretch(returned, &behind);
        merge_move_stretch(run, returned, behind, length);
    }
    run->buffer = 0; /* it is the returns' memory now */
    return KERN_SUCCESS;
}

static kern_return_t merge_gather(struct pager_run *run)
{
    struct pager_request *returned;
    kern_return_t kr = vm_allocate(mach_task_self(), &run->buffer, run->length, TRUE);

    if (kr != KERN_SUCCESS)
        return kr;
    kr = merge_fill(run);
    if (kr != KERN_SUCCESS) {
        merge_drop(run);
        return kr;
    }
    for (returned = run->returns; returned != NULL; returned = returned->next)
        returned->data = run->buffer + (returned->offset - run->offset);
    return KERN_SUCCESS;
}

/* Have the pages of RUN be one range of memory. */
static kern_return_t merge_put_together(struct pager_run *run)
{
    if (merge_is_adjacent(run))
        return KERN_SUCCESS;
    return merge_can_move(run) ? merge_move(run) : merge_gather(run);
}

/* Give all returns of RUN but the oldest, which is the first, back to QUEUE. */
static void merge_give_up(struct pager_request **queue, struct pager_run *run)
{
    struct pager_request *oldest = run->returns;
    struct pager_request **tail = &oldest->next;

    while (*tail != NULL)
        tail = &(*tail)->next;
    *tail = *queue;
    *queue = oldest->next;
    oldest->next = NULL;
    run->offset = oldest->offset;
    run->length = oldest->stored ? 0 : oldest->length;
}

void merge_take(struct pager_request **queue, struct pager_run *run)
{
    struct merge_piece piece;

    merge_sort(queue, merge_is_lower);
    rt_assert(*queue != NULL);
    piece = merge_find(queue, merge_oldest(*queue));
    run->returns = *piece.first;
    run->offset = piece.offset;
    run->length = piece.idle ? 0 : (vm_size_t)(piece.end - piece.offset);
    *piece.first = *piece.behind;
    *piece.behind = NULL;
    merge_sort(&run->returns, merge_is_older);
    if (merge_put_together(run) != KERN_SUCCESS)
        merge_give_up(queue, run);
    run->data = run->returns->data - (run->returns->offset - run->offset);
}

vm_size_t merge_cut(const struct pager_policy *policy, const struct pager_run *run, vm_size_t done)
{
    vm_size_t left = run->length - done;

    (void)policy;
    return left < pager_policy_merge_max() ? left : pager_policy_merge_max();
}

void merge_drop(struct pager_run *run)
{
    if (run->buffer != 0)
        vm_deallocate(mach_task_self(), run->buffer, run->length);
    run->buffer = 0;
}
