/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact_tree.c - stars over secrets in texts and in JSON. See redact.h.
 *
 * What a string says is found as in any text. Beyond that a field's name is the
 * label of its value, and a list's name that of its items; a name and its value
 * may be two fields. A key that is split over blocks is looked for in all of
 * them put together.
 */
#include "engine/core/redact.h"

#include "base/utf8.h"
#include "text/secret_scan.h"

#include <stdio.h>
#include <string.h>

/* Longer values of a field named "password" are texts, and read as such. */
#define FIELD_BYTES 250
#define LABEL_BYTES 64
#define NUMBER_BYTES 32
/* Looked at around where two blocks meet: a label and a value. */
#define EDGE_BEFORE 128
#define EDGE_AFTER 512
#define STARS "********"

/* A string of a list, and where it begins in all of them together. */
struct piece {
    json_t *owner; /* the list, or the block whose "text" it is */
    size_t i;
    struct str whole;
    struct str text; /* of a block: blanks and line ends around it taken off */
    size_t from;
    bool is_block;
};

struct walk {
    struct arena *arena;
    bool is_changed;
    bool is_failed;
};

enum clew_status redact_str(struct arena *arena, struct str *text,
                            struct clew_error *err)
{
    struct secret_span span;
    char *copy;

    if (!text->s || !secret_scan_find(*text, 0, &span)) {
        return CLEW_OK;
    }
    copy = arena_copy(arena, text->s, text->len);
    if (!copy) {
        return clew_no_memory(err);
    }
    (void)secret_scan_mask(copy, text->len); /* there is one */
    text->s = copy;
    return CLEW_OK;
}

/* Take a new value; `is_set` says whether its place did. */
static void took(struct walk *w, bool is_set)
{
    w->is_changed = true;
    w->is_failed = w->is_failed || !is_set;
}

/* Would `label: "value"` be a secret? */
static bool is_labelled(const char *label, struct str value)
{
    char said[LABEL_BYTES + FIELD_BYTES + 4];
    struct str name = str_of(label ? label : "");
    struct str text = {said, 0};
    struct secret_span span;

    if (name.len == 0 || value.len == 0 || value.len > FIELD_BYTES) {
        return false;
    }
    name.len = utf8_cut(name, LABEL_BYTES);
    memcpy(said, name.s, name.len);
    memcpy(said + name.len, ": \"", 3);
    for (size_t i = 0; i < value.len; i++) {
        /* nothing ends the value here */
        said[name.len + 3 + i] =
            strchr("\"\\\n\r", value.s[i]) ? '~' : value.s[i];
    }
    text.len = name.len + 3 + value.len + 1;
    said[text.len - 1] = '"';
    return secret_scan_find(text, 0, &span) &&
           span.to > name.len; /* not in the name alone */
}

/* The text with stars; false if it needs none. */
static bool star(struct walk *w, const char *label, struct str *text)
{
    const char *before = text->s;
    char *copy;

    if (redact_str(w->arena, text, NULL) != CLEW_OK) {
        w->is_failed = true;
    } else if (is_labelled(label, *text)) {
        copy = arena_copy(w->arena, text->s, text->len);
        if (!copy) {
            w->is_failed = true;
            return false;
        }
        memset(copy, '*', text->len);
        text->s = copy;
    }
    return text->s != before;
}

/* What is to stand in the place of a string or number; NULL: itself. */
static json_t *fresh_of(struct walk *w, const char *label, const json_t *value)
{
    char number[NUMBER_BYTES];
    struct str text;

    if (json_is_string(value)) {
        text = json_text(value);
    } else if (json_is_integer(value)) {
        text =
            (struct str){number, (size_t)snprintf(number, sizeof(number),
                                                  "%" JSON_INTEGER_FORMAT,
                                                  json_integer_value(value))};
    } else {
        return NULL;
    }
    if (!star(w, label, &text)) {
        return NULL;
    }
    return json_is_string(value) ? json_stringn(text.s, text.len)
                                 : json_string(STARS);
}

/* --- what is split --- */

/* The string at `i` of a list, or that of the block there; or NULL. */
static const json_t *piece_at(const json_t *list, size_t i)
{
    const json_t *item = json_array_get(list, i);
    const json_t *text =
        json_is_string(item) ? item : json_object_get(item, "text");

    return json_is_string(text) ? text : NULL;
}

static size_t count_pieces(const json_t *list)
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        count += piece_at(list, i) != NULL;
    }
    return count;
}

/* All strings of a list, `gap` bytes between them. */
static struct piece *find_pieces(struct walk *w, json_t *list, size_t gap,
                                 size_t *out_count)
{
    struct piece *pieces =
        arena_zero(w->arena, count_pieces(list), sizeof(*pieces));
    size_t count = 0;
    size_t end = 0;

    for (size_t i = 0; pieces && i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        const json_t *text = piece_at(list, i);
        struct piece *piece = &pieces[count];

        if (!text) {
            continue;
        }
        piece->is_block = text != item;
        piece->owner = piece->is_block ? item : list;
        piece->i = i;
        piece->whole = json_text(text);
        piece->text = piece->is_block ? str_trim(piece->whole) : piece->whole;
        piece->from = end;
        end += piece->text.len + gap;
        count++;
    }
    *out_count = count;
    return pieces;
}

/* What they are together; `out_len` is its length. */
static char *join_pieces(struct walk *w, const struct piece *pieces,
                         size_t count, size_t *out_len)
{
    size_t len = pieces[count - 1].from + pieces[count - 1].text.len;
    char *all = arena_zero(w->arena, len + 1, 1);

    if (all) {
        memset(all, ' ', len);
    }
    for (size_t i = 0; all && i < count; i++) {
        memcpy(all + pieces[i].from, pieces[i].text.s, pieces[i].text.len);
    }
    *out_len = len;
    return all;
}

/*
 * Is it one secret in two pieces? A key, that goes from one into the next; in
 * blocks, which are one text, also a value whose label ends the one before.
 */
static bool is_split(const struct piece *piece, const struct secret_span *span)
{
    bool is_over = span->to > piece->from + piece->text.len;

    if (span->kind == SECRET_PASSWORD || span->kind == SECRET_CARD) {
        return piece->is_block && (is_over || span->from == piece->from);
    }
    return is_over || span->kind == SECRET_PRIVATE_KEY ||
           (piece->is_block && span->from == piece->from);
}

/* Put back what was starred of a piece, if anything was. */
static void put_piece(struct walk *w, const struct piece *piece,
                      const char *text)
{
    char *copy;
    json_t *fresh = NULL;

    if (memcmp(piece->text.s, text, piece->text.len) == 0) {
        return;
    }
    copy = arena_copy(w->arena, piece->whole.s, piece->whole.len);
    if (copy) {
        memcpy(copy + (piece->text.s - piece->whole.s), text, piece->text.len);
        fresh = json_stringn(copy, piece->whole.len);
    }
    took(w, fresh &&
                (piece->is_block
                     ? json_object_set_new(piece->owner, "text", fresh)
                     : json_array_set_new(piece->owner, piece->i, fresh)) == 0);
}

static void star_span(char *all, const struct secret_span *span)
{
    for (size_t i = span->from; i < span->to; i++) {
        all[i] = all[i] == '\n' ? '\n' : '*';
    }
}

/* Star what is split over pieces that are together `view`. */
static void star_split(const struct piece *pieces, size_t count,
                       struct str view, char *all)
{
    struct secret_span span;
    size_t k = 0;

    for (size_t at = 0; secret_scan_find(view, at, &span); at = span.to) {
        while (k + 1 < count && span.from >= pieces[k + 1].from) {
            k++;
        }
        if (is_split(&pieces[k], &span)) {
            star_span(all, &span);
        }
    }
}

/* Star what is said over where two blocks meet: a label and its value. */
static void star_met(const struct piece *pieces, size_t count, struct str view,
                     char *all)
{
    struct secret_span span;

    for (size_t k = 1; k < count; k++) {
        size_t border = pieces[k].from;
        struct str near = str_sub(view, 0, border + EDGE_AFTER);
        size_t at = border > EDGE_BEFORE ? border - EDGE_BEFORE : 0;

        if (!pieces[k - 1].is_block || !pieces[k].is_block) {
            continue;
        }
        for (; secret_scan_find(near, at, &span); at = span.to) {
            star_span(all, &span);
        }
    }
}

static void walk_pieces(struct walk *w, json_t *list, size_t gap)
{
    struct piece *pieces;
    size_t count = 0;
    struct str view;
    char *all;

    if (count_pieces(list) < 2) {
        return;
    }
    pieces = find_pieces(w, list, gap, &count);
    all = pieces ? join_pieces(w, pieces, count, &view.len) : NULL;
    if (!all) {
        w->is_failed = true;
        return;
    }
    view.s = all;
    if (gap == 0) {
        star_split(pieces, count, view, all);
    } else {
        star_met(pieces, count, view, all);
    }
    for (size_t i = 0; i < count; i++) {
        put_piece(w, &pieces[i], all + pieces[i].from);
    }
}

/* --- the walk --- */

/* {"name": "DB_PASSWORD", "value": …}: what the value's name is. */
static const char *name_of_value(struct walk *w, const json_t *object,
                                 const char *label)
{
    static const char *const fields[] = {"name",     "key",    "label",
                                         "variable", "header", "field"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const json_t *name = json_object_get(object, fields[i]);

        if (json_is_string(name)) {
            /* its own: the name may be starred meanwhile */
            const char *copy = arena_printf(w->arena, "%.*s", LABEL_BYTES,
                                            json_string_value(name));

            w->is_failed = w->is_failed || !copy;
            return copy;
        }
    }
    return label;
}

static bool is_value(const char *name)
{
    return strcmp(name, "value") == 0 || strcmp(name, "content") == 0;
}

static void walk(struct walk *w, json_t *json, const char *label);

static void walk_list(struct walk *w, json_t *list, const char *label)
{
    json_t *value;
    size_t i;

    walk_pieces(w, list, 0); /* a key is in two parts */
    walk_pieces(w, list, 1); /* a sentence is */
    json_array_foreach (list, i, value) {
        json_t *fresh = fresh_of(w, label, value);

        if (fresh) {
            took(w, json_array_set_new(list, i, fresh) == 0);
        } else {
            walk(w, value, label);
        }
    }
}

/* Names that are secrets themselves: all members go into the object anew. */
static void rename_members(struct walk *w, json_t *object)
{
    json_t *fresh = NULL;
    const char *name;
    json_t *value;
    bool is_one = false;

    json_object_foreach (object, name, value) {
        struct str text = str_of(name);

        is_one = is_one || star(w, NULL, &text);
    }
    if (!is_one) {
        return;
    }
    fresh = json_object();
    json_object_foreach (object, name, value) {
        struct str text = str_of(name);

        (void)star(w, NULL, &text);
        took(w, fresh && json_object_setn(fresh, text.s, text.len, value) == 0);
    }
    if (!w->is_failed) {
        (void)json_object_clear(object);
        took(w, json_object_update(object, fresh) == 0);
    }
    json_decref(fresh);
}

static void walk_object(struct walk *w, json_t *object, const char *label)
{
    const char *said =
        json_object_get(object, "value") || json_object_get(object, "content")
            ? name_of_value(w, object, label)
            : label;
    const char *name;
    json_t *value;
    void *next;

    json_object_foreach_safe(object, next, name, value)
    {
        const char *of = is_value(name) && said ? said : name;
        json_t *fresh = fresh_of(w, of, value);

        if (fresh) {
            took(w, json_object_set_new(object, name, fresh) == 0);
        } else {
            walk(w, value, of);
        }
    }
    rename_members(w, object);
}

/* Depth is bounded by the parser. */
static void walk(struct walk *w, json_t *json, const char *label)
{
    if (json_is_array(json)) {
        walk_list(w, json, label);
    } else if (json_is_object(json)) {
        walk_object(w, json, label);
    }
}

enum clew_status redact_tree(struct arena *arena, json_t **tree,
                             bool *out_changed, struct clew_error *err)
{
    struct walk w = {.arena = arena};
    json_t *fresh = fresh_of(&w, NULL, *tree);

    if (fresh) {
        json_decref(*tree);
        *tree = fresh;
        w.is_changed = true;
    } else {
        walk(&w, *tree, NULL);
    }
    *out_changed = w.is_changed;
    return w.is_failed ? clew_no_memory(err) : CLEW_OK;
}
