/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c - plain JSON lines.
 *
 * A line is {"role", "content", and if it has them "created_at" or "timestamp",
 * "name", "id"}. Without an id a message is named by all that was said up to
 * it, so that a file that has grown adds only what is new; so is one whose id
 * an earlier line has with other words.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/sha256.h"

#include <stdio.h>

/* The last message of the file, in the memo. */
#define LINE "plain line"
/* The ids that its lines have, each with a digest of its words. */
#define IDS "plain ids"
/* Numbers below are seconds, thousandths, millionths: as many years. */
#define MAX_SECONDS 1e11
#define MAX_MILLIS 1e14
#define MAX_MICROS 1e17

static const char *role_of(struct str role)
{
    return str_eq(role, STR("user")) || str_eq(role, STR("human")) ? "user"
           : str_eq(role, STR("assistant")) || str_eq(role, STR("model")) ||
                   str_eq(role, STR("bot"))
               ? "assistant"
           : str_eq(role, STR("system")) ? "system"
           : str_eq(role, STR("tool"))   ? "tool"
                                         : NULL;
}

static bool time_of(const json_t *piece, int64_t *out_ms)
{
    static const char *const names[] = {"created_at", "timestamp", "time"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const json_t *value = json_object_get(piece, names[i]);
        double n = json_number_value(value);

        if (clock_parse(import_text(piece, names[i]), out_ms)) {
            return true;
        }
        n = n < MAX_SECONDS  ? n * 1000
            : n < MAX_MILLIS ? n
            : n < MAX_MICROS ? n / 1000
                             : n / 1000000;
        if (json_is_number(value) && n > 0 && n <= (double)CLOCK_MAX_MS) {
            *out_ms = (int64_t)n;
            return true;
        }
    }
    return false;
}

/* Whether an earlier line has this id, and other words. */
static enum clew_status is_used(struct importer *importer, struct str id,
                                struct str words, bool *out,
                                struct clew_error *err)
{
    json_t *ids = json_object_get(importer_memo(importer), IDS);
    char hex[SHA256_HEX_SIZE];
    struct str known;
    int failed = 0;

    if (!ids) {
        ids = json_object();
        failed = json_object_set_new(importer_memo(importer), IDS, ids);
    }
    sha256_hex_of(words, hex);
    known = json_text(json_object_getn(ids, id.s, id.len));
    *out = known.s && !str_eq(known, str_of(hex));
    if (!failed && !known.s) {
        failed =
            json_object_setn_new_nocheck(ids, id.s, id.len, json_string(hex));
    }
    return failed ? clew_no_memory(err) : CLEW_OK;
}

enum clew_status import_plain(struct importer *importer, json_t *piece,
                              int64_t number, struct clew_error *err)
{
    json_t *content = json_object_get(piece, "content");
    struct str given = import_id(piece, "id");
    struct str words = import_text(piece, "content");
    char own[SAID_ID_SIZE];
    struct import_message out = {.role = role_of(import_text(piece, "role")),
                                 .name = import_id(piece, "name"),
                                 .content = content};
    char *dumped = NULL;
    bool is_taken = false;
    enum clew_status status = CLEW_OK;

    if (number == 1) {
        (void)json_object_del(importer_memo(importer), LINE);
        (void)json_object_del(importer_memo(importer), IDS);
    }
    if (!out.role || (!json_is_string(content) && !json_is_array(content))) {
        return clew_fail(err, CLEW_INVALID,
                         "it has no \"role\" that is known, or no \"content\"");
    }
    out.parent = said_last(importer, STR(LINE));
    if (!time_of(piece, &out.created_at_ms)) {
        out.created_at_ms = clock_now_ms(&clock_system);
    }
    if (json_is_array(content)) {
        dumped = json_dumps(content, JSON_COMPACT);
        words = dumped ? str_of(dumped) : words;
    }
    if (given.s) {
        status = is_used(importer, given, words, &is_taken, err);
    }
    out.id = given.s && !is_taken
                 ? said_id("jsonl", given, (struct str){0}, own)
                 : said_hash("jsonl", out.parent, words, 0, 0, own);
    if (status == CLEW_OK && words.len == 0) {
        status = importer_skip(importer, out.id, out.parent, IMPORT_EMPTY, err);
    } else if (status == CLEW_OK) {
        status = importer_add(importer, &out, err);
        if (status == CLEW_OK) {
            status = said_set_last(importer, STR(LINE), out.id, err);
        }
    }
    alloc_free(dumped); /* jansson allocates through base/alloc.h */
    return status;
}
