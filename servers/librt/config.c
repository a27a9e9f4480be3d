// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/config.h"

#include <stdlib.h>
#include <string.h>

#include "librt/log.h"

#define CONFIG_KEYS_MAX 64

struct config_entry {
    const char *key;
    const char *value;
};

static struct config_entry config_entries[CONFIG_KEYS_MAX];
static size_t config_count;

static void rt_config_add(char *line)
{
    char *equals = strchr(line, '=');

    if (equals == NULL)
        rt_panic("configuration: '%s' is not key=value", line);
    if (config_count == CONFIG_KEYS_MAX)
        rt_panic("configuration: more than %d keys", CONFIG_KEYS_MAX);
    *equals = '\0';
    config_entries[config_count++] = (struct config_entry){.key = line, .value = equals + 1};
}

void rt_config_init(char *text)
{
    char *rest = NULL;

    config_count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        rt_config_add(line);
}

const char *rt_config_find(const char *key)
{
    for (size_t i = 0; i < config_count; i++)
        if (strcmp(config_entries[i].key, key) == 0)
            return config_entries[i].value;
    return NULL;
}

const char *rt_config_string(const char *key)
{
    const char *value = rt_config_find(key);

    if (value == NULL)
        rt_panic("configuration: no value for '%s'", key);
    return value;
}

uint64_t rt_config_u64(const char *key)
{
    const char *value = rt_config_string(key);
    char *end;
    uint64_t number = strtoull(value, &end, 10);

    if (end == value || *end != '\0')
        rt_panic("configuration: %s=%s is not a number", key, value);
    return number;
}

bool rt_config_is(const char *key, const char *value)
{
    const char *found = rt_config_find(key);

    return found != NULL && strcmp(found, value) == 0;
}
