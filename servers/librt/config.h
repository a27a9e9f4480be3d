// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run's configuration: lines of key=value (docs/protocol.md, section 1). The runner has checked
 * every value, so a missing or unreadable one is a mistake in Machbed: a panic.
 */
#ifndef LIBRT_CONFIG_H
#define LIBRT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RT_CONFIG_MAX 8192 /* bytes of the text, its terminating zero included */

/* Take TEXT (modified, and kept) as the configuration. => before the other calls. */
void rt_config_init(char *text);

/* The value of KEY, or null. => does not block; valid for as long as the task lives. */
const char *rt_config_find(const char *key);

/* The value of KEY. */
const char *rt_config_string(const char *key);

/* The value of KEY, a decimal number. */
uint64_t rt_config_u64(const char *key);

/* Whether KEY has exactly this VALUE. */
bool rt_config_is(const char *key, const char *value);

#endif
