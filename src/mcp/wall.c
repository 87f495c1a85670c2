/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall.c - see wall.h.
 */
#include "mcp/wall.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "mcp/mcp.h"
#include "mcp/mcp_internal.h"

#include <string.h>

#define BASE "/api/v1/"
/* Shared thoughts looked at beside a user's own. */
#define MAX_SHARED 50

/* How the calls to one resource are kept to a user. */
struct gate {
    const char *name;     /* the path's first part */
    const char *owner;    /* where an id's owner is read; NULL: the call itself
                             does it, by its user_id */
    bool is_set_in_body;  /* without an id, or an owner: user_id goes there */
    bool is_set_in_query; /* … or into the query */
};

static const struct gate gates[] = {
    {"chats", "chats", false, true},      {"memories", "memories", false, true},
    {"efforts", "memories", true, false}, {"recall", NULL, true, false},
    {"start", NULL, true, false},         {"memory", NULL, false, false},
};

static enum clew_status plain_call(const struct mcp_request *request,
                                   const char *method, const char *path,
                                   const json_t *body, json_t **out_json,
                                   struct clew_error *err)
{
    const struct mcp_host *host = request->peer->host;

    return path ? host->api(host->arg, method, path, body, out_json, err)
                : clew_no_memory(err);
}

/* The same words for what is another's and for what never was. */
static enum clew_status not_there(bool is_memory, struct clew_error *err)
{
    return is_memory ? clew_fail_code(err, CLEW_NOT_FOUND, "THOUGHT_NOT_FOUND",
                                      "there is no such thought")
                     : clew_fail(err, CLEW_NOT_FOUND, "there is no such chat");
}

/* CLEW_NOT_FOUND if the thing is another user's, or is not there. */
static enum clew_status check_owner(const struct mcp_request *request,
                                    const char *resource, struct str id,
                                    struct clew_error *err)
{
    bool is_memory = strcmp(resource, "memories") == 0;
    struct clew_error own = {0};
    json_t *thing = NULL;
    const char *owner;
    bool is_own;
    enum clew_status status =
        plain_call(request, "GET",
                   arena_printf(request->arena, BASE "%s/%.*s", resource,
                                (int)id.len, id.s),
                   NULL, &thing, &own);

    if (status == CLEW_NOT_FOUND && strcmp(own.message, MCP_NO_ROUTE) != 0) {
        return not_there(is_memory, err);
    }
    if (status != CLEW_OK) {
        if (err) {
            *err = own;
        }
        return status;
    }
    owner = mcp_text(thing, "user_id");
    is_own = strcmp(owner, request->peer->user_id) == 0 ||
             (owner[0] == '\0' && is_memory);
    json_decref(thing);
    return is_own ? CLEW_OK : not_there(is_memory, err);
}

static enum clew_status forbidden(struct clew_error *err)
{
    return clew_fail(err, CLEW_FORBIDDEN, "this session is for one user only");
}

/* Every id that a body names. */
static enum clew_status check_body(const struct mcp_request *request,
                                   const json_t *body, struct clew_error *err)
{
    static const struct {
        const char *field;
        const char *resource;
    } ids[] = {{"chat_id", "chats"},
               {"parent_id", "memories"},
               {"refines", "memories"},
               {"consolidates", "memories"}};
    const json_t *user = json_object_get(body, "user_id");
    enum clew_status status = CLEW_OK;

    if (user && !json_is_null(user) &&
        strcmp(mcp_text(body, "user_id"), request->peer->user_id) != 0) {
        return forbidden(err);
    }
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const json_t *value = json_object_get(body, ids[i].field);
        size_t n = json_is_array(value) ? json_array_size(value) : 1;

        for (size_t k = 0; value && k < n && status == CLEW_OK; k++) {
            const json_t *id =
                json_is_array(value) ? json_array_get(value, k) : value;

            if (json_is_string(id)) {
                const char *text =
                    mcp_encode(request->arena, json_string_value(id));

                status = text ? check_owner(request, ids[i].resource,
                                            str_of(text), err)
                              : clew_no_memory(err);
            }
        }
    }
    return status;
}

/* Take out of a list what is not the user's; `field` holds its id. */
static void sift(const struct mcp_request *request, json_t *list,
                 const char *field)
{
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *item = json_array_get(list, i);

        if (check_owner(request, "memories", str_of(mcp_text(item, field)),
                        NULL) != CLEW_OK) {
            (void)json_array_remove(list, i); /* it is there */
        }
    }
}

static bool has_item(const json_t *items, const char *id)
{
    const json_t *item;
    size_t i;

    json_array_foreach (items, i, item) {
        if (strcmp(mcp_text(item, "id"), id) == 0) {
            return true;
        }
    }
    return false;
}

/* Put an item where its score says; false without memory. */
static bool place_item(json_t *items, json_t *item)
{
    double score = json_number_value(json_object_get(item, "score"));
    size_t at = 0;

    while (at < json_array_size(items) &&
           json_number_value(
               json_object_get(json_array_get(items, at), "score")) >= score) {
        at++;
    }
    return json_array_insert(items, at, item) == 0;
}

static json_t *without_user(const json_t *body)
{
    json_t *copy = json_deep_copy(body);

    (void)json_object_del(copy, "user_id"); /* it need not be there */
    return copy;
}

static bool wants_memories(const json_t *body)
{
    const json_t *kinds = json_object_get(body, "kinds");
    const json_t *kind;
    size_t i;

    json_array_foreach (kinds, i, kind) {
        const char *name = json_string_value(kind);

        if (name && strcmp(name, "memory") == 0) {
            return true;
        }
    }
    return !json_is_array(kinds);
}

/* "no", "maybe", "yes" in their order. */
static int how_sure(const json_t *answer)
{
    const char *answered = mcp_text(answer, "answered");

    return strcmp(answered, "yes") == 0     ? 2
           : strcmp(answered, "maybe") == 0 ? 1
                                            : 0;
}

/*
 * Recall for a user finds that user's things; thoughts that are nobody's are
 * looked up beside them: what was drawn from a chat is somebody's. What cannot
 * be had is left out.
 */
static void add_shared(const struct mcp_request *request, const json_t *body,
                       json_t *answer)
{
    json_t *items = json_object_get(answer, "items");
    json_int_t limit = json_integer_value(json_object_get(body, "limit"));
    json_t *ask = without_user(body);
    json_t *found = NULL;
    json_t *shared;
    json_t *item;
    size_t i;

    if (json_object_get(body, "chat_id") || !wants_memories(body) || !ask ||
        json_object_set_new(ask, "kinds", json_pack("[s]", "memory")) != 0 ||
        json_object_set_new(
            ask, "limit",
            json_integer(limit > MAX_SHARED ? limit : MAX_SHARED)) != 0 ||
        plain_call(request, "POST", BASE "recall", ask, &found, NULL) !=
            CLEW_OK) {
        json_decref(ask);
        return;
    }
    shared = json_object_get(found, "items");
    for (i = json_array_size(shared); i-- > 0;) {
        item = json_array_get(shared, i);
        if (mcp_text(item, "chat_id")[0] ||
            has_item(items, mcp_text(item, "id"))) {
            (void)json_array_remove(shared, i); /* it is there */
        }
    }
    sift(request, shared, "id");
    json_array_foreach (shared, i, item) {
        sift(request, json_object_get(item, "also"), "id");
        if (!place_item(items, item)) {
            break;
        }
    }
    if (json_array_size(shared) > 0 && how_sure(found) > how_sure(answer)) {
        (void)json_object_set(answer, "answered",
                              json_object_get(found, "answered"));
    }
    while (limit > 0 && json_array_size(items) > (size_t)limit) {
        (void)json_array_remove(items, json_array_size(items) - 1);
    }
    json_decref(found);
    json_decref(ask);
}

static const struct gate *gate_of(struct str name)
{
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
        if (str_eq(name, str_of(gates[i].name))) {
            return &gates[i];
        }
    }
    return NULL;
}

/* The id that a text names first; len == 0 if none. */
static struct str first_id(struct str text)
{
    struct uuid id;

    for (size_t i = 0; i + UUID_TEXT_SIZE - 1 <= text.len; i++) {
        struct str part = str_sub(text, i, i + UUID_TEXT_SIZE - 1);

        if (uuid_parse(part, &id)) {
            return part;
        }
    }
    return (struct str){NULL, 0};
}

/* What the answer to a thought says of others: related ones, in a list and in
 * sentences that quote them. Advice to refine names what it is about first. */
static enum clew_status sift_thought(const struct mcp_request *request,
                                     json_t *answer, struct clew_error *err)
{
    json_t *result = json_object_get(answer, "result");
    json_t *trace = json_object_get(answer, "trace");
    json_t *sources = json_object_get(result, "sources");
    struct str about = first_id(str_of(mcp_text(result, "guidance")));
    bool is_ok = true;

    if (!result) {
        return CLEW_OK;
    }
    sift(request, sources, "thought_id");
    sift(request, json_object_get(result, "highways_nearby"), "thought_id");
    if (about.len == 0 ||
        check_owner(request, "memories", about, NULL) != CLEW_OK) {
        is_ok = json_set(result, "guidance", json_null());
    }
    is_ok = is_ok && json_set(result, "disambiguation", json_null()) &&
            json_set_cstr(result, "response",
                          mcp_text(result, "thought_id")[0] ? "Stored."
                                                            : "Not stored.") &&
            (!trace || json_set_int(trace, "thoughts_retrieved",
                                    (int64_t)json_array_size(sources)));
    (void)json_object_del(trace, "lineage_summary"); /* it need not be there */
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

/* The value of user_id in the query of a path, and what follows it. */
static const char *user_in(const char *path)
{
    static const char field[] = "user_id=";
    const char *at = path;

    while ((at = strstr(at, field)) != NULL) {
        at += strlen(field);
        if (strchr("?&", at[-(ptrdiff_t)sizeof(field)])) {
            break; /* and no part of another value */
        }
    }
    return at;
}

/* The path with the user in its query. */
static const char *with_user(const struct mcp_request *request,
                             const char *path, bool *out_foreign)
{
    const char *user = mcp_encode(request->arena, request->peer->user_id);
    const char *said = user_in(path);

    *out_foreign = said && user && strcmp(said, user) != 0;
    if (said || !user) {
        return user ? path : NULL;
    }
    return arena_printf(request->arena, "%s%suser_id=%s", path,
                        strchr(path, '?') ? "&" : "?", user);
}

/* A copy of the body that says whom it is for. */
static json_t *body_with_user(const struct mcp_request *request,
                              const json_t *body)
{
    json_t *copy = body ? json_deep_copy(body) : json_object();

    if (!json_set_cstr(copy, "user_id", request->peer->user_id)) {
        json_decref(copy);
        return NULL;
    }
    return copy;
}

/* A call of a session with a user. */
static enum clew_status walled_call(const struct mcp_request *request,
                                    const char *method, const char *path,
                                    const json_t *body, json_t **out_json,
                                    struct clew_error *err)
{
    struct str rest = str_of(path);
    struct str name = {NULL, 0};
    struct str id = {NULL, 0};
    const struct gate *gate;
    json_t *own = NULL;
    bool is_foreign = false;
    enum clew_status status;

    /* a user without a name is no filter to the API */
    if (!request->peer->user_id[0] || !str_starts(rest, STR(BASE))) {
        return forbidden(err);
    }
    rest = str_sub(rest, strlen(BASE), str_find(rest, STR("?"), 0));
    (void)str_split(&rest, '/', &name);
    (void)str_split(&rest, '/', &id);
    gate = gate_of(name);
    if (!gate) {
        return forbidden(err);
    }
    status = check_body(request, body, err);
    if (status == CLEW_OK && id.len > 0 && gate->owner) {
        status = check_owner(request, gate->owner, id, err);
    }
    if (status == CLEW_OK && id.len == 0 && gate->is_set_in_query) {
        path = with_user(request, path, &is_foreign);
        status = is_foreign ? forbidden(err) : CLEW_OK;
    }
    if (status == CLEW_OK && (id.len == 0 || !gate->owner) &&
        gate->is_set_in_body) {
        own = body_with_user(request, body);
        status = own ? CLEW_OK : clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status =
            plain_call(request, method, path, own ? own : body, out_json, err);
    }
    json_decref(own);
    if (status == CLEW_OK) {
        sift(request, json_object_get(*out_json, "chain"), "thought_id");
        status = sift_thought(request, *out_json, err);
        if (status != CLEW_OK) {
            json_decref(*out_json);
            *out_json = NULL;
        }
    }
    if (status == CLEW_OK && str_eq(name, STR("recall"))) {
        add_shared(request, body, *out_json);
    }
    return status;
}

enum clew_status mcp_api(const struct mcp_request *request, const char *method,
                         const char *path, const json_t *body,
                         json_t **out_json, struct clew_error *err)
{
    return path && request->peer->user_id
               ? walled_call(request, method, path, body, out_json, err)
               : plain_call(request, method, path, body, out_json, err);
}
