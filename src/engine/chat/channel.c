/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - the channel table of the configuration. See channel.h.
 */
#include "engine/chat/channel.h"

#include "base/config.h"
#include "engine/core/engine.h"

#include <stdio.h>
#include <string.h>

/* "<prefix><name>"; false for a name no key can have. */
static bool key_of(const char *prefix, struct str channel, char *out,
                   size_t size)
{
    int len;

    if (channel.len == 0 || memchr(channel.s, '.', channel.len)) {
        return false;
    }
    len = snprintf(out, size, "%s%.*s", prefix, (int)channel.len, channel.s);
    return len > 0 && (size_t)len < size;
}

bool channel_is_explicit(const struct engine *engine, struct str channel)
{
    char key[128];
    const char *kind;

    if (!key_of("channels.", channel, key, sizeof(key))) {
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

    if (key_of("chats.channel_minutes.", channel, key, sizeof(key))) {
        minutes = config_int(engine->config, key);
    }
    return minutes > 0 ? minutes
                       : config_int(engine->config, "chats.inactivity_minutes");
}
