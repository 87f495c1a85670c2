/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - memories, episodes and links for people. See show.h.
 */
#include "cli/show/show.h"

#include "base/buf.h"
#include "cli/core/typed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_COLUMNS 80
#define FULL_ID 36

/* --- parts ---------------------------------------------------------------- */

/* True if two ids of the list have the same first `n` characters. */
static bool is_shared(const json_t *items, const char *field, size_t n)
{
    const json_t *one;
    const json_t *other;
    size_t i;
    size_t k;

    json_array_foreach (items, i, one) {
        const char *id = cli_field(one, field);

        for (k = i + 1; k < json_array_size(items); k++) {
            const char *next;

            other = json_array_get(items, k);
            next = cli_field(other, field);
            if (strncmp(id, next, n) == 0 && strcmp(id, next) != 0) {
                return true;
            }
        }
    }
    return false;
}

size_t show_id_columns(const json_t *items, const char *field)
{
    static const size_t cuts[] = {TYPED_ID_COLUMNS, 18, 23};

    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        if (!is_shared(items, field, cuts[i])) {
            return cuts[i];
        }
    }
    return FULL_ID;
}

const char *show_id(struct cli *cli, const char *id, size_t columns)
{
    const char *text = arena_printf(&cli->arena, "%.*s", (int)columns, id);

    return text ? text : "";
}

const char *show_word(struct cli *cli, const char *text)
{
    const char *out = "'";
    struct str rest = str_of(text);
    size_t at;

    while ((at = str_find(rest, STR("'"), 0)) != SIZE_MAX && out) {
        out = arena_printf(&cli->arena, "%s%.*s'\\''", out, (int)at, rest.s);
        rest = str_sub(rest, at + 1, rest.len);
    }
    out = out ? arena_printf(&cli->arena, "%s%.*s'", out, (int)rest.len,
                             rest.len ? rest.s : "")
              : NULL;
    return out ? out : "";
}

/* Where a line of at most `columns` ends: at a space if there is one. */
static size_t line_end(struct str text, size_t columns)
{
    size_t len = output_fit(text, columns).len;

    if (len == text.len) {
        return len;
    }
    for (size_t i = len; i > 0; i--) {
        if (text.s[i] == ' ') {
            return i;
        }
    }
    return len > 0 ? len : 1;
}

const char *show_number(struct cli *cli, const json_t *object,
                        const char *field)
{
    const json_t *value = json_object_get(object, field);
    const char *text = json_is_integer(value)
                           ? arena_printf(&cli->arena, "%lld",
                                          (long long)json_integer_value(value))
                           : "";

    return text ? text : "";
}

void show_paragraph_after(struct cli *cli, size_t columns, struct str text)
{
    size_t width = cli->out.width < MAX_COLUMNS ? cli->out.width : MAX_COLUMNS;
    bool is_first = true;
    struct str line;

    while (str_split(&text, '\n', &line)) {
        do {
            size_t end = line_end(line, width - columns);

            (void)fprintf(cli->out.file, "%*s", is_first ? 0 : (int)columns,
                          "");
            is_first = false;
            output_line(&cli->out, OUTPUT_PLAIN, str_sub(line, 0, end), 0);
            (void)fputc('\n', cli->out.file);
            line = str_trim(str_sub(line, end, line.len));
        } while (line.len > 0);
    }
}

void show_paragraph(struct cli *cli, const char *indent, struct str text)
{
    if (text.len > 0) {
        (void)fputs(indent, cli->out.file);
        show_paragraph_after(cli, strlen(indent), text);
    }
}

void show_more(const json_t *answer)
{
    const char *next = cli_field(answer, "next_cursor");

    if (next[0] && isatty(STDERR_FILENO)) {
        (void)fputs("there are more: --limit N shows up to N\n", stderr);
    } else if (next[0]) {
        output_note("more: --cursor %s", next);
    }
}

static void none(const json_t *items)
{
    if (json_array_size(items) == 0) {
        (void)fputs("nothing found\n", stderr);
    }
}

/* "name   value", one a line. */
static void show_pair(struct cli *cli, const char *name, const char *value)
{
    if (value && value[0]) {
        char label[24];

        (void)snprintf(label, sizeof(label), "%-12s", name);
        output_text(&cli->out, OUTPUT_DIM, str_of(label));
        output_line(&cli->out, OUTPUT_PLAIN, str_of(value), 0);
        (void)fputc('\n', cli->out.file);
    }
}

/* --- memories ------------------------------------------------------------- */

static const char *kind_of(struct cli *cli, const json_t *memory)
{
    const char *type = cli_field(memory, "type");
    const char *status = cli_field(memory, "status");
    const char *text;

    if (json_is_true(json_object_get(memory, "superseded"))) {
        status = "old";
    } else if (strcmp(status, "active") == 0) {
        return type;
    }
    text = arena_printf(&cli->arena, "%s:%s", type, status);
    return text ? text : "";
}

enum clew_status show_memories(struct cli *cli, const json_t *answer,
                               struct clew_error *err)
{
    static const struct output_column columns[] = {
        {"MEMORY", false}, {"WHEN", false}, {"KIND", false}, {"TEXT", false}};
    const json_t *items = json_object_get(answer, "items");
    size_t width = show_id_columns(items, "id");
    size_t count = json_array_size(items);
    const char **cells = arena_zero(&cli->arena, 4 * count + 1, sizeof(*cells));
    const json_t *memory;
    size_t i;

    if (!cells) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, memory) {
        cells[4 * i] = show_id(cli, cli_field(memory, "id"), width);
        cells[4 * i + 1] = cli_when(cli, memory, "created_at");
        cells[4 * i + 2] = kind_of(cli, memory);
        cells[4 * i + 3] = cli_field(memory, "summary");
    }
    output_table(&cli->out, columns, 4, cells, count);
    none(items);
    show_more(answer);
    return CLEW_OK;
}

enum clew_status show_memory(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const char *resolution = cli_field(answer, "resolution");
    const json_t *tag;
    const json_t *ref;
    size_t i;

    (void)err;
    show_paragraph(cli, "", str_of(cli_field(answer, "summary")));
    if (resolution[0]) {
        show_paragraph(cli,
                       strcmp(cli_field(answer, "status"), "open") == 0
                           ? "  before: "
                           : "  => ",
                       str_of(resolution));
    }
    (void)fputc('\n', cli->out.file);
    show_pair(cli, "memory", cli_field(answer, "id"));
    show_pair(cli, "kind", kind_of(cli, answer));
    show_pair(cli, "whose", cli_field(answer, "user_id"));
    show_pair(cli, "when", cli_when(cli, answer, "created_at"));
    json_array_foreach (json_object_get(answer, "tags"), i, tag) {
        show_pair(cli, "tag", json_string_value(tag));
    }
    show_pair(cli, "came by", cli_field(answer, "origin"));
    show_pair(cli, "agent", cli_field(answer, "agent_name"));
    json_array_foreach (json_object_get(answer, "source_refs"), i, ref) {
        show_pair(cli, "drawn from", json_string_value(ref));
    }
    show_pair(cli, "replaced by", cli_field(answer, "refined_by"));
    show_pair(cli, "expires", cli_when(cli, answer, "expires_at"));
    show_pair(cli, "taken back", cli_when(cli, answer, "retracted_at"));
    show_pair(cli, "pinned",
              json_is_true(json_object_get(answer, "pinned")) ? "yes" : "");
    return CLEW_OK;
}

/* --- episodes ------------------------------------------------------------- */

static const char *summary_of(const json_t *episode)
{
    static const char *const names[] = {"micro", "meso", "macro"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (cli_field(episode, names[i])[0]) {
            return cli_field(episode, names[i]);
        }
    }
    return "(not summed up yet)";
}

/* Whose turns these are: "turns 1-12", "3 chats". */
static const char *extent_of(struct cli *cli, const json_t *episode)
{
    size_t n_chats = json_array_size(json_object_get(episode, "chat_ids"));
    json_int_t first =
        json_integer_value(json_object_get(episode, "first_seq"));
    json_int_t last = json_integer_value(json_object_get(episode, "last_seq"));
    const char *text;

    if (last == 0) { /* it goes on: as far as it was summed up */
        last = json_integer_value(json_object_get(episode, "compacted_seq"));
    }

    if (strcmp(cli_field(episode, "type"), "cross_chat") == 0) {
        text = arena_printf(&cli->arena, "%zu chats", n_chats);
    } else if (last > 0 && last == first) {
        text = arena_printf(&cli->arena, "turn %lld", (long long)first);
    } else if (last > 0) {
        text = arena_printf(&cli->arena, "turns %lld-%lld", (long long)first,
                            (long long)last);
    } else {
        text = arena_printf(&cli->arena, "from turn %lld", (long long)first);
    }
    return text ? text : "";
}

enum clew_status show_episodes(struct cli *cli, const json_t *answer,
                               struct clew_error *err)
{
    static const struct output_column columns[] = {
        {"EPISODE", false}, {"WHEN", false}, {"OF", false}, {"SUMMARY", false}};
    const json_t *items = json_object_get(answer, "items");
    size_t width = show_id_columns(items, "id");
    size_t count = json_array_size(items);
    const char **cells = arena_zero(&cli->arena, 4 * count + 1, sizeof(*cells));
    const json_t *episode;
    size_t i;

    if (!cells) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, episode) {
        cells[4 * i] = show_id(cli, cli_field(episode, "id"), width);
        cells[4 * i + 1] = cli_when(cli, episode, "created_at");
        cells[4 * i + 2] = extent_of(cli, episode);
        cells[4 * i + 3] = summary_of(episode);
    }
    output_table(&cli->out, columns, 4, cells, count);
    none(items);
    show_more(answer);
    return CLEW_OK;
}

enum clew_status show_episode(struct cli *cli, const json_t *answer,
                              struct clew_error *err)
{
    static const struct {
        const char *field;
        const char *title;
    } sums[] = {{"micro", "What was said"},
                {"meso", "In short"},
                {"macro", "In a line"}};
    const char *last = "";
    const json_t *chat;
    size_t i;

    (void)err;
    for (i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        const char *text = cli_field(answer, sums[i].field);

        if (text[0] && strcmp(text, last) != 0) {
            output_text(&cli->out, OUTPUT_BOLD, str_of(sums[i].title));
            (void)fputc('\n', cli->out.file);
            show_paragraph(cli, "  ", str_of(text));
        }
        last = text;
    }
    (void)fputc('\n', cli->out.file);
    show_pair(cli, "episode", cli_field(answer, "id"));
    show_pair(cli, "of", extent_of(cli, answer));
    show_pair(cli, "when", cli_when(cli, answer, "created_at"));
    show_pair(cli, "whose", cli_field(answer, "user_id"));
    json_array_foreach (json_object_get(answer, "chat_ids"), i, chat) {
        show_pair(cli, "chat", json_string_value(chat));
    }
    show_pair(cli, "summed up", cli_when(cli, answer, "compacted_at"));
    return CLEW_OK;
}

/* --- links ---------------------------------------------------------------- */

/* A chat's title, asked once; a word on it if it has none. */
static const char *title_of(struct cli *cli, json_t *known, const char *id)
{
    struct clew_error ignored = {0};
    json_t *chat = NULL;
    const char *title = json_string_value(json_object_get(known, id));

    if (title) {
        return title;
    }
    if (cli_call(cli, "GET", cli_path(cli, "/api/v1/chats", id, ""), NULL,
                 &chat, &ignored) == CLEW_OK &&
        cli_field(chat, "title")[0]) {
        title = arena_string(&cli->arena, cli_field(chat, "title"));
    }
    json_decref(chat);
    title = title ? title
                  : arena_printf(&cli->arena, "chat %s, which has no title",
                                 show_id(cli, id, SHOW_ID_LONG));
    title = title ? title : id;
    (void)json_object_set_new(known, id, json_string(title)); /* a comfort */
    return title;
}

/* A person said that it was wrong: it is the other way round. */
static bool is_taken_back(const json_t *link)
{
    return strcmp(cli_field(link, "outcome_by"), "feedback") == 0 &&
           strcmp(cli_field(link, "outcome"), "incorrect") == 0;
}

static void show_link(struct cli *cli, json_t *known, const json_t *link,
                      size_t width)
{
    bool was_link = strcmp(cli_field(link, "decision"), "link") == 0;
    bool is_link = was_link != is_taken_back(link);
    const json_t *score = json_object_get(link, "algorithmic");
    const json_t *signals = json_object_get(link, "signals");
    const json_t *seen = json_object_get(signals, "seen");
    const char *outcome = cli_field(link, "outcome");
    const json_t *word;
    struct buf why;
    size_t columns =
        cli->out.width < MAX_COLUMNS ? cli->out.width : MAX_COLUMNS;
    size_t i;

    output_text(&cli->out, OUTPUT_NAME,
                str_of(show_id(cli, cli_field(link, "id"), width)));
    (void)fprintf(cli->out.file, "  %s%s, %.0f %% of %.0f needed, %s%s%s\n",
                  is_link == was_link ? ""
                  : is_link           ? "now "
                                      : "no longer ",
                  is_link || was_link ? "joined" : "not joined",
                  100 * json_number_value(score),
                  100 * json_number_value(json_object_get(link, "threshold")),
                  cli_when(cli, link, "created_at"),
                  !outcome[0] ? ""
                  : strcmp(cli_field(link, "outcome_by"), "feedback") == 0
                      ? ", said to be "
                      : ", taken as ",
                  outcome);
    (void)fputs("   ", cli->out.file);
    output_line(&cli->out, OUTPUT_PLAIN,
                str_of(title_of(cli, known, cli_field(link, "chat_id"))),
                columns - 3);
    (void)fputs(is_link ? "\n   goes on from: " : "\n   is apart from: ",
                cli->out.file);
    output_line(&cli->out, OUTPUT_PLAIN,
                str_of(title_of(cli, known, cli_field(link, "other_chat_id"))),
                columns - 18);
    (void)fputc('\n', cli->out.file);
    buf_init(&why, 4096);
    json_array_foreach (seen, i, word) {
        const char *name = json_string_value(word);

        (void)buf_printf(&why, "%s%s",
                         i ? ", " : "because of: ", name ? name : "");
    }
    show_paragraph(cli, "   ", buf_str(&why));
    buf_release(&why);
}

enum clew_status show_links(struct cli *cli, const json_t *answer,
                            struct clew_error *err)
{
    const json_t *items = json_object_get(answer, "items");
    size_t width = show_id_columns(items, "id");
    json_t *known = json_object();
    const json_t *link;
    size_t i;

    if (!known) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, link) {
        show_link(cli, known, link, width);
    }
    json_decref(known);
    none(items);
    show_more(answer);
    return CLEW_OK;
}

enum clew_status show_rated(struct cli *cli, const json_t *answer,
                            struct clew_error *err)
{
    json_t *known = json_object();

    if (!known) {
        return clew_no_memory(err);
    }
    show_link(cli, known, answer, SHOW_ID_LONG);
    json_decref(known);
    return CLEW_OK;
}
