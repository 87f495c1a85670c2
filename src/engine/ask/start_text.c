/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_text.c - the offer as people read it, and their answers. See start.h.
 */
#include "engine/ask/start_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/one_line.h"

#include <ctype.h>
#include <string.h>

static const char *const action_names[] = {"continue", "fork", "new", "fresh",
                                           "ask"};

const char *start_action_name(enum start_action action)
{
    return action_names[action];
}

static const char *mark_of(struct str text)
{
    return memory_reads_like_instruction(text) ? MEMORY_ORDER_MARK : "";
}

/* In quotes, and what it reads like; NULL without memory. */
static const char *title_of(struct arena *arena, const struct start_chat *chat)
{
    struct str title = chat->chat.title.len
                           ? one_line(arena, chat->chat.title, SIZE_MAX)
                           : STR("Untitled chat");

    return title.s ? arena_printf(arena, "\"%.*s\"%s", (int)title.len, title.s,
                                  mark_of(title))
                   : NULL;
}

/* --- options ---------------------------------------------------------------
 */

static bool add_option(struct start *start, int n, enum start_action action,
                       const struct start_chat *chat, const char *label)
{
    struct start_option *option = &start->options[start->n_options++];

    *option =
        (struct start_option){.n = n, .action = action, .label = str_of(label)};
    if (chat) {
        option->chat_id = chat->chat.id;
    }
    return label != NULL;
}

/* Continue the best chat, the one with work left before the others; fork the
 * next. */
static bool make_options(struct arena *arena, struct start *start)
{
    const struct start_chat *go_on = NULL;
    const struct start_chat *fork = NULL;
    bool is_ok = true;

    start->n_options = 0;
    for (size_t i = 0; i < start->n_chats; i++) {
        if (!go_on ||
            (start->chats[i].has_open_effort && !go_on->has_open_effort)) {
            go_on = &start->chats[i];
        }
    }
    for (size_t i = 0; i < start->n_chats && !fork; i++) {
        fork = &start->chats[i] != go_on ? &start->chats[i] : NULL;
    }
    fork = fork ? fork : go_on;
    if (go_on) {
        const char *title = title_of(arena, go_on);
        const char *other = title_of(arena, fork);

        is_ok = title && other &&
                add_option(start, 1, START_CONTINUE, go_on,
                           arena_printf(arena, "Continue %s%s", title,
                                        go_on->has_open_effort
                                            ? " (has open effort)"
                                            : "")) &&
                add_option(start, 2, START_FORK, fork,
                           arena_printf(arena, "Fork from %s", other));
    }
    if (start->n_memories > 0) {
        is_ok = is_ok && add_option(start, 3, START_NEW, NULL,
                                    "New chat with selected artifacts");
    }
    return is_ok && add_option(start, 4, START_FRESH, NULL,
                               "Start fresh (no prior context)");
}

/* --- text ------------------------------------------------------------------
 */

static void write_age(struct buf *text, int64_t age_ms)
{
    int64_t days = age_ms / CLOCK_DAY_MS;

    if (age_ms < CLOCK_HOUR_MS) {
        (void)buf_append_cstr(text, "just now"); /* checked by the caller */
    } else if (days < 1) {
        int64_t hours = age_ms / CLOCK_HOUR_MS;

        (void)buf_printf(text, "%lld hour%s ago", (long long)hours,
                         hours == 1 ? "" : "s");
    } else if (days == 1) {
        (void)buf_append_cstr(text, "yesterday");
    } else if (days < 7) {
        (void)buf_printf(text, "%lld days ago", (long long)days);
    } else if (days < 14) {
        (void)buf_append_cstr(text, "last week");
    } else if (days < 60) {
        (void)buf_printf(text, "%lld weeks ago", (long long)(days / 7));
    } else {
        (void)buf_printf(text, "%lld months ago", (long long)(days / 30));
    }
}

/* "2 facts, 1 resolved effort, 1 open effort" */
static void write_counts(struct buf *text, const struct start_chat *chat)
{
    for (size_t i = 0; i < chat->n_counts; i++) {
        const struct start_count *count = &chat->counts[i];
        bool is_effort = str_eq(count->type, STR("effort"));

        (void)buf_printf(
            text, "%s%lld %.*s%s%.*s%s", i ? ", " : "", (long long)count->count,
            is_effort ? (int)count->status.len : 0, count->status.s,
            is_effort ? " " : "", (int)count->type.len, count->type.s,
            count->count == 1 ? "" : "s");
    }
}

static void write_chat(struct arena *arena, struct buf *text, size_t n,
                       const struct start_chat *chat, int64_t now_ms)
{
    const char *title = title_of(arena, chat);

    if (!title) {
        (void)buf_fail(text, CLEW_NO_MEMORY); /* checked by the caller */
        return;
    }
    (void)buf_printf(text, "  %zu. %s (", n, title);
    write_age(text, now_ms - chat->chat.last_activity_at_ms);
    (void)buf_append_cstr(text, ")\n");
    if (chat->summary.len > 0) {
        (void)buf_append_cstr(text, "     Summary: ");
        one_line_append(text, chat->summary, SIZE_MAX);
        (void)buf_append_cstr(text, mark_of(chat->summary));
        (void)buf_append_char(text, '\n');
    }
    (void)buf_printf(text, "     Artifacts: %lld", (long long)chat->n_memories);
    if (chat->n_counts > 0) {
        (void)buf_append_cstr(text, " (");
        write_counts(text, chat);
        (void)buf_append_char(text, ')');
    }
    (void)buf_append_cstr(text, "\n\n");
}

static void write_memory(struct buf *text, const struct memory *memory)
{
    bool is_effort = str_eq(memory->type, STR("effort"));
    struct str end = memory_end(memory);

    (void)buf_printf(text, "  • [%.*s%s%.*s] ", (int)memory->type.len,
                     memory->type.s, is_effort ? ":" : "",
                     is_effort ? (int)memory->status.len : 0, memory->status.s);
    one_line_append(text, memory->summary, SIZE_MAX);
    if (is_effort && end.len > 0) {
        (void)buf_append_cstr(text, " => ");
        one_line_append(text, end, SIZE_MAX);
        (void)buf_append_cstr(text, mark_of(end));
    }
    (void)buf_append_char(text, '\n');
}

bool start_write(struct arena *arena, struct start *start, int64_t now_ms)
{
    struct buf text;

    if (!make_options(arena, start)) {
        return false;
    }
    buf_init(&text, (size_t)1 << 20);
    (void)buf_append_cstr(&text, start->n_chats || start->n_memories
                                     ? "I found related context:\n\n"
                                     : "I found no related context.\n\n");
    if (start->n_chats > 0) {
        (void)buf_append_cstr(&text, "RELATED CHATS:\n");
    }
    for (size_t i = 0; i < start->n_chats; i++) {
        write_chat(arena, &text, i + 1, &start->chats[i], now_ms);
    }
    if (start->n_memories > 0) {
        (void)buf_append_cstr(&text, "RELEVANT ARTIFACTS:\n");
        for (size_t i = 0; i < start->n_memories; i++) {
            write_memory(&text, &start->memories[i]);
        }
        (void)buf_append_char(&text, '\n');
    }
    (void)buf_append_cstr(&text, "Options:\n");
    for (size_t i = 0; i < start->n_options; i++) {
        (void)buf_printf(&text, "  %d. %.*s\n", start->options[i].n,
                         (int)start->options[i].label.len,
                         start->options[i].label.s);
    }
    start->text = arena_str(arena, buf_str(&text));
    if (buf_status(&text) != CLEW_OK) {
        start->text.s = NULL;
    }
    buf_release(&text);
    return start->text.s != NULL;
}

/* --- answers ---------------------------------------------------------------
 */

static const struct start_option *option_of(const struct start *start, int n)
{
    for (size_t i = 0; i < start->n_options; i++) {
        if (start->options[i].n == n) {
            return &start->options[i];
        }
    }
    return NULL;
}

/* "1,2" or "1 and 2" as marks; false if it names what is not there. */
static bool read_numbers(struct str text, size_t max, bool out[])
{
    size_t i = 0;
    bool has_any = false;

    while (i < text.len) {
        size_t n = 0;

        if (!isdigit((unsigned char)text.s[i])) {
            struct str rest = str_sub(text, i, text.len);

            if (str_istarts(rest, STR("and"))) {
                i += 3;
                continue;
            }
            if (!strchr(", &.", text.s[i])) {
                return false;
            }
            i++;
            continue;
        }
        while (i < text.len && isdigit((unsigned char)text.s[i]) && n < 1000) {
            n = n * 10 + (size_t)(text.s[i++] - '0');
        }
        if (n < 1 || n > max) {
            return false;
        }
        out[n - 1] = true;
        has_any = true;
    }
    return has_any;
}

/* What follows the 3: nothing, "include …" or "exclude …". */
static bool read_selection(const struct start *start, struct str rest,
                           bool picks[])
{
    bool named[START_MAX_MEMORIES] = {false};
    bool is_exclude = str_istarts(rest, STR("exclude"));
    bool is_include = str_istarts(rest, STR("include"));

    if (rest.len > 0 && !is_exclude && !is_include) {
        return false;
    }
    if (rest.len > 0 &&
        !read_numbers(str_sub(rest, sizeof("include") - 1, rest.len),
                      start->n_memories, named)) {
        return false;
    }
    for (size_t i = 0; i < start->n_memories; i++) {
        picks[i] = is_include ? named[i] : !named[i];
    }
    return true;
}

struct start_answer start_parse(const struct start *start, struct str answer)
{
    struct start_answer out = {.action = START_ASK};
    struct str text = str_trim(answer);
    struct str rest;
    const struct start_option *option;

    if (str_ieq(text, STR("just continue")) || str_ieq(text, STR("continue"))) {
        /* the first option that is there is the best */
        out.action = start->options[0].action;
        for (size_t i = 0; i < start->n_memories; i++) {
            out.picks[i] = out.action == START_NEW;
        }
        return out;
    }
    if (text.len == 0 || !isdigit((unsigned char)text.s[0]) ||
        (text.len > 1 && isdigit((unsigned char)text.s[1]))) {
        return out;
    }
    option = option_of(start, text.s[0] - '0');
    rest = str_sub(text, 1, text.len);
    while (rest.len > 0 && strchr(" ,.:;", rest.s[0])) {
        rest = str_sub(rest, 1, rest.len);
    }
    if (!option || (option->action != START_NEW && rest.len > 0) ||
        (option->action == START_NEW &&
         !read_selection(start, rest, out.picks))) {
        return out;
    }
    out.action = option->action;
    return out;
}
