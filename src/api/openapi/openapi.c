/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.c - write the OpenAPI document from the table. See openapi.h.
 *
 * Values are added with json_set(), which refuses NULL and takes what it gets:
 * a failure anywhere only clears `is_ok`, and the whole tree is dropped at the
 * end.
 */
#include "api/openapi/openapi.h"

#include "api/api.h"
#include "api/mounts.h"
#include "api/openapi/openapi_route.h"
#include "api/openapi/openapi_schemas.h"
#include "api/openapi/openapi_type.h"

#include <stdio.h>
#include <string.h>

static const char *role_names[] = {"none", "read", "write", "admin"};

/* --- tags: what belongs together --- */

static const struct {
    const char *name;
    const char *about;
    const char *parts; /* first words of paths, each between spaces */
} tags[] = {
    {"turns", "Store what was said", " turns "},
    {"recall", "Find what was said", " recall ask start analyse "},
    {"chats", "Chats, their forks and contexts", " chats sessions "},
    {"memories", "What is worth keeping, with its lineage",
     " memory memories conflicts "},
    {"efforts", "What is worked on", " efforts "},
    {"topics", "Chains of thought, episodes and links between chats",
     " chains episodes links tuning "},
    {"calls", "Captured LLM calls and their conversations",
     " link requests conversations usage "},
    {"system", "How much there is, what happens, and why",
     " stats users events tasks traces agents models callers "},
    {"admin", "Keys, settings, export and forgetting",
     " keys settings export import forget "},
    {"proxy", "LLM calls passed on to their provider, and captured", " v1 "},
    {"mcp", "The Model Context Protocol", " mcp "},
    {"server", "The server itself", ""},
};
#define N_TAGS (sizeof(tags) / sizeof(tags[0]))

static const char *tag_of(const char *path)
{
    char word[32];
    size_t at = strncmp(path, "/api/v1/", 8) == 0 ? 8 : 1;

    if (strncmp(path, "/key/{key}/", 11) == 0) {
        at = 11;
    }
    (void)snprintf(word, sizeof(word), " %.*s ", (int)strcspn(path + at, "/"),
                   path + at);
    for (size_t i = 0; i < N_TAGS; i++) {
        if (strstr(tags[i].parts, word)) {
            return tags[i].name;
        }
    }
    return tags[N_TAGS - 1].name;
}

static json_t *tag_list(void)
{
    json_t *out = json_array();
    bool is_ok = out != NULL;

    for (size_t i = 0; is_ok && i < N_TAGS; i++) {
        is_ok = json_array_append_new(
                    out, json_pack("{s:s, s:s}", "name", tags[i].name,
                                   "description", tags[i].about)) == 0;
    }
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* --- an operation --- */

static json_t *answer_content(const struct openapi_answer *answer)
{
    json_t *schema;

    if (answer->name.len == 0) {
        schema = openapi_type(STR("text"));
    } else if (answer->is_page) {
        schema = json_pack("{s:o}", "$ref",
                           json_sprintf("#/components/schemas/%.*sPage",
                                        (int)answer->name.len, answer->name.s));
    } else {
        schema = openapi_reference(answer->name);
    }
    return json_pack("{s%:{s:o}}", answer->media.s, answer->media.len, "schema",
                     schema);
}

static bool has_field(const struct api_route *route, const char *name)
{
    for (size_t i = 0; route->body_fields && route->body_fields[i]; i++) {
        if (strcmp(route->body_fields[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static json_t *responses(const struct api_route *route)
{
    json_t *out = json_object();
    struct openapi_answer answer;
    char status[4];
    bool is_ok;

    openapi_answer_of(route, &answer);
    (void)snprintf(status, sizeof(status), "%.3s", answer.status.s);
    is_ok = json_set(out, status,
                     json_pack("{s:s, s:o}", "description", "Done", "content",
                               answer_content(&answer)));
    if (is_ok && has_field(route, "external_id")) {
        is_ok = json_set(out, "200",
                         json_pack("{s:s, s:o}", "description",
                                   "Stored before, by its external_id",
                                   "content", answer_content(&answer)));
    }
    if (!is_ok || !openapi_add_errors(out, route)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* The description of a parameter stands beside its schema. */
static bool add_parameter(json_t *list, const struct api_route *route,
                          const char *where, const char *name)
{
    json_t *schema = openapi_field_of(route, name);
    json_t *about = json_object_get(schema, "description");
    bool is_path = strcmp(where, "path") == 0;
    json_t *parameter =
        json_pack("{s:s, s:s, s:b, s:O*, s:O}", "name", name, "in", where,
                  "required", is_path || openapi_is_required(route, name),
                  "description", about, "schema", schema);

    if (schema) {
        (void)json_object_del(schema, "description");
    }
    json_decref(schema);
    return json_array_append_new(list, parameter) == 0;
}

static json_t *parameters(const struct api_route *route)
{
    json_t *list = json_array();
    const char *at = route->path;
    bool is_ok = list != NULL;

    while (is_ok && (at = strchr(at, '{')) != NULL) {
        char name[32];

        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 1, "}"),
                       at + 1);
        is_ok = add_parameter(list, route, "path", name);
        at++;
    }
    for (size_t i = 0; is_ok && route->query && route->query[i]; i++) {
        is_ok = add_parameter(list, route, "query", route->query[i]);
    }
    if (!is_ok) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *request_body(const struct api_route *route)
{
    json_t *name = openapi_body_name(route);
    struct str required;
    json_t *out;
    bool is_needed = false;

    for (size_t i = 0; route->body_fields[i]; i++) {
        is_needed |= openapi_is_required(route, route->body_fields[i]);
    }
    if (!name) {
        return NULL;
    }
    required = str_of(json_string_value(name));
    out = json_pack("{s:b, s:{s:{s:o}}}", "required", is_needed, "content",
                    "application/json", "schema", openapi_reference(required));
    json_decref(name);
    return out;
}

static json_t *operation(const struct api_route *route)
{
    struct str id = openapi_operation_id(route);
    json_t *out = json_object();
    bool is_ok =
        json_set(out, "operationId", json_stringn(id.s, id.len)) &&
        json_set(out, "summary", json_string(route->summary)) &&
        json_set(out, "tags", json_pack("[s]", tag_of(route->path))) &&
        json_set(out, "parameters", parameters(route)) &&
        json_set(out, "responses", responses(route)) &&
        json_set(out, "x-clew-role", json_string(role_names[route->role]));

    if (is_ok && route->body_fields) {
        is_ok = json_set(out, "requestBody", request_body(route));
    }
    if (is_ok && route->role == API_ROLE_NONE) {
        is_ok = json_set(out, "security", json_array());
    }
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* The object of a path, made when it is first asked for. */
static json_t *path_item(json_t *paths, const char *path)
{
    json_t *item = json_object_get(paths, path);

    if (!item) {
        item = json_object();
        if (!json_set(paths, path, item)) {
            return NULL;
        }
    }
    return item;
}

static bool add_route(json_t *paths, const struct api_route *route)
{
    json_t *item = path_item(paths, route->path);
    char method[16];
    size_t len = (size_t)snprintf(method, sizeof(method), "%s",
                                  http_method_name(route->method));

    for (size_t i = 0; i < len; i++) {
        method[i] = (char)(method[i] + 32);
    }
    return item && json_set(item, method, operation(route));
}

/* --- mounts --- */

/* The paths of the mounts that are worth a description. */
static const struct {
    enum api_mount mount;
    const char *path;
    const char *id;
    const char *body;
    const char *about;
} mounted[] = {
    {API_MOUNT_MCP, "/mcp", "callMcp", "RpcMessage",
     "The Model Context Protocol, over streamable HTTP; a session that was "
     "opened with x-clew-user reaches that user's things and needs the same "
     "header in each request"},
    {API_MOUNT_PROXY, "/v1/messages", "createMessage", "ProviderBody",
     "Anthropic's Messages, passed on and captured"},
    {API_MOUNT_PROXY, "/v1/chat/completions", "createChatCompletion",
     "ProviderBody", "OpenAI's Chat Completions, passed on and captured"},
    {API_MOUNT_PROXY, "/v1/responses", "createResponse", "ProviderBody",
     "OpenAI's Responses, passed on and captured"},
    {API_MOUNT_PROXY_KEYED, "/key/{key}/v1/messages", "createMessageKeyed",
     "ProviderBody", "As /v1/messages, with the clew key in the path"},
    {API_MOUNT_PROXY_KEYED, "/key/{key}/v1/chat/completions",
     "createChatCompletionKeyed", "ProviderBody",
     "As /v1/chat/completions, with the clew key in the path"},
    {API_MOUNT_PROXY_KEYED, "/key/{key}/v1/responses", "createResponseKeyed",
     "ProviderBody", "As /v1/responses, with the clew key in the path"},
    {API_MOUNT_UPLOAD, "/api/v1/import/file", "importFile", "Brought",
     "Read an export of another program: the file's bytes; ?name= is its "
     "name, x-clew-user whose it is (me)"},
};

static json_t *mount_security(enum api_mount mount)
{
    switch (mount) {
    case API_MOUNT_MCP:
    case API_MOUNT_UPLOAD:
        return json_pack("[{s:[]}, {s:[]}]", "bearer", "apiKey");
    case API_MOUNT_PROXY:
        return json_pack("[{s:[]}]", "clewKey");
    case API_MOUNT_PROXY_KEYED:
    case API_N_MOUNTS:
        break;
    }
    return json_array();
}

/* What is sent: JSON of that kind, or a file as it is. */
static json_t *mount_body(size_t i)
{
    if (mounted[i].mount == API_MOUNT_UPLOAD) {
        return json_pack("{s:b, s:{s:{s:{s:s, s:s}}}}", "required", 1,
                         "content", "application/octet-stream", "schema",
                         "type", "string", "format", "binary");
    }
    return json_pack("{s:b, s:{s:{s:o}}}", "required", 1, "content",
                     "application/json", "schema",
                     openapi_reference(str_of(mounted[i].body)));
}

static bool add_mounted(json_t *paths, size_t i)
{
    char schema[64];
    struct api_route route = api_mounts[mounted[i].mount];
    json_t *out;

    (void)snprintf(schema, sizeof(schema), "%s: > %s", mounted[i].id,
                   mounted[i].body);
    route.path = mounted[i].path;
    route.summary = mounted[i].about;
    route.schema = schema;
    if (!add_route(paths, &route)) {
        return false;
    }
    out = json_object_get(json_object_get(paths, route.path), "post");
    return json_set(out, "requestBody", mount_body(i)) &&
           json_set(out, "security", mount_security(mounted[i].mount)) &&
           json_set(out, "x-clew-mount", json_true());
}

/* [{"path","role","summary"}]: what is answered beside the routes. */
static json_t *mounts(void)
{
    json_t *out = json_array();

    for (size_t i = 0; out && api_mounts[i].path; i++) {
        const struct api_route *mount = &api_mounts[i];

        if (json_array_append_new(
                out, json_pack("{s:s, s:s, s:s}", "path", mount->path, "role",
                               role_names[mount->role], "summary",
                               mount->summary)) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* --- the document --- */

static json_t *info(void)
{
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:{s:s, s:s}}", "title", "clew", "version",
        CLEW_VERSION, "summary", "A memory engine for AI conversations",
        "description",
        "Store turns, find what was said, get the context of the next turn. "
        "Lists come in pages: `next_cursor` asks for the next one. A turn with "
        "an `external_id` is stored once, however often it is posted. Errors "
        "have a stable `code`, and nothing was done.",
        "license", "name", "Apache-2.0", "identifier", "Apache-2.0");
}

static json_t *servers(void)
{
    return json_pack("[{s:s, s:s}, {s:s, s:s}]", "url", "http://127.0.0.1:2539",
                     "description", "The default address", "url", "/",
                     "description", "Where this document came from");
}

json_t *openapi_document(const struct api_route *routes)
{
    json_t *out = json_object();
    json_t *paths = json_object();
    bool is_ok = out && paths;

    for (size_t i = 0; is_ok && routes[i].path; i++) {
        is_ok = add_route(paths, &routes[i]);
    }
    for (size_t i = 0; is_ok && i < sizeof(mounted) / sizeof(mounted[0]); i++) {
        is_ok = add_mounted(paths, i);
    }
    is_ok = is_ok && json_set(out, "openapi", json_string("3.1.0")) &&
            json_set(out, "info", info()) &&
            json_set(out, "servers", servers()) &&
            json_set(out, "tags", tag_list()) &&
            json_set(out, "security",
                     json_pack("[{s:[]}, {s:[]}]", "bearer", "apiKey"));
    is_ok = json_set(out, "paths", paths) && is_ok;
    is_ok = is_ok && json_set(out, "components", openapi_components(routes)) &&
            json_set(out, "x-clew-mounts", mounts());
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}
