/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatgpt.c - a conversation of ChatGPT's conversations.json.
 *
 * {"title", "create_time", "conversation_id"|"id", "current_node", "mapping":
 * {id: {"id", "parent", "children": [id], "message": {"id", "author": {"role",
 * "name"}, "create_time", "content": {"content_type", "parts"|"text"},
 * "metadata", "weight"} or null}}}. The mapping is a tree; an edited question
 * and a second answer are children of one node. The branch that was shown last
 * goes first, so that it becomes the chat and the others its forks.
 */
#include "import/import.h"
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/buf.h"
#include "base/json.h"

#include <string.h>

/* Longer chains are no conversation. */
#define MAX_NODES 200000
/* The year 9999. */
#define MAX_SECONDS 253402300799.0
/* More is no damage but no conversation; each costs a look at all nodes. */
#define MAX_CIRCLES 64

struct walk {
    struct importer *importer;
    struct str conversation;
    json_t *mapping;
    json_t *shown; /* nodes on the way to the current one */
    json_t *below; /* {ID: [those that name it as their parent]} */
    /* {ID: who names it as a child}, of those that name no parent */
    json_t *above;
    json_t *taken; /* nodes that were come to */
    int64_t time_ms;
    size_t n_steps;
};

static struct str external_id(const struct walk *walk, struct str node,
                              char out[SAID_ID_SIZE])
{
    return said_id("chatgpt", walk->conversation, node, out);
}

static void add_part(struct buf *out, const json_t *part)
{
    struct str text = json_text(part);

    if (!text.s) {
        text = import_text(part, "text");
    }
    if (text.s) {
        said_append(out, text);
    } else {
        said_attach(out, said_kind(import_id(part, "content_type")));
    }
}

/* People did not see it, or it is what the model thought. */
static bool is_hidden(const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    const json_t *meta = json_object_get(message, "metadata");
    struct str type = import_text(content, "content_type");

    return json_is_true(
               json_object_get(meta, "is_visually_hidden_from_conversation")) ||
           json_is_true(json_object_get(meta, "is_user_system_message")) ||
           str_eq(type, STR("user_editable_context")) ||
           str_eq(type, STR("model_editable_context")) ||
           str_eq(type, STR("thoughts")) ||
           str_eq(type, STR("reasoning_recap"));
}

/* What people saw of a message as one string; NULL if they saw nothing. */
static json_t *content_of(const json_t *message, struct clew_error *err,
                          enum clew_status *out_status)
{
    const json_t *content = json_object_get(message, "content");
    struct buf text;
    const json_t *part;
    size_t i;

    *out_status = CLEW_OK;
    if (is_hidden(message)) {
        return NULL;
    }
    buf_init(&text, SAID_MAX_BYTES);
    json_array_foreach (json_object_get(content, "parts"), i, part) {
        add_part(&text, part);
    }
    if (json_is_string(json_object_get(content, "text"))) {
        add_part(&text, json_object_get(content, "text"));
    }
    return said_take(&text, out_status, err);
}

static const char *role_of(const json_t *author)
{
    struct str role = import_text(author, "role");

    return str_eq(role, STR("user"))        ? "user"
           : str_eq(role, STR("assistant")) ? "assistant"
           : str_eq(role, STR("system"))    ? "system"
                                            : "tool";
}

/* A time in seconds as milliseconds; 0 for one that is none: before 1970, or
 * later than any calendar goes. */
static int64_t time_of(const json_t *seconds)
{
    double n = json_number_value(seconds);

    return n > 0 && n < MAX_SECONDS ? (int64_t)(n * 1000) : 0;
}

/* The node before this one: it says so, or is said to be a child. */
static struct str parent_of(const struct walk *walk, struct str id,
                            const json_t *node)
{
    struct str parent = import_id(node, "parent");

    return parent.s ? parent
                    : json_text(json_object_getn(walk->above, id.s, id.len));
}

/* Each tree begins with a node that has no message, and an empty one of the
 * system. */
static enum import_reason reason_of(const json_t *message, const char *role)
{
    return is_hidden(message) ? IMPORT_HIDDEN
           : !message || json_is_null(message) ||
                   (role && strcmp(role, "system") == 0)
               ? IMPORT_NO_MESSAGE
               : IMPORT_EMPTY;
}

static enum clew_status take_node(struct walk *walk, struct str id,
                                  const json_t *node, struct clew_error *err)
{
    const json_t *message = json_object_get(node, "message");
    const json_t *author = json_object_get(message, "author");
    const json_t *time = json_object_get(message, "create_time");
    struct str parent = parent_of(walk, id, node);
    char own[SAID_ID_SIZE];
    char above[SAID_ID_SIZE];
    struct import_message out = {.id = external_id(walk, id, own),
                                 .role = role_of(author),
                                 .name = import_id(author, "name")};
    enum clew_status status = CLEW_OK;

    /* what comes later, in a circle, is not before it */
    if (parent.s && (json_object_getn(walk->taken, parent.s, parent.len) ||
                     !json_object_getn(walk->mapping, parent.s, parent.len))) {
        out.parent = external_id(walk, parent, above);
    }
    out.content = content_of(message, err, &status);
    if (status != CLEW_OK) {
        return status;
    }
    if (!out.content) {
        return importer_skip(walk->importer, out.id, out.parent,
                             reason_of(message, out.role), err);
    }
    /* Some have no time of their own: that of the one before them. */
    if (time_of(time) > 0) {
        walk->time_ms = time_of(time);
    }
    out.created_at_ms = walk->time_ms;
    status = importer_add(walk->importer, &out, err);
    json_decref(out.content);
    return status;
}

/* Mark the nodes from the current one up to the root. */
static enum clew_status mark_shown(struct walk *walk, const json_t *piece,
                                   struct clew_error *err)
{
    struct str at = import_id(piece, "current_node");

    for (size_t i = 0; at.s && i < MAX_NODES; i++) {
        const json_t *node = json_object_getn(walk->mapping, at.s, at.len);

        if (!node || json_object_getn(walk->shown, at.s, at.len)) {
            return CLEW_OK;
        }
        if (json_object_setn_new_nocheck(walk->shown, at.s, at.len,
                                         json_true()) != 0) {
            return clew_no_memory(err);
        }
        at = parent_of(walk, at, node);
    }
    return CLEW_OK;
}

/* Who follows whom is told twice: a list of children that is damaged, or does
 * not name one, loses nothing, nor does a node that names no parent. */
static bool note_child(struct walk *walk, struct str parent, const char *id)
{
    json_t *list = json_object_getn(walk->below, parent.s, parent.len);

    if (!list) {
        list = json_array();
        if (json_object_setn_new_nocheck(walk->below, parent.s, parent.len,
                                         list) != 0) {
            return false;
        }
    }
    return json_array_append_new(list, json_string(id)) == 0;
}

static bool note_parents(struct walk *walk)
{
    const char *id;
    json_t *node;

    json_object_foreach (walk->mapping, id, node) {
        struct str parent = import_id(node, "parent");
        const json_t *child;
        size_t i;

        if (parent.s && !note_child(walk, parent, id)) {
            return false;
        }
        json_array_foreach (json_object_get(node, "children"), i, child) {
            const char *name = json_string_value(child);
            const json_t *other =
                name ? json_object_get(walk->mapping, name) : NULL;

            if (other && strcmp(name, id) != 0 &&
                !import_id(other, "parent").s &&
                json_object_set_new_nocheck(walk->above, name,
                                            json_string(id)) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Put the children of a node on the stack; the shown one comes off first. */
static bool push_children(const struct walk *walk, json_t *stack, struct str id,
                          const json_t *node)
{
    const json_t *children = json_object_get(node, "children");
    json_t *last = NULL;

    if (json_array_extend(stack, json_object_getn(walk->below, id.s, id.len)) !=
            0 &&
        json_object_getn(walk->below, id.s, id.len)) {
        return false;
    }
    for (size_t i = json_array_size(children); i > 0; i--) {
        json_t *child = json_array_get(children, i - 1);

        if (json_object_get(walk->shown, json_string_value(child))) {
            last = child;
        } else if (json_array_append(stack, child) != 0) {
            return false;
        }
    }
    return !last || json_array_append(stack, last) == 0;
}

static enum clew_status walk_tree(struct walk *walk, json_t *stack,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    while (status == CLEW_OK && json_array_size(stack) > 0) {
        size_t top = json_array_size(stack) - 1;
        json_t *name = json_incref(json_array_get(stack, top));
        struct str id = json_text(name);
        const json_t *node =
            id.s ? json_object_getn(walk->mapping, id.s, id.len) : NULL;

        (void)json_array_remove(stack, top);    /* it is there */
        if (walk->n_steps++ >= 2 * MAX_NODES) { /* each may be there twice */
            status = clew_fail(err, CLEW_TOO_LARGE, "too many messages");
        } else if (node && !json_object_getn(walk->taken, id.s, id.len)) {
            status = take_node(walk, id, node, err);
            if (status == CLEW_OK &&
                (json_object_setn_new_nocheck(walk->taken, id.s, id.len,
                                              json_true()) != 0 ||
                 !push_children(walk, stack, id, node))) {
                status = clew_no_memory(err);
            }
        }
        json_decref(name);
    }
    return status;
}

/* The oldest of those that were not come to; NULL if all were. Messages that
 * follow each other in a circle begin with it. */
static const char *oldest_left(const struct walk *walk)
{
    const char *oldest = NULL;
    int64_t least = INT64_MAX;
    const char *id;
    json_t *node;

    json_object_foreach (walk->mapping, id, node) {
        int64_t time = time_of(
            json_object_get(json_object_get(node, "message"), "create_time"));

        if (!json_object_get(walk->taken, id) && (!oldest || time < least)) {
            oldest = id;
            least = time;
        }
    }
    return oldest;
}

static enum clew_status walk_all(struct walk *walk, json_t *stack,
                                 struct clew_error *err)
{
    enum clew_status status = walk_tree(walk, stack, err);
    const char *id = oldest_left(walk);

    for (int n = 0; status == CLEW_OK && id; n++) {
        if (n == MAX_CIRCLES) {
            return clew_fail(err, CLEW_INVALID,
                             "messages of it follow each other in circles");
        }
        if (n == 0) {
            importer_mend(walk->importer);
        }
        status = json_array_append_new(stack, json_string(id)) == 0
                     ? walk_tree(walk, stack, err)
                     : clew_no_memory(err);
        id = oldest_left(walk);
    }
    return status;
}

/* The first beginning comes off first, before it the one that was shown. */
static bool push_roots(const struct walk *walk, json_t *stack)
{
    json_t *shown = NULL;
    const char *id;
    json_t *node;

    json_object_foreach (walk->mapping, id, node) {
        struct str parent = parent_of(walk, str_of(id), node);

        if (parent.s && json_object_getn(walk->mapping, parent.s, parent.len)) {
            continue;
        }
        if (!shown && json_object_get(walk->shown, id)) {
            shown = json_string(id);
        } else if (json_array_insert_new(stack, 0, json_string(id)) != 0) {
            json_decref(shown);
            return false;
        }
    }
    return !shown || json_array_append_new(stack, shown) == 0;
}

enum clew_status import_chatgpt(struct importer *importer, json_t *piece,
                                int64_t number, struct clew_error *err)
{
    const json_t *time = json_object_get(piece, "create_time");
    struct walk walk = {.importer = importer,
                        .conversation = import_id(piece, "conversation_id"),
                        .mapping = json_object_get(piece, "mapping"),
                        .shown = json_object(),
                        .below = json_object(),
                        .above = json_object(),
                        .taken = json_object(),
                        .time_ms = time_of(time)};
    json_t *stack = json_array();
    enum clew_status status = CLEW_OK;

    (void)number;
    if (!walk.conversation.s) {
        walk.conversation = import_id(piece, "id");
    }
    if (!walk.conversation.s || !json_is_object(walk.mapping)) {
        status = clew_fail(err, CLEW_INVALID,
                           "it has no \"conversation_id\" or no \"mapping\"");
    } else if (!walk.shown || !walk.below || !walk.above || !walk.taken ||
               !stack || !note_parents(&walk)) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = mark_shown(&walk, piece, err);
    }
    if (status == CLEW_OK && !push_roots(&walk, stack)) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status =
            importer_begin(importer, import_text(piece, "title"), true, err);
    }
    if (status == CLEW_OK) {
        status = walk_all(&walk, stack, err);
    }
    if (status == CLEW_OK) {
        status = importer_end(importer, err);
    }
    json_decref(stack);
    json_decref(walk.shown);
    json_decref(walk.below);
    json_decref(walk.above);
    json_decref(walk.taken);
    return status;
}
