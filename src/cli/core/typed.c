/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.c - parts of ids, words for times, names of options. See typed.h.
 */
#include "cli/core/typed.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/uuid.h"
#include "cli/core/cli.h"
#include "text/analysis.h"
#include "text/date/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- ids ------------------------------------------------------------------ */

/* A word of usage lines that stands for an id, the kind the API calls it, and
 * the command that lists them. */
struct noun {
    const char *word;
    const char *kind;
    const char *lister;
};
static const struct noun nouns[] = {
    {"CHAT", "chat", "chats"},
    {"MEMORY", "memory", "memories"},
    {"EFFORT", "effort", "efforts --all"},
    {"THOUGHT", "memory", "memories"},
    {"TURN", "turn", "history CHAT --json"},
    {"CALL", "request", "requests"},
    {"CHAIN", "chain", "chains"},
    {"EPISODE", "episode", "episodes"},
    {"LINK", "link", "links"},
    {"SESSION", "session", "sessions CHAT"},
    {"CONVERSATION", "conversation", "requests --json"},
};

static const struct noun *noun_of(struct str word)
{
    for (size_t i = 0; i < sizeof(nouns) / sizeof(nouns[0]); i++) {
        if (str_eq(word, str_of(nouns[i].word))) {
            return &nouns[i];
        }
    }
    return NULL;
}

/* Could be the beginning of an id: hex digits and dashes. */
static bool is_part(struct str text)
{
    struct uuid id;

    if (text.len < 4 || uuid_parse(text, &id)) {
        return false;
    }
    return strspn(text.s, "0123456789abcdefABCDEF-") >= text.len;
}

/* What begins so, as {kind, id}; none on a failure that the call itself will
 * meet again. The caller json_decref()s it. */
static enum clew_status ask(struct cli *cli, struct str part, const char *kind,
                            json_t **out, struct clew_error *err)
{
    char *text = arena_copy(&cli->arena, part.s, part.len);
    char *path = text ? cli_path(cli, "/api/v1/ids", text, "") : NULL;

    return cli_call(cli, "GET", cli_query(cli, path, "kind", kind), NULL, out,
                    err);
}

static enum clew_status several(struct cli *cli, struct str part,
                                const json_t *items, struct clew_error *err)
{
    struct buf text;
    const json_t *item;
    enum clew_status status;
    size_t i;

    (void)cli;
    buf_init(&text, 4096);
    json_array_foreach (items, i, item) {
        (void)buf_printf(&text, "%s%s %s", i ? ", " : "",
                         cli_field(item, "kind"), cli_field(item, "id"));
    }
    status = clew_fail(err, CLEW_INVALID,
                       "\"%.*s\" begins more than one id; type more of it: %s",
                       (int)part.len, part.s, text.len ? text.data : "");
    buf_release(&text);
    return status;
}

/* The id that `part` begins; `*out` stays if none does. */
static enum clew_status find_id(struct cli *cli, struct str part,
                                struct str usage, const char **out,
                                struct clew_error *err)
{
    json_t *found = json_array();
    enum clew_status status = found ? CLEW_OK : clew_no_memory(err);
    struct str word;

    /* of "CHAT|MEMORY" a chat comes first: a memory can be typed further */
    while (status == CLEW_OK && json_array_size(found) == 0 &&
           str_split(&usage, '|', &word)) {
        const struct noun *noun = noun_of(word);
        json_t *answer = NULL;

        if (!noun) {
            continue;
        }
        status = ask(cli, part, noun->kind, &answer, err);
        if (status == CLEW_OK &&
            json_array_extend(found, json_object_get(answer, "items")) != 0) {
            status = clew_no_memory(err);
        }
        json_decref(answer);
    }
    if (status == CLEW_OK && json_array_size(found) > 1) {
        status = several(cli, part, found, err);
    } else if (status == CLEW_OK && json_array_size(found) == 1) {
        *out = arena_string(&cli->arena,
                            cli_field(json_array_get(found, 0), "id"));
        status = *out ? CLEW_OK : clew_no_memory(err);
    }
    json_decref(found);
    return status;
}

/* "019cdde9:3": the third turn of that chat. */
static enum clew_status find_turn(struct cli *cli, struct str text,
                                  const char **out, struct clew_error *err)
{
    size_t colon = str_find(text, STR(":"), 0);
    struct str part = str_sub(text, 0, colon);
    const char *chat = arena_copy(&cli->arena, part.s, part.len);
    json_t *answer = NULL;
    int64_t seq = 0;
    enum clew_status status = chat ? CLEW_OK : clew_no_memory(err);
    char *path;

    if (!str_parse_int(str_sub(text, colon + 1, text.len), &seq) || seq < 1) {
        return CLEW_OK;
    }
    if (status == CLEW_OK && is_part(part)) {
        status = find_id(cli, part, STR("CHAT"), &chat, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    path = cli_path(cli, "/api/v1/chats", chat, "/turns?limit=1");
    path = cli_query(cli, path, "after_seq",
                     arena_printf(&cli->arena, "%lld", (long long)(seq - 1)));
    status = cli_call(cli, "GET", path, NULL, &answer, err);
    if (status == CLEW_OK) {
        const json_t *turn =
            json_array_get(json_object_get(answer, "items"), 0);

        if (!turn) {
            status = clew_fail(err, CLEW_NOT_FOUND,
                               "that chat has no turn %lld", (long long)seq);
        } else {
            *out = arena_string(&cli->arena, cli_field(turn, "id"));
        }
    }
    json_decref(answer);
    return status;
}

/* One id, or several with commas between. */
static enum clew_status resolve_ids(struct cli *cli, struct str usage,
                                    const char **word, struct clew_error *err)
{
    struct str rest = str_of(*word);
    enum clew_status status = CLEW_OK;
    struct buf text;
    struct str part;
    bool is_changed = false;

    buf_init(&text, 1 << 16);
    while (status == CLEW_OK && str_split(&rest, ',', &part)) {
        const char *id = NULL;

        if (is_part(part)) {
            status = find_id(cli, part, usage, &id, err);
        } else if (str_find(usage, STR("TURN"), 0) != SIZE_MAX &&
                   str_find(part, STR(":"), 0) != SIZE_MAX) {
            status = find_turn(cli, part, &id, err);
        }
        is_changed = is_changed || id;
        (void)buf_printf(&text, "%s%.*s", text.len ? "," : "",
                         id ? (int)strlen(id) : (int)part.len,
                         id ? id : part.s);
    }
    if (status == CLEW_OK && buf_status(&text) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK && is_changed) {
        *word = arena_copy(&cli->arena, text.data, text.len);
        status = *word ? CLEW_OK : clew_no_memory(err);
    }
    buf_release(&text);
    return status;
}

/* The `i`-th word of a usage line, without brackets and what may follow it
 * after a comma. */
static struct str usage_word(const char *usage, size_t i)
{
    struct str rest = str_of(usage);
    struct str word = {0};

    do {
        if (!str_split(&rest, ' ', &word)) {
            return (struct str){"", 0};
        }
    } while (i-- > 0);
    if (word.len > 1 && word.s[0] == '[') {
        word = str_sub(word, 1, word.len - 1);
    }
    return str_sub(word, 0, str_find(word, STR(","), 0));
}

static bool names_id(struct str usage)
{
    struct str word;

    while (str_split(&usage, '|', &word)) {
        if (noun_of(word)) {
            return true;
        }
    }
    return false;
}

/* --- times ---------------------------------------------------------------- */

/* The zone of this machine: TZ, /etc/localtime, else the offset of now. */
static struct str zone_of(struct arena *arena)
{
    static const char folder[] = "zoneinfo/";
    const char *tz = getenv("TZ");
    char link[512];
    struct tm local = {0};
    time_t now = time(NULL);
    int64_t offset;
    ssize_t n;
    char *text;

    if (tz && tz[0] && text_zone_offset(str_of(tz), 0, &offset)) {
        return str_of(tz);
    }
    n = tz && tz[0] ? -1 : readlink("/etc/localtime", link, sizeof(link) - 1);
    if (n > 0) {
        const char *name;

        link[n] = '\0';
        name = strstr(link, folder);
        text = name ? arena_string(arena, name + sizeof(folder) - 1) : NULL;
        if (text && text_zone_offset(str_of(text), 0, &offset)) {
            return str_of(text);
        }
    }
    if (!localtime_r(&now, &local)) {
        return (struct str){0};
    }
    text = arena_printf(arena, "%c%02ld:%02ld", local.tm_gmtoff < 0 ? '-' : '+',
                        labs(local.tm_gmtoff) / 3600,
                        labs(local.tm_gmtoff) / 60 % 60);
    return text ? str_of(text) : (struct str){0};
}

bool typed_set_zone(struct cli *cli, json_t *body)
{
    static const char *const utc[] = {"", "UTC", "Etc/UTC", "+00:00"};
    const char *given = args_str(&cli->args, "timezone");
    struct str zone = given ? str_of(given) : zone_of(&cli->arena);

    for (size_t i = 0; !given && i < sizeof(utc) / sizeof(utc[0]); i++) {
        if (str_eq(zone, str_of(utc[i]))) {
            return true;
        }
    }
    return json_set_str(body, "timezone", zone);
}

/* "90s", "15m", "2h", "3d", "1w": so long before now. */
static bool span_of(struct str text, int64_t *out_ms)
{
    static const struct {
        char letter;
        int64_t ms;
    } units[] = {{'s', CLOCK_SECOND_MS},
                 {'m', CLOCK_MINUTE_MS},
                 {'h', CLOCK_HOUR_MS},
                 {'d', CLOCK_DAY_MS},
                 {'w', 7 * CLOCK_DAY_MS}};
    int64_t n;

    if (text.len < 2 || text.len > 7 ||
        !str_parse_int(str_sub(text, 0, text.len - 1), &n) || n < 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (text.s[text.len - 1] == units[i].letter) {
            *out_ms = n * units[i].ms;
            return true;
        }
    }
    return false;
}

/* Is a date all of the text, but for a short word that leads to it: "in June",
 * "le 14 juillet"? */
static bool is_whole(const struct analysis *analysis)
{
    const struct token *first = analysis->tokens.items;
    const struct date *date = analysis->dates;
    size_t lead = analysis->n_dates == 1 ? date->span.first_token : 0;

    return analysis->n_dates == 1 && lead <= 1 &&
           (lead == 0 || first->to - first->from == 2) &&
           date->span.to + 1 >= analysis->text.len;
}

/* The date a text is. People ask for what was: a day without a year is the
 * last one. */
static bool words_of(struct arena *arena, const char *lead, struct str text,
                     struct str zone, int64_t now_ms, struct date *out)
{
    struct analysis_options options = {.time_ms = now_ms,
                                       .timezone = zone,
                                       .has_no_keywords = true,
                                       .looks_back = true};
    struct analysis analysis;
    char *led = arena_printf(arena, "%s%.*s", lead, (int)text.len, text.s);

    if (!led ||
        analysis_run(arena, str_of(led), &options, &analysis, NULL) !=
            CLEW_OK ||
        !is_whole(&analysis)) {
        return false;
    }
    *out = analysis.dates[0];
    return true;
}

/* "5 march" as "5 March", which can only be the month. */
static struct str with_capitals(struct arena *arena, struct str text)
{
    char *copy = arena_copy(arena, text.s, text.len);

    for (size_t i = 0; copy && i < text.len; i++) {
        if (copy[i] >= 'a' && copy[i] <= 'z' &&
            (i == 0 || copy[i - 1] == ' ')) {
            copy[i] = (char)(copy[i] - 'a' + 'A');
        }
    }
    return copy ? (struct str){copy, text.len} : text;
}

/* The same with what a sentence would say before it: "in May" is no verb,
 * "am 12.03." no number. */
static bool led_words_of(struct arena *arena, struct str text, struct str zone,
                         int64_t now_ms, struct date *out)
{
    static const char *const leads[] = {"", "in ", "am "};
    struct str shown = with_capitals(arena, text);

    if (words_of(arena, "", text, zone, now_ms, out)) {
        return true;
    }
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        if (words_of(arena, leads[i], shown, zone, now_ms, out)) {
            return true;
        }
    }
    return false;
}

/*
 * The moment a text means at `now_ms` in the zone: RFC 3339, a day, or words.
 * `is_end`: of a stretch of time its end, else its beginning.
 */
static bool typed_time(struct arena *arena, struct str text, struct str zone,
                       int64_t now_ms, bool is_end, int64_t *out_ms)
{
    struct date date;
    int64_t span;

    if (text.len > 10 && clock_parse(text, out_ms)) {
        return true; /* a moment; a day alone is a day of the zone */
    }
    if (span_of(text, &span)) {
        *out_ms = now_ms - span;
        return true;
    }
    if (str_eq(text, STR("now"))) {
        *out_ms = now_ms;
        return true;
    }
    if (!led_words_of(arena, text, zone, now_ms, &date)) {
        return false;
    }
    *out_ms = is_end ? date.to_ms - 1 : date.from_ms;
    return true;
}

static enum clew_status resolve_time(struct cli *cli, const char *option,
                                     const char **value, struct clew_error *err)
{
    /* "as of yesterday" is all of it; what was said then began then */
    bool is_end =
        strcmp(option, "until") == 0 ||
        (strcmp(option, "at") == 0 && strcmp(cli->command->name, "turn") != 0);
    char text[CLOCK_TEXT_SIZE];
    int64_t time_ms;

    if (!typed_time(&cli->arena, str_of(*value), zone_of(&cli->arena),
                    clock_now_ms(&clock_system), is_end, &time_ms)) {
        return clew_fail_field(err, option,
                               "--%s: \"%.60s\" is no time; say yesterday, "
                               "\"3 days ago\", 2h, 2026-03-01 or "
                               "2026-03-01T14:00:00Z",
                               option, *value);
    }
    clock_format(time_ms, text);
    *value = arena_string(&cli->arena, text);
    return *value ? CLEW_OK : clew_no_memory(err);
}

/* An option's id is one by now. */
static enum clew_status check_id(const struct arg_option *option,
                                 const char *value, struct clew_error *err)
{
    struct uuid id;

    if (uuid_parse(str_of(value), &id)) {
        return CLEW_OK;
    }
    if (is_part(str_of(value))) {
        (void)clew_fail(err, CLEW_NOT_FOUND,
                        "--%s: no id begins with \"%.40s\"", option->name,
                        value);
        return CLEW_NOT_FOUND;
    }
    return clew_fail_field(err, option->name,
                           "--%s: \"%.40s\" is no id, nor four or more hex "
                           "digits that one begins with",
                           option->name, value);
}

/* Nothing has the operand's beginning: say what lists what has one. Other words
 * are for the API to judge. */
static enum clew_status check_operand(struct str usage, const char *value,
                                      struct clew_error *err)
{
    const struct noun *noun = noun_of(usage);

    if (!is_part(str_of(value))) {
        return CLEW_OK;
    }
    return noun ? clew_fail(err, CLEW_NOT_FOUND,
                            "no %s has an id that begins with \"%.40s\"; "
                            "\"clew %s\" lists them",
                            noun->kind, value, noun->lister)
                : clew_fail(err, CLEW_NOT_FOUND,
                            "nothing has an id that begins with \"%.40s\"",
                            value);
}

enum clew_status typed_resolve(struct cli *cli, struct clew_error *err)
{
    struct args *args = &cli->args;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < args->n_given && status == CLEW_OK; i++) {
        const struct arg_option *option = args->given[i].option;
        struct str usage = str_of(option->value ? option->value : "");

        if (str_eq(usage, STR("TIME"))) {
            status =
                resolve_time(cli, option->name, &args->given[i].value, err);
        } else if (names_id(usage)) {
            status = resolve_ids(cli, usage, &args->given[i].value, err);
            if (status == CLEW_OK) {
                status = check_id(option, args->given[i].value, err);
            }
        }
    }
    for (size_t i = 0; i < args->n_operands && status == CLEW_OK; i++) {
        struct str usage = usage_word(cli->command->operands, i);

        if (names_id(usage)) {
            status = resolve_ids(cli, usage, &args->operands[i], err);
            if (status == CLEW_OK) {
                status = check_operand(usage, args->operands[i], err);
            }
        }
    }
    return status;
}

/* --- errors --------------------------------------------------------------- */

/* Options whose field has another name than the option with "_" for "-". */
static const struct {
    const char *field;
    const char *option;
} fields[] = {
    {"user_id", "user"},
    {"chat_id", "chat"},
    {"session_id", "session"},
    {"conversation_id", "conversation"},
    {"turn_ids", "turn"},
    {"memory_ids", "memory"},
    {"external_ids", "external-id"},
    {"kinds", "kind"},
    {"budget_tokens", "budget"},
    {"created_at", "at"},
    {"at_seq", "at"},
    {"after_seq", "after"},
    {"q", "query"},
    {"agent_id", "agent"},
    {"agent_name", "name"},
};

static bool is_field_of(const char *option, const char *field)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strcmp(fields[i].option, option) == 0 &&
            strcmp(fields[i].field, field) == 0) {
            return true;
        }
    }
    for (; *option && (*option == *field || (*option == '-' && *field == '_'));
         option++) {
        field++;
    }
    return !*option && !*field;
}

/* The first operand, where the field is what its name in the usage says: CHAT
 * is "chat_id". NULL if it is not. */
static const char *operand_of(const struct cli *cli, const char *field)
{
    struct str usage = usage_word(cli->command->operands, 0);
    size_t len = strcspn(usage.s, " |]");

    return cli->args.n_operands > 0 && len > 0 &&
                   str_ieq(str_sub(usage, 0, len),
                           str_sub(str_of(field), 0, len)) &&
                   strcmp(field + len, "_id") == 0
               ? cli->args.operands[0]
               : NULL;
}

void typed_blame(const struct cli *cli, struct clew_error *err)
{
    const char *option = NULL;
    struct clew_error was = *err;
    char quoted[sizeof(err->field) + 2];
    const char *at;

    for (size_t i = 0; i < cli->args.n_given && err->field[0]; i++) {
        if (is_field_of(cli->args.given[i].option->name, err->field)) {
            option = cli->args.given[i].option->name;
        }
    }
    if (!option && cli->command && operand_of(cli, err->field) &&
        strstr(err->message, "must be an id")) {
        (void)snprintf(err->message, sizeof(err->message), "\"%.60s\" is no id",
                       operand_of(cli, was.field));
        return;
    }
    if (!option || strstr(err->message, "--")) {
        return; /* it was not typed, or is named already */
    }
    (void)snprintf(quoted, sizeof(quoted), "\"%s\"", was.field);
    at = strstr(was.message, quoted);
    if (at) {
        (void)snprintf(err->message, sizeof(err->message), "%.*s--%s%s",
                       (int)(at - was.message), was.message, option,
                       at + strlen(quoted));
    } else {
        (void)snprintf(err->message, sizeof(err->message), "--%.40s: %.270s",
                       option, was.message);
    }
}
