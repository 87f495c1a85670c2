/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - the channel table of the configuration. See channel.h.
 */
#include "engine/channel.h"

#include "base/config.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

/* "channels.<name><suffix>"; false for a name no key can have. */
static bool key_of(struct str channel, const char *suffix, char *out,
                   size_t size)
{
    int len;

    if (channel.len == 0 || memchr(channel.s, '.', channel.len)) {
        return false;
    }
    len = snprintf(out, size, "channels.%.*s%s", (int)channel.len, channel.s,
                   suffix);
    return len > 0 && (size_t)len < size;
}

bool channel_is_explicit(const struct engine *engine, struct str channel)
{
    char key[128];
    const char *kind;

    if (!key_of(channel, "", key, sizeof(key))) {
        return false;
    }
    kind = config_str(engine->config, key);
    return kind && strcmp(kind, "explicit") == 0;
}

int64_t channel_inactivity_minutes(const struct engine *engine,
                                   struct str channel)
{
    char key[128];
    int64_t minutes = 0;

    if (channel.s && key_of(channel, "_inactivity_minutes", key, sizeof(key))) {
        minutes = config_int(engine->config, key);
    }
    return minutes > 0 ? minutes
                       : config_int(engine->config, "chats.inactivity_minutes");
}
