/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_system.c - what of a system prompt counts. See call_hash.h.
 *
 * Agents open with a known sentence and go on with things that change by the
 * hour; of those only the sentence counts. Everyone else's prompt counts whole,
 * less what is known to change by itself.
 */
#include "engine/call/call_hash.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/call/call_markers.h"
#include "engine/call/call_text.h"

#include <stdint.h>

static struct str next_line(struct str text, size_t *at)
{
    size_t end = str_find(text, STR("\n"), *at);
    struct str line;

    end = end == SIZE_MAX ? text.len : end + 1;
    line = str_sub(text, *at, end);
    *at = end;
    return line;
}

/* Append `text` without the lines and sections that change by themselves. */
static enum clew_status drop_volatile(struct buf *out, struct str text)
{
    bool is_section = false;
    size_t at = 0;

    while (at < text.len) {
        struct str line = next_line(text, &at);
        struct str own = call_trim(line);

        if (call_marker_at(CALL_VOLATILE_SECTION, own)) {
            is_section = true;
        } else if (own.len == 0) {
            is_section = false;
        }
        if (is_section || call_marker_at(CALL_VOLATILE_LINE, own)) {
            continue;
        }
        (void)buf_append_str(out, line); /* kept in `out` */
    }
    return buf_status(out);
}

/* Append `text` without its <transient_context> blocks. */
static enum clew_status drop_transient(struct buf *out, struct str text)
{
    const struct str open = STR("<transient_context>");
    const struct str close = STR("</transient_context>");
    size_t done = 0;

    while (done < text.len) {
        size_t from = str_find(text, open, done);
        size_t to = from == SIZE_MAX ? from : str_find(text, close, from);

        if (to == SIZE_MAX) {
            break;
        }
        (void)buf_append_str(out, str_sub(text, done, from)); /* kept */
        done = to + close.len;
    }
    return buf_append_str(out, str_sub(text, done, text.len));
}

/* Three and more newlines in a row become two. */
static enum clew_status collapse_newlines(struct buf *out, struct str text)
{
    size_t run = 0;

    for (size_t i = 0; i < text.len; i++) {
        run = text.s[i] == '\n' ? run + 1 : 0;
        if (run < 3) {
            (void)buf_append_char(out, text.s[i]); /* kept in `out` */
        }
    }
    return buf_status(out);
}

/* The known opening that the prompt starts with, past identity lines. */
static const struct call_marker *opening_of(struct str prompt)
{
    size_t at = 0;

    while (at < prompt.len) {
        struct str line = call_trim(next_line(prompt, &at));
        const struct call_marker *marker =
            call_marker_at(CALL_AGENT_OPENING, line);

        if (marker) {
            return marker;
        }
        if (line.len > 0 && !call_marker_at(CALL_AGENT_IDENTITY, line) &&
            !call_marker_at(CALL_VOLATILE_LINE, line)) {
            return NULL;
        }
    }
    return NULL;
}

/* What of the prompt counts, built in `out` with the help of `spare`. */
static enum clew_status clean_prompt(struct buf *out, struct buf *spare,
                                     struct str prompt)
{
    enum clew_status status = drop_transient(spare, prompt);

    if (status == CLEW_OK) {
        status = call_strip(out, buf_str(spare));
    }
    if (status == CLEW_OK) {
        buf_clear(spare);
        status = drop_volatile(spare, buf_str(out));
    }
    if (status == CLEW_OK) {
        buf_clear(out);
        status = collapse_newlines(out, buf_str(spare));
    }
    return status;
}

/* Append what counts of one text; nothing if nothing is left of it. */
static enum clew_status add_counted(struct buf *out, struct str text)
{
    const struct call_marker *opening = opening_of(text);
    struct buf clean;
    struct buf spare;
    enum clew_status status;

    if (opening) {
        return buf_append_str(out, opening->text);
    }
    buf_init(&clean, LIMIT_BODY_BYTES);
    buf_init(&spare, LIMIT_BODY_BYTES);
    status = clean_prompt(&clean, &spare, text);
    if (status == CLEW_OK) {
        status = buf_append_str(out, call_trim(buf_str(&clean)));
    }
    buf_release(&clean);
    buf_release(&spare);
    return status;
}

#define NUMBER_0 "[0]text:"

/* Each text of a list for itself, numbered, between bars: so it stands in the
 * hashes that clients have stored. */
static enum clew_status add_list(struct buf *out, const json_t *list,
                                 size_t *out_kept)
{
    const json_t *item;
    struct buf own;
    size_t n_kept = 0;
    size_t i;
    enum clew_status status = CLEW_OK;

    buf_init(&own, LIMIT_BODY_BYTES);
    json_array_foreach (list, i, item) {
        const json_t *value =
            json_is_string(item) ? item : json_object_get(item, "text");
        struct str text = json_text(value);

        buf_clear(&own);
        if (text.s && status == CLEW_OK) {
            status = add_counted(&own, text);
        }
        if (own.len == 0 || status != CLEW_OK) {
            continue;
        }
        (void)buf_printf(out, "%s[%zu]text:", n_kept ? "|" : "", n_kept);
        status = buf_append_str(out, buf_str(&own));
        n_kept++;
    }
    buf_release(&own);
    *out_kept = n_kept;
    return status;
}

enum clew_status call_hash_system(const json_t *system, bool *out_has,
                                  struct call_digest *out)
{
    struct buf counted;
    struct str own;
    size_t n_kept = 0;
    enum clew_status status = CLEW_OK;

    buf_init(&counted, LIMIT_BODY_BYTES);
    if (json_is_string(system)) {
        struct str text = json_text(system);

        status = add_counted(&counted, text);
    } else {
        status = add_list(&counted, system, &n_kept);
    }
    if (status == CLEW_OK) {
        own = buf_str(&counted);
        if (n_kept == 1) { /* one text is as good as a string */
            own = str_sub(own, sizeof(NUMBER_0) - 1, own.len);
        }
        *out_has = own.len > 0;
        sha256_of(own, out->b);
    }
    buf_release(&counted);
    return status;
}

bool call_is_summarising(const json_t *system)
{
    const json_t *item;
    size_t at;
    size_t i;

    if (json_is_string(system)) {
        struct str text = json_text(system);

        return call_marker_find(CALL_SUMMARISING, text, 0, &at);
    }
    json_array_foreach (system, i, item) {
        const json_t *value = json_object_get(item, "text");
        struct str text = json_text(value);

        if (call_marker_find(CALL_SUMMARISING, text, 0, &at)) {
            return true;
        }
    }
    return false;
}
