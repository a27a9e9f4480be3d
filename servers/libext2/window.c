// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Windows: blocks that are kept for one file, or, as a group's zone, for metadata. They exist in
 * memory only and lie in one group each. A group's windows form a list, ascending, without
 * overlaps; its zone is always there.
 */
#include "libext2/private.h"

void ext2_window_insert(struct ext2_group *group, struct ext2_window *window)
{
    struct ext2_window **link = &group->windows;
    while (*link != NULL && (*link)->start < window->start)
        link = &(*link)->next;
    window->next = *link;
    *link = window;
}

void ext2_window_drop(struct ext2_fs *fs, struct ext2_window *window)
{
    if (window->start == window->end)
        return;
    struct ext2_window **link = &ext2_group_of(fs, window->start)->windows;
    while (*link != window)
        link = &(*link)->next;
    *link = window->next;
    window->end = window->start;
}

static void ext2_group_windows_drop(struct ext2_group *group)
{
    struct ext2_window *next;
    for (struct ext2_window *window = group->windows; window != NULL; window = next) {
        next = window->next;
        window->next = NULL;
        if (window != &group->zone)
            window->end = window->start;
    }
    group->windows = &group->zone;
}

void ext2_windows_drop_all(struct ext2_fs *fs)
{
    for (uint32_t i = 0; i < fs->ngroups; i++)
        ext2_group_windows_drop(&fs->groups[i]);
}

void ext2_zone_move(struct ext2_group *group, uint32_t start, uint32_t count)
{
    struct ext2_window **link = &group->windows;
    while (*link != &group->zone)
        link = &(*link)->next;
    *link = group->zone.next;
    group->zone.start = start;
    group->zone.end = start + count;
    ext2_window_insert(group, &group->zone);
}
