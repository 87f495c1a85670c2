/* SPDX-License-Identifier: Apache-2.0 */
/*
 * importer.c - the chat of each message. See import.h.
 *
 * A node is a message that was added; one that was left out stands for its
 * parent (NO_NODE: for none). Messages wait in a batch of one chat; whoever
 * needs a number the batch does not have yet (a fork, another chat) hands it on
 * first.
 */
#include "import/import.h"

#include "base/alloc.h"
#include "base/json.h"

#include <stdio.h>
#include <string.h>

#define BATCH 100
#define BATCH_BYTES (4u << 20)
#define NO_NODE SIZE_MAX
#define NO_CHAT SIZE_MAX

struct node {
    size_t chat; /* index into `chats` */
    int64_t seq; /* 0 while it waits in the batch */
};

struct chat {
    char id[IMPORT_CHAT_ID_SIZE]; /* empty until its first message is kept */
    size_t tip;                   /* node */
    size_t origin;                /* the chat it leaves; NO_CHAT: none */
    int64_t at_seq;
    bool is_agents;
};

/* A message that waits: its strings are in `owner`. */
struct waiting {
    struct import_message message;
    json_t *owner;
    size_t node;
    size_t before; /* the node it follows in its chat; NO_NODE: none */
};

struct importer {
    const struct import_ops *ops;
    void *arg;
    struct import_counts counts;
    json_t *title; /* of the conversation */
    char *source;
    json_t *memo;
    bool is_tree;
    bool has_forgotten; /* some of this conversation was left out for that */
    json_t *by_id;      /* external id -> node */
    struct node *nodes;
    size_t n_nodes;
    size_t cap_nodes;
    struct chat *chats;
    size_t n_chats;
    size_t cap_chats;
    struct waiting batch[BATCH];
    size_t n_batch;
    size_t batch_bytes;
    size_t batch_chat;
};

/* --- nodes and chats ------------------------------------------------------ */

static enum clew_status grow(void **items, size_t n, size_t *cap, size_t size,
                             struct clew_error *err)
{
    size_t more = *cap ? *cap * 2 : 64;
    void *grown;

    if (n < *cap) {
        return CLEW_OK;
    }
    grown = alloc_array(*items, more, size);
    if (!grown) {
        return clew_no_memory(err);
    }
    *items = grown;
    *cap = more;
    return CLEW_OK;
}

static enum clew_status add_chat(struct importer *importer, const char *id,
                                 size_t *out_chat, struct clew_error *err)
{
    enum clew_status status =
        grow((void **)&importer->chats, importer->n_chats, &importer->cap_chats,
             sizeof(importer->chats[0]), err);
    struct chat *chat;

    if (status != CLEW_OK) {
        return status;
    }
    chat = &importer->chats[importer->n_chats];
    *chat = (struct chat){.tip = NO_NODE, .origin = NO_CHAT};
    (void)snprintf(chat->id, sizeof(chat->id), "%s", id);
    *out_chat = importer->n_chats++;
    return CLEW_OK;
}

/* A chat that leaves another, as soon as something is kept of it. */
static enum clew_status add_fork(struct importer *importer, struct node from,
                                 bool is_agents, size_t *out_chat,
                                 struct clew_error *err)
{
    enum clew_status status = add_chat(importer, "", out_chat, err);

    if (status == CLEW_OK) {
        struct chat *chat = &importer->chats[*out_chat];

        chat->origin = from.chat;
        chat->at_seq = from.seq;
        chat->is_agents = is_agents;
    }
    return status;
}

/* The chat with this id, added if it is not there. */
static enum clew_status chat_of(struct importer *importer, const char *id,
                                size_t *out_chat, struct clew_error *err)
{
    for (size_t i = importer->n_chats; i > 0; i--) {
        if (strcmp(importer->chats[i - 1].id, id) == 0) {
            *out_chat = i - 1;
            return CLEW_OK;
        }
    }
    return add_chat(importer, id, out_chat, err);
}

static enum clew_status name_node(struct importer *importer, struct str id,
                                  size_t node, struct clew_error *err)
{
    int failed = json_object_setn_new_nocheck(importer->by_id, id.s, id.len,
                                              json_integer((json_int_t)node));

    return failed ? clew_no_memory(err) : CLEW_OK;
}

static enum clew_status add_node(struct importer *importer, struct str id,
                                 size_t chat, int64_t seq, size_t *out_node,
                                 struct clew_error *err)
{
    enum clew_status status =
        grow((void **)&importer->nodes, importer->n_nodes, &importer->cap_nodes,
             sizeof(importer->nodes[0]), err);

    if (status == CLEW_OK) {
        status = name_node(importer, id, importer->n_nodes, err);
    }
    if (status == CLEW_OK) {
        importer->nodes[importer->n_nodes] = (struct node){chat, seq};
        *out_node = importer->n_nodes++;
    }
    return status;
}

/* The node of an id: known here, or kept by an earlier import; else NO_NODE. */
static enum clew_status find_node(struct importer *importer, struct str id,
                                  size_t *out_node, struct clew_error *err)
{
    const json_t *known;
    struct import_place place = {0};
    enum clew_status status;
    size_t chat = 0;

    *out_node = NO_NODE;
    if (!id.s) {
        return CLEW_OK;
    }
    known = json_object_getn(importer->by_id, id.s, id.len);
    if (known) {
        *out_node = (size_t)json_integer_value(known);
        return CLEW_OK;
    }
    status = importer->ops->find(importer->arg, id, &place, err);
    if (status != CLEW_OK || !place.is_known) {
        return status;
    }
    status = chat_of(importer, place.chat, &chat, err);
    if (status == CLEW_OK) {
        status = add_node(importer, id, chat, place.seq, out_node, err);
    }
    if (status == CLEW_OK && importer->chats[chat].tip == NO_NODE) {
        importer->chats[chat].tip = *out_node; /* as far as we know */
    }
    return status;
}

/* --- the batch ------------------------------------------------------------ */

static void empty_batch(struct importer *importer)
{
    for (size_t i = 0; i < importer->n_batch; i++) {
        json_decref(importer->batch[i].message.content);
        json_decref(importer->batch[i].owner);
    }
    importer->n_batch = 0;
    importer->batch_bytes = 0;
}

static void note_forgotten(struct importer *importer)
{
    importer->has_forgotten = true;
    importer->counts.n_forgotten++;
}

/* What is known is where it is, and what follows it goes on there. */
static enum clew_status move_node(struct importer *importer, size_t node,
                                  const char *chat_id, struct clew_error *err)
{
    size_t chat = 0;
    enum clew_status status = chat_of(importer, chat_id, &chat, err);

    if (status == CLEW_OK && importer->nodes[node].chat != chat) {
        importer->nodes[node].chat = chat;
        importer->chats[chat].tip = node;
    }
    return status;
}

static enum clew_status note_places(struct importer *importer, size_t first,
                                    size_t n, const struct import_place *places,
                                    struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        const struct waiting *waiting = &importer->batch[first + i];
        struct node *node = &importer->nodes[waiting->node];

        if (places[i].is_forgotten) {
            node->seq = waiting->before == NO_NODE
                            ? 0
                            : importer->nodes[waiting->before].seq;
            note_forgotten(importer);
            continue;
        }
        node->seq = places[i].seq;
        importer->counts.n_messages++;
        importer->counts.n_new += !places[i].is_known;
        if (places[i].is_known) {
            status = move_node(importer, waiting->node, places[i].chat, err);
        }
    }
    return status;
}

/* Count a chat that was just made; one that leaves none gets its title. */
static enum clew_status greet_chat(struct importer *importer,
                                   const struct chat *chat,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (chat->origin != NO_CHAT) {
        importer->counts.n_agents += chat->is_agents;
        importer->counts.n_forks += !chat->is_agents;
    } else if (!importer->has_forgotten &&
               json_string_length(importer->title) > 0) {
        status = importer->ops->title(importer->arg, chat->id,
                                      json_text(importer->title), err);
    }
    /* forgotten since it was made */
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

/* The first message that is kept of a chat makes it. */
static enum clew_status make_chat(struct importer *importer, size_t at,
                                  const struct import_message *messages,
                                  size_t *out_first, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    while (status == CLEW_OK && !importer->chats[at].id[0] &&
           *out_first < importer->n_batch) {
        const struct import_message *message = messages + *out_first;
        struct chat *chat = &importer->chats[at];
        bool is_fork = chat->origin != NO_CHAT;
        struct import_target target = {
            "", is_fork ? importer->chats[chat->origin].id : NULL, chat->at_seq,
            chat->is_agents ? message->agent : (struct str){0}};
        struct import_place place = {0};

        status =
            importer->ops->add(importer->arg, &target, message, 1, &place, err);
        if (status == CLEW_NOT_FOUND && is_fork) {
            place.is_forgotten = true; /* with what it goes on from */
            status = CLEW_OK;
        }
        if (status == CLEW_OK && !place.is_forgotten) {
            memcpy(chat->id, place.chat, sizeof(chat->id));
        }
        if (status == CLEW_OK) {
            status = note_places(importer, (*out_first)++, 1, &place, err);
        }
        if (status == CLEW_OK && !place.is_forgotten && !place.is_known) {
            status = greet_chat(importer, &importer->chats[at], err);
        }
    }
    return status;
}

static enum clew_status hand_on(struct importer *importer,
                                struct clew_error *err)
{
    struct import_message messages[BATCH];
    struct import_place places[BATCH] = {0};
    size_t first = 0;
    enum clew_status status = CLEW_OK;

    if (importer->n_batch == 0) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < importer->n_batch; i++) {
        messages[i] = importer->batch[i].message;
    }
    status = make_chat(importer, importer->batch_chat, messages, &first, err);
    if (status == CLEW_OK && importer->n_batch > first) {
        struct import_target target = {
            .chat = importer->chats[importer->batch_chat].id};
        size_t n = importer->n_batch - first;

        status = importer->ops->add(importer->arg, &target, messages + first, n,
                                    places, err);
        if (status == CLEW_OK) {
            status = note_places(importer, first, n, places, err);
        }
    }
    empty_batch(importer);
    return status;
}

/* Copy a message into the batch. */
static enum clew_status wait_for_more(struct importer *importer,
                                      const struct import_message *message,
                                      size_t node, size_t before,
                                      struct clew_error *err)
{
    json_t *owner =
        json_pack("[s%, s%, s%]", message->id.s, message->id.len,
                  message->name.s ? message->name.s : "", message->name.len,
                  message->agent.s ? message->agent.s : "", message->agent.len);
    struct waiting *waiting = &importer->batch[importer->n_batch];

    if (!owner) {
        return clew_no_memory(err);
    }
    *waiting = (struct waiting){*message, owner, node, before};
    waiting->message.id = json_text(json_array_get(owner, 0));
    waiting->message.parent = (struct str){0};
    waiting->message.beside = (struct str){0};
    waiting->message.agent = json_text(json_array_get(owner, 2));
    waiting->message.name =
        message->name.s ? json_text(json_array_get(owner, 1)) : (struct str){0};
    waiting->message.content = json_incref(message->content);
    importer->n_batch++;
    importer->batch_bytes += json_string_length(message->content);
    if (importer->n_batch == BATCH || importer->batch_bytes >= BATCH_BYTES) {
        return hand_on(importer, err);
    }
    return CLEW_OK;
}

/* --- placing -------------------------------------------------------------- */

/* A message that was forgotten stands for its parent. */
static enum clew_status pass_forgotten(struct importer *importer, struct str id,
                                       size_t parent, size_t *out_chat,
                                       struct clew_error *err)
{
    note_forgotten(importer);
    *out_chat = NO_NODE;
    return name_node(importer, id, parent, err);
}

/* Where another way goes on from, if there is a chat that has it. One that has
 * no name yet, since what it began with was forgotten, has not: then it is
 * where that one would have gone on from. */
static bool find_origin(const struct importer *importer, size_t parent,
                        struct node *out)
{
    const struct chat *chat;

    *out = (struct node){0}; /* before the first turn of the first chat */
    if (parent != NO_NODE) {
        *out = importer->nodes[parent];
    } else if (!importer->is_tree || importer->n_chats == 0) {
        return false;
    }
    chat = &importer->chats[out->chat];
    while (!chat->id[0] && chat->origin != NO_CHAT) {
        *out = (struct node){chat->origin, chat->at_seq};
        chat = &importer->chats[out->chat];
    }
    return chat->id[0] != '\0';
}

/* A chat for a message that does not follow the last of one; NO_NODE if it was
 * forgotten. */
static enum clew_status open_chat(struct importer *importer, struct str id,
                                  size_t parent, size_t *out_chat,
                                  struct clew_error *err)
{
    struct node from;
    struct import_place place = {0};
    enum clew_status status = hand_on(importer, err);

    if (status == CLEW_OK) {
        status = importer->ops->find(importer->arg, id, &place, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (place.is_known) {
        return chat_of(importer, place.chat, out_chat, err);
    }
    if (place.is_forgotten) {
        return pass_forgotten(importer, id, parent, out_chat, err);
    }
    if (!find_origin(importer, parent, &from)) {
        return add_chat(importer, "", out_chat, err);
    }
    return add_fork(importer, from, false, out_chat, err);
}

/* A chat for the first message of a sub-agent; NO_NODE, and the message left
 * out, if it was forgotten or the talk it is beside is not there. */
static enum clew_status open_agent(struct importer *importer,
                                   const struct import_message *message,
                                   size_t *out_chat, struct clew_error *err)
{
    struct import_place place = {0};
    struct node from;
    size_t main = NO_NODE;
    enum clew_status status = hand_on(importer, err);

    if (status == CLEW_OK) {
        status = importer->ops->find(importer->arg, message->id, &place, err);
    }
    if (status == CLEW_OK && place.is_known) {
        return chat_of(importer, place.chat, out_chat, err);
    }
    if (status == CLEW_OK && place.is_forgotten) {
        return pass_forgotten(importer, message->id, NO_NODE, out_chat, err);
    }
    *out_chat = NO_NODE;
    if (status == CLEW_OK) {
        status = find_node(importer, message->beside, &main, err);
    }
    if (status == CLEW_OK && main == NO_NODE) {
        return importer_skip(importer, message->id, (struct str){0},
                             IMPORT_PLUMBING, err);
    }
    if (status == CLEW_OK && !find_origin(importer, main, &from)) {
        return pass_forgotten(importer, message->id, NO_NODE, out_chat, err);
    }
    return status == CLEW_OK ? add_fork(importer, from, true, out_chat, err)
                             : status;
}

enum clew_status importer_add(struct importer *importer,
                              const struct import_message *message,
                              struct clew_error *err)
{
    size_t parent = NO_NODE;
    size_t chat = 0;
    size_t node = 0;
    enum clew_status status;

    if (json_object_getn(importer->by_id, message->id.s, message->id.len)) {
        return CLEW_OK; /* the same twice in one file */
    }
    status = find_node(importer, message->parent, &parent, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (parent != NO_NODE &&
        importer->chats[importer->nodes[parent].chat].tip == parent) {
        chat = importer->nodes[parent].chat;
    } else if (parent == NO_NODE && message->agent.s) {
        status = open_agent(importer, message, &chat, err);
    } else {
        status = open_chat(importer, message->id, parent, &chat, err);
    }
    if (status == CLEW_OK && chat == NO_NODE) {
        return CLEW_OK;
    }
    if (status == CLEW_OK && importer->n_batch > 0 &&
        importer->batch_chat != chat) {
        status = hand_on(importer, err);
    }
    if (status == CLEW_OK) {
        status = add_node(importer, message->id, chat, 0, &node, err);
    }
    if (status == CLEW_OK) {
        size_t before = importer->chats[chat].tip;

        importer->batch_chat = chat;
        importer->chats[chat].tip = node;
        status = wait_for_more(importer, message, node, before, err);
    }
    return status;
}

enum clew_status importer_skip(struct importer *importer, struct str id,
                               struct str parent, enum import_reason reason,
                               struct clew_error *err)
{
    size_t node = NO_NODE;
    enum clew_status status = find_node(importer, parent, &node, err);

    if (reason != IMPORT_NO_MESSAGE) {
        importer->counts.n_skipped++;
        importer->counts.by_reason[reason]++;
    }
    if (status == CLEW_OK && node != NO_NODE && id.s) {
        status = name_node(importer, id, node, err);
    }
    return status;
}

/* --- life ----------------------------------------------------------------- */

enum clew_status importer_new(const struct import_ops *ops, void *arg,
                              struct importer **out_importer,
                              struct clew_error *err)
{
    struct importer *importer = alloc_zero(1, sizeof(*importer));

    if (importer) {
        importer->ops = ops;
        importer->arg = arg;
        importer->by_id = json_object();
        importer->title = json_string("");
        importer->memo = json_object();
        importer->source = alloc_string("");
    }
    if (!importer || !importer->by_id || !importer->title || !importer->memo ||
        !importer->source) {
        importer_free(importer);
        return clew_no_memory(err);
    }
    *out_importer = importer;
    return CLEW_OK;
}

void importer_free(struct importer *importer)
{
    if (!importer) {
        return;
    }
    empty_batch(importer);
    json_decref(importer->title);
    json_decref(importer->by_id);
    json_decref(importer->memo);
    alloc_free(importer->source);
    alloc_free(importer->nodes);
    alloc_free(importer->chats);
    alloc_free(importer);
}

const struct import_counts *importer_counts(const struct importer *importer)
{
    return &importer->counts;
}

enum clew_status importer_set_source(struct importer *importer,
                                     const char *path, struct clew_error *err)
{
    char *copy = alloc_string(path);

    if (!copy) {
        return clew_no_memory(err);
    }
    alloc_free(importer->source);
    importer->source = copy;
    return CLEW_OK;
}

const char *importer_source(const struct importer *importer)
{
    return importer->source;
}

json_t *importer_memo(struct importer *importer)
{
    return importer->memo;
}

enum clew_status importer_title(struct importer *importer, struct str title,
                                struct clew_error *err)
{
    json_t *copy = json_stringn(title.s ? title.s : "", title.len);

    if (!copy) {
        return clew_no_memory(err);
    }
    json_decref(importer->title);
    importer->title = copy;
    return CLEW_OK;
}

enum clew_status importer_begin(struct importer *importer, struct str title,
                                bool is_tree, struct clew_error *err)
{
    enum clew_status status = hand_on(importer, err);

    if (status == CLEW_OK) {
        status = importer_title(importer, title, err);
    }
    importer->counts.n_conversations++;
    importer->is_tree = is_tree;
    importer->has_forgotten = false;
    importer->n_nodes = 0;
    importer->n_chats = 0;
    (void)json_object_clear(importer->by_id); /* fails for non-objects only */
    return status;
}

void importer_mend(struct importer *importer)
{
    importer->counts.n_mended++;
}

enum clew_status importer_end(struct importer *importer, struct clew_error *err)
{
    return hand_on(importer, err);
}
