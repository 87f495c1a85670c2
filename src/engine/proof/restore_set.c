/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_set.c - an import and what somebody had set by hand that names no
 * row: how words are to be read (understand/correction.h), and settings of a
 * user. They went with the words or the user, whose names were left.
 */
#include "base/json.h"
#include "engine/core/action.h"
#include "engine/core/forgotten.h"
#include "engine/proof/restore_internal.h"

#include <string.h>

/* Note the words that a line's "key" stands for, and their name. */
static void note_words(struct arena *arena, const json_t *object,
                       struct restore_line *line)
{
    const char *key = json_string_value(json_object_get(object, "key"));

    line->has_words =
        key && hex_parse(str_of(key), line->words, sizeof(line->words));
    if (line->has_words) {
        line->set = (struct forgotten_name){
            STR(""), forgotten_words_name(arena, line->words), 0};
    }
}

/* The user that an object names; s == NULL if it names none. */
static struct str user_of(struct arena *arena, const json_t *object)
{
    const char *user = json_string_value(json_object_get(object, "user_id"));

    return user ? arena_str(arena, str_of(user)) : (struct str){0};
}

static void note_action(struct arena *arena, const json_t *json,
                        struct restore_line *line)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const char *text = json_string_value(json_object_get(json, "detail"));
    json_t *detail = NULL;

    if (!kind || !text || json_parse(str_of(text), &detail, NULL) != CLEW_OK) {
        return;
    }
    if (strcmp(kind, ACTION_INTENT_CORRECT) == 0) {
        note_words(arena, detail, line);
    } else if (strcmp(kind, ACTION_USER_PATCH) == 0) {
        line->set =
            (struct forgotten_name){user_of(arena, detail), FORGOTTEN_USER, 0};
    }
    json_decref(detail);
}

void restore_note_set(struct arena *arena, const json_t *json,
                      struct restore_line *line)
{
    const char *type = export_kinds[line->kind].type;

    if (strcmp(type, "correction") == 0) {
        note_words(arena, json, line);
    } else if (strcmp(type, "user") == 0) {
        line->set =
            (struct forgotten_name){user_of(arena, json), FORGOTTEN_USER, 0};
    } else if (strcmp(type, "action") == 0) {
        note_action(arena, json, line);
    }
}

static bool is_set(const struct restore_line *line, size_t kind)
{
    return line->kind == kind && !line->is_gone && line->set.user_id.s &&
           line->set.external_id.s;
}

enum clew_status restore_mark_set(struct store_tx *tx,
                                  struct restore_work *work, size_t kind,
                                  struct clew_error *err)
{
    struct forgotten_name *names =
        arena_zero(work->arena, work->count + 1, sizeof(*names));
    int64_t since_ms = work->brings_back ? work->sent_at_ms : 1;
    size_t n = 0;
    enum clew_status status;

    if (!names) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        if (is_set(&work->lines[i], kind)) {
            names[n++] = work->lines[i].set;
        }
    }
    status = forgotten_find(tx, work->arena, names, n, err);
    n = 0;
    for (size_t i = 0; status == CLEW_OK && i < work->count; i++) {
        struct restore_line *line = &work->lines[i];

        if (is_set(line, kind)) {
            int64_t at_ms = names[n++].at_ms;

            line->is_gone = at_ms >= since_ms &&
                            restore_time_at(line, "created_at") <= at_ms;
            work->report.n_forgotten += line->is_gone ? 1 : 0;
        }
    }
    return status == CLEW_OK ? restore_mark_words(tx, work, kind, err) : status;
}
