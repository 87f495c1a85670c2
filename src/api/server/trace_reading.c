/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_reading.c - what the reader saw in a turn, for its trace.
 */
#include "api/server/trace_reading.h"

#include "api/answer/forms.h"
#include "api/api.h"
#include "engine/understand/seen.h"

/* A flag that is likelier set than not is told. */
#define SET 0.5f

static const char *const keeps[READER_KEEPS] = {
    "nothing",  "fact",        "preference", "event",
    "decision", "instruction", "report"};
static const char *const flags[READER_FLAGS] = {"hedged", "quoted", "supposed",
                                                "negated"};
static const char *const abouts[READER_ABOUTS] = {"self", "you", "other",
                                                  "thing"};
static const char *const acts[READER_ACTS] = {"none",  "opens",    "goes_on",
                                              "fails", "resolves", "abandons"};

/* The likeliest of `n`, by name, and how sure it is. */
static bool set_best(json_t *out, const char *field, const char *sure,
                     const char *const *names, const float *p, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++) {
        best = p[i] > p[best] ? i : best;
    }
    return json_set_cstr(out, field, names[best]) &&
           json_set_score(out, sure, (double)p[best]);
}

static json_t *form_sentence(const struct seen_sentence *sentence)
{
    const struct reader_sentence *read = &sentence->read;
    json_t *out = json_object();
    json_t *set = json_array();
    bool is_ok =
        json_set_str(out, "text", sentence->text) &&
        set_best(out, "keep", "keep_score", keeps, read->keep, READER_KEEPS) &&
        set_best(out, "act", "act_score", acts, read->act, READER_ACTS) &&
        set_best(out, "about", "about_score", abouts, read->about,
                 READER_ABOUTS);

    for (size_t i = 0; i < READER_FLAGS && is_ok; i++) {
        is_ok = read->flag[i] < SET ||
                json_array_append_new(set, json_string(flags[i])) == 0;
    }
    is_ok = json_set(out, "flags", set) && is_ok;
    return form_finish(out, is_ok);
}

enum clew_status trace_add_reading(struct api_call *call, const struct uuid *id,
                                   json_t *decisions, struct clew_error *err)
{
    struct seen seen;
    json_t *out;
    json_t *list;
    bool is_ok;
    enum clew_status status =
        seen_get(call->engine, &call->scope, call->arena, id, &seen, err);

    if (status != CLEW_OK || seen.count == 0) {
        /* the trace of a captured call */
        return status == CLEW_NOT_FOUND ? CLEW_OK : status;
    }
    out = json_object();
    list = json_array();
    is_ok = json_set_cstr(out, "by", seen.reader);
    for (size_t i = 0; i < seen.count && is_ok; i++) {
        is_ok =
            json_array_append_new(list, form_sentence(&seen.sentences[i])) == 0;
    }
    is_ok = json_set(out, "sentences", list) && is_ok;
    return json_set(decisions, "reading", out) && is_ok ? CLEW_OK
                                                        : clew_no_memory(err);
}
