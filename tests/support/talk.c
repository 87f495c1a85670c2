/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.c - see talk.h.
 */
#include "support/test.h"

#include "support/talk.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "engine/feed/feed.h"
#include "engine/thought/memory_view.h"
#include "model/embed.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

static int drop(const char *path, const struct stat *info, int type,
                struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

void talk_open(struct talk *talk)
{
    struct clew_error err = {0};

    memset(talk, 0, sizeof(*talk));
    world_open(&talk->world);
    (void)snprintf(talk->folder, sizeof(talk->folder), "/tmp/clew-talk-XXXXXX");
    assert_non_null(mkdtemp(talk->folder));
    talk->world.engine.data_dir = talk->folder;
    talk->world.engine.embedder = embed_static();
    assert_int_equal(feed_open(&talk->world.engine, &err), CLEW_OK);
    talk->at_ms = WORLD_NOW;
}

void talk_close(struct talk *talk)
{
    feed_close(&talk->world.engine);
    world_close(&talk->world);
    assert_int_equal(nftw(talk->folder, drop, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void talk_say(struct talk *talk, char role, const char *text)
{
    struct world *world = &talk->world;
    struct clew_error err = {0};
    struct capture_input input = {
        .user_id = STR("ada"),
        .role = role == 'u'   ? TURN_USER
                : role == 'a' ? TURN_ASSISTANT
                              : TURN_SYSTEM,
        .content = {.text = arena_str(&world->arena, str_of(text))},
        .channel = uuid_is_nil(&talk->chat_id) ? STR("web") : (struct str){0},
        .chat_id = talk->chat_id};

    talk->at_ms += CLOCK_MINUTE_MS;
    clock_set_ms(&world->clock, talk->at_ms);
    input.created_at_ms = talk->at_ms;
    if (capture_turns(&world->engine, &world->scope, &world->arena, &input, 1,
                      &talk->last, &err) != CLEW_OK) {
        fail_msg("%s: %.200s", err.message, text);
    }
    for (size_t i = 0; i < talk->last.updates.n_notices; i++) {
        assert_true(utf8_is_valid(talk->last.updates.notices[i]));
    }
    talk->chat_id = talk->last.turn.chat_id;
}

void talk_script(struct talk *talk, const char *script)
{
    struct str rest = str_of(script);
    struct str part;

    while (str_split(&rest, '|', &part)) {
        struct str text =
            arena_str(&talk->world.arena, str_sub(part, 2, part.len));

        talk_say(talk, part.s[0], text.s);
    }
}

const struct capture_result *talk_by(struct talk *talk, const char *channel,
                                     int64_t at_ms, enum turn_role role,
                                     const char *text)
{
    struct world *world = &talk->world;
    struct clew_error err = {0};
    struct capture_input input = {
        .user_id = STR("ada"),
        .role = role,
        .content = {.text = arena_str(&world->arena, str_of(text))},
        .channel = str_of(channel),
        .created_at_ms = WORLD_NOW + at_ms};

    clock_set_ms(&world->clock, WORLD_NOW + at_ms);
    if (capture_turns(&world->engine, &world->scope, &world->arena, &input, 1,
                      &talk->last, &err) != CLEW_OK) {
        fail_msg("%s: %.200s", err.message, text);
    }
    return &talk->last;
}

void talk_leave(struct talk *talk)
{
    memset(&talk->chat_id, 0, sizeof(talk->chat_id));
}

const char *talk_notices(struct talk *talk)
{
    const struct updates *updates = &talk->last.updates;
    struct buf text;
    struct str out;

    buf_init(&text, 1 << 16);
    for (size_t i = 0; i < updates->n_notices; i++) {
        assert_int_equal(buf_append_str(&text, updates->notices[i]), CLEW_OK);
        assert_int_equal(buf_append_char(&text, '\n'), CLEW_OK);
    }
    out = arena_str(&talk->world.arena, buf_str(&text));
    buf_release(&text);
    assert_non_null(out.s);
    return out.s;
}

static size_t list(struct talk *talk, const char *type,
                   struct memory_view **out)
{
    struct memory_filter filter = {.type = str_of(type), .limit = 500};
    struct clew_error err = {0};
    size_t count = 0;

    assert_int_equal(memory_view_list(&talk->world.engine, &talk->world.scope,
                                      &talk->world.arena, &filter, out, &count,
                                      &err),
                     CLEW_OK);
    return count;
}

const struct memory *talk_memory(struct talk *talk, const char *type, size_t n)
{
    struct memory_view *views = NULL;
    size_t count = list(talk, type, &views);

    return n < count ? &views[count - 1 - n].memory : NULL;
}

size_t talk_count(struct talk *talk, const char *type)
{
    struct memory_view *views = NULL;

    return list(talk, type, &views);
}
