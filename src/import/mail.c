/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mail.c - an mbox, or one message of a Maildir.
 *
 * A thread is a chat: a message goes on the one it answers (In-Reply-To, else
 * the last of References). Its words are the first text/plain part, or an HTML
 * part as plain text; other parts are named. An mbox holds messages one after
 * another, each behind a line "From ".
 */
#include "import/mime.h"
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include <string.h>

/* A larger message is no talk. */
#define MAX_MESSAGE (32u << 20)

bool import_mail_is(struct str head)
{
    struct str rest = head;
    struct str line;
    int n_known = 0;

    if (str_starts(head, STR("From "))) {
        return str_find(head, STR("\nFrom: "), 0) != SIZE_MAX ||
               str_find(head, STR("\nDate: "), 0) != SIZE_MAX;
    }
    while (n_known < 2 && str_split(&rest, '\n', &line) && line.len > 1) {
        n_known += str_istarts(line, STR("message-id:")) ||
                   str_istarts(line, STR("received:")) ||
                   str_istarts(line, STR("from:")) ||
                   str_istarts(line, STR("date:")) ||
                   str_istarts(line, STR("return-path:"));
        if (line.s[0] != ' ' && line.s[0] != '\t' &&
            str_find(line, STR(":"), 0) == SIZE_MAX) {
            return false;
        }
    }
    return n_known >= 2;
}

/* Hand one whole message on. */
static enum clew_status take_message(struct importer *importer,
                                     struct buf *bytes, struct clew_error *err)
{
    struct mime_message mail;
    struct import_message out = {.role = "user"};
    char own[SAID_ID_SIZE];
    char above[SAID_ID_SIZE];
    struct buf text;
    enum clew_status status = CLEW_OK;

    if (bytes->len == 0) {
        return CLEW_OK;
    }
    mime_init(&mail);
    mime_read(&mail, buf_str(bytes));
    if (mail.message_id.len == 0 || mail.time_ms == 0) {
        status = importer_skip(importer, (struct str){0}, (struct str){0},
                               IMPORT_EMPTY, err);
    } else {
        out.id =
            said_id("mail", buf_str(&mail.message_id), (struct str){0}, own);
        if (mail.parent_id.len > 0) {
            out.parent = said_id("mail", buf_str(&mail.parent_id),
                                 (struct str){0}, above);
        }
        out.created_at_ms = mail.time_ms;
        out.name = mail.from.len > 0 ? buf_str(&mail.from) : (struct str){0};
        buf_init(&text, SAID_MAX_BYTES);
        if (mail.parent_id.len == 0) { /* an answer repeats the subject */
            said_append(&text, buf_str(&mail.subject));
        }
        said_append(&text, str_trim(buf_str(&mail.text)));
        status = importer_begin(importer, buf_str(&mail.subject), false, err);
        if (status == CLEW_OK) {
            status = said_add(importer, &out, &text, err);
        } else {
            buf_release(&text);
        }
    }
    mime_release(&mail);
    buf_clear(bytes);
    return status;
}

enum clew_status import_mail(struct importer *importer, struct pieces *pieces,
                             struct clew_error *err)
{
    bool is_mbox = pieces->n_head >= 5 && memcmp(pieces->head, "From ", 5) == 0;
    bool was_empty = true;
    bool has_line = true;
    struct buf bytes;
    enum clew_status status = CLEW_OK;

    buf_init(&bytes, MAX_MESSAGE);
    while (status == CLEW_OK && has_line) {
        struct str line;

        status = pieces_line(pieces, &has_line, err);
        line = buf_str(&pieces->text);
        if (status != CLEW_OK || !has_line) {
            break;
        }
        if (is_mbox && was_empty && str_starts(line, STR("From "))) {
            status = take_message(importer, &bytes, err);
        } else {
            /* ">From" was quoted so that it is no new message */
            if (is_mbox && str_starts(line, STR(">From "))) {
                line = str_sub(line, 1, line.len);
            }
            (void)buf_append(&bytes, line.s ? line.s : "", line.len);
            (void)buf_append_char(&bytes, '\n');
            if (buf_status(&bytes) != CLEW_OK) {
                status =
                    clew_fail(err, CLEW_TOO_LARGE, "a message is over %u MB",
                              MAX_MESSAGE >> 20);
            }
        }
        was_empty = line.len == 0;
    }
    if (status == CLEW_OK) {
        status = take_message(importer, &bytes, err);
    }
    buf_release(&bytes);
    return status;
}
