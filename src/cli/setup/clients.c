/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients.c - programs and their files. See clients.h.
 */
#include "cli/setup/clients.h"

#include "base/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const struct clients_place clients_places[] = {
    {"claude-code",
     CLIENTS_CLAUDE,
     "CLAUDE_CONFIG_DIR",
     "",
     ".claude.json",
     ".claude/skills/brain/SKILL.md",
     "mcpServers",
     "claude-code|claude-cli",
     ".claude/settings.json",
     {BASE_URL_ENV, "ANTHROPIC_BASE_URL", ""}},
    {"codex",
     CLIENTS_CODEX,
     "CODEX_HOME",
     ".codex",
     "config.toml",
     "./skills/brain/SKILL.md",
     "mcp_servers",
     "codex",
     NULL,
     {BASE_URL_TOML, "openai_base_url", "/v1"}},
    {"cursor",
     CLIENTS_CURSOR,
     NULL,
     ".cursor",
     "mcp.json",
     "./skills/brain/SKILL.md",
     "mcpServers",
     "cursor",
     NULL,
     {0}},
    {"opencode",
     CLIENTS_OPENCODE,
     NULL,
     ".config/opencode",
     "opencode.json",
     "./skills/brain/SKILL.md",
     "mcp",
     "opencode",
     NULL,
     {BASE_URL_PROVIDERS, "baseURL", "/v1"}},
    {"vscode",
     CLIENTS_CLAUDE,
     NULL,
     ".config/Code/User",
     "mcp.json",
     NULL,
     "servers",
     "visual studio code|visual-studio-code|vscode",
     NULL,
     {0}},
    {"windsurf",
     CLIENTS_CURSOR,
     NULL,
     ".codeium/windsurf",
     "mcp_config.json",
     NULL,
     "mcpServers",
     "windsurf",
     NULL,
     {0}},
    {"zed",
     CLIENTS_ZED,
     NULL,
     ".config/zed",
     "settings.json",
     NULL,
     "context_servers",
     "zed",
     NULL,
     {0}},
    {"gemini-cli",
     CLIENTS_CURSOR,
     NULL,
     ".gemini",
     "settings.json",
     NULL,
     "mcpServers",
     "gemini-cli|geminicli",
     NULL,
     {0}},
    {"qwen-code",
     CLIENTS_CURSOR,
     NULL,
     ".qwen",
     "settings.json",
     NULL,
     "mcpServers",
     "qwen|qwencode",
     NULL,
     {BASE_URL_ENV, "OPENAI_BASE_URL", "/v1"}},
    {"claude-desktop",
     CLIENTS_CURSOR,
     NULL,
     ".config/Claude",
     "claude_desktop_config.json",
     NULL,
     "mcpServers",
     "claude-ai|claude-desktop",
     NULL,
     {0}},
    {"continue",
     CLIENTS_CURSOR,
     NULL,
     ".continue/mcpServers",
     "clew.json",
     NULL,
     "mcpServers",
     "continue",
     NULL,
     {0}},
    {NULL, CLIENTS_CLAUDE, NULL, NULL, NULL, NULL, NULL, NULL, NULL, {0}},
};

const char *clients_names(struct arena *arena)
{
    const char *text = "";

    for (const struct clients_place *p = clients_places; p->client && text;
         p++) {
        text =
            arena_printf(arena, "%s%s%s", text, *text ? ", " : "", p->client);
    }
    return text ? text : "";
}

const char *clients_proxy_path(struct arena *arena,
                               const struct clients_place *place)
{
    const char *folder = place->variable ? getenv(place->variable) : NULL;
    const char *home = getenv("HOME");

    if (!place->proxy || !home) {
        return NULL;
    }
    if (folder && folder[0]) { /* the folder is in place of the first part */
        return arena_printf(arena, "%s%s", folder, strchr(place->proxy, '/'));
    }
    return arena_printf(arena, "%s/%s", home, place->proxy);
}

const struct clients_place *clients_find(const char *name)
{
    for (const struct clients_place *p = clients_places; p->client; p++) {
        if (strcmp(p->client, name) == 0) {
            return p;
        }
    }
    return NULL;
}

bool clients_is_name(const struct clients_place *place, struct str name)
{
    struct str list = str_of(place->names);
    struct str own;

    while (str_split(&list, '|', &own)) {
        if (str_istarts(name, own) &&
            (name.len == own.len || !isalnum((unsigned char)name.s[own.len]))) {
            return true;
        }
    }
    return false;
}

enum clew_status clients_paths(struct arena *arena,
                               const struct clients_place *place,
                               const char **out_config, const char **out_skill,
                               struct clew_error *err)
{
    const char *home = getenv("HOME");
    const char *folder = place->variable ? getenv(place->variable) : NULL;
    bool is_inside = place->skill && strncmp(place->skill, "./", 2) == 0;

    if (!home || home[0] != '/') {
        return clew_fail(err, CLEW_INVALID, "HOME is not set");
    }
    if (!folder || !folder[0]) {
        folder = place->folder[0]
                     ? arena_printf(arena, "%s/%s", home, place->folder)
                     : home;
    }
    if (!folder) {
        return clew_no_memory(err);
    }
    *out_config = arena_printf(arena, "%s/%s", folder, place->file);
    *out_skill = NULL;
    if (place->skill) {
        *out_skill =
            is_inside ? arena_printf(arena, "%s/%s", folder, place->skill + 2)
                      : arena_printf(arena, "%s/%s", home, place->skill);
    }
    return *out_config && (*out_skill || !place->skill) ? CLEW_OK
                                                        : clew_no_memory(err);
}

/* A TOML table's "command", written as a JSON string. */
static const char *toml_program(struct arena *arena,
                                const struct clients_place *place,
                                struct str text)
{
    const char *head =
        arena_printf(arena, "[%s.%s]", place->group, CLIENTS_ENTRY);
    size_t at = head ? str_find(text, str_of(head), 0) : SIZE_MAX;
    struct str rest;
    struct str line;

    if (at == SIZE_MAX) {
        return NULL;
    }
    rest = str_sub(text, at + strlen(head), text.len);
    while (str_split(&rest, '\n', &line)) {
        struct str value;

        line = str_trim(line);
        if (line.len > 0 && line.s[0] == '[') {
            return NULL;
        }
        if (!str_starts(line, STR("command")) ||
            str_find(line, STR("\""), 0) == SIZE_MAX) {
            continue;
        }
        value = str_sub(line, str_find(line, STR("\""), 0) + 1, line.len);
        value = str_sub(value, 0, str_find(value, STR("\""), 0));
        return arena_copy(arena, value.s, value.len);
    }
    return NULL;
}

const char *clients_program(struct arena *arena,
                            const struct clients_place *place, struct str text)
{
    json_t *json = NULL;
    const json_t *command;
    const char *name;
    const char *out = NULL;

    if (place->form == CLIENTS_CODEX) {
        return toml_program(arena, place, text);
    }
    if (text.len == 0 || json_parse(text, &json, NULL) != CLEW_OK) {
        return NULL;
    }
    command = json_object_get(
        json_object_get(json_object_get(json, place->group), CLIENTS_ENTRY),
        "command");
    name = json_is_array(command)
               ? json_string_value(json_array_get(command, 0))
               : json_string_value(command);
    if (name) {
        out = arena_string(arena, name);
    }
    json_decref(json);
    return out;
}
