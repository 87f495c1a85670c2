/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.c - the event stream parser. See sse.h.
 */
#include "base/sse.h"

#include <string.h>

void sse_init(struct sse *sse, size_t limit, sse_fn fn, void *arg)
{
    memset(sse, 0, sizeof(*sse));
    sse->fn = fn;
    sse->arg = arg;
    buf_init(&sse->line, limit);
    buf_init(&sse->name, limit);
    buf_init(&sse->data, limit);
}

void sse_release(struct sse *sse)
{
    buf_release(&sse->line);
    buf_release(&sse->name);
    buf_release(&sse->data);
}

static void end_event(struct sse *sse)
{
    bool is_lost = sse->is_lost || buf_status(&sse->data) != CLEW_OK ||
                   buf_status(&sse->name) != CLEW_OK;

    if (is_lost) {
        sse->n_lost++;
    } else if (sse->has_data) {
        sse->fn(sse->arg, buf_str(&sse->name), buf_str(&sse->data));
    }
    buf_clear(&sse->name);
    buf_clear(&sse->data);
    sse->has_data = false;
    sse->is_lost = false;
}

static void take_field(struct sse *sse, struct str name, struct str value)
{
    if (str_eq(name, STR("data"))) {
        if (sse->has_data) {
            (void)buf_append_char(&sse->data, '\n'); /* checked at the end */
        }
        (void)buf_append_str(&sse->data, value);
        sse->has_data = true;
    } else if (str_eq(name, STR("event"))) {
        buf_clear(&sse->name);
        (void)buf_append_str(&sse->name, value);
    }
}

static void end_line(struct sse *sse)
{
    struct str line = buf_str(&sse->line);
    size_t colon;

    sse->is_lost = sse->is_lost || buf_status(&sse->line) != CLEW_OK;
    if (!sse->is_started && str_starts(line, STR("\xEF\xBB\xBF"))) {
        line = str_sub(line, 3, line.len);
    }
    sse->is_started = true;
    if (line.len == 0 && buf_status(&sse->line) == CLEW_OK) {
        end_event(sse);
    } else {
        colon = str_find(line, STR(":"), 0);
        if (colon == SIZE_MAX) {
            take_field(sse, line, STR(""));
        } else if (colon > 0) {
            struct str value = str_sub(line, colon + 1, line.len);

            if (str_starts(value, STR(" "))) {
                value = str_sub(value, 1, value.len);
            }
            take_field(sse, str_sub(line, 0, colon), value);
        }
    }
    buf_clear(&sse->line);
}

void sse_feed(struct sse *sse, const char *bytes, size_t len)
{
    size_t from = 0;

    for (size_t i = 0; i < len; i++) {
        char c = bytes[i];

        if (c == '\n' && sse->is_after_cr) {
            sse->is_after_cr = false;
            from = i + 1;
            continue;
        }
        sse->is_after_cr = c == '\r';
        if (c != '\n' && c != '\r') {
            continue;
        }
        (void)buf_append(&sse->line, bytes + from, i - from); /* end_line() */
        end_line(sse);
        from = i + 1;
    }
    (void)buf_append(&sse->line, bytes + from, len - from);
}
