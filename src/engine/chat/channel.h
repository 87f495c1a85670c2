/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - how a message came, and whether a person picked its chat.
 *
 * On an explicit channel (web, app) the caller names the chat; on an implicit
 * one (sms, mail) silence decides. The table is the configuration's
 * "channels.*"; a channel it does not know is implicit.
 * Thread-safety: reads immutable configuration.
 */
#ifndef ENGINE_CHANNEL_H
#define ENGINE_CHANNEL_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

bool channel_is_explicit(const struct engine *engine, struct str channel);
/* The channel's own timeout in minutes, or the general default. */
int64_t channel_inactivity_minutes(const struct engine *engine,
                                   struct str channel);

#endif
