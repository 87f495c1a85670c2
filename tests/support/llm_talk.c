/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_talk.c - a talk that a language model reads. See llm_talk.h.
 */
#include "support/fake_http.h"
#include "support/llm_talk.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/core/trace.h"
#include "engine/proof/rebuild.h"
#include "engine/thought/memory_view.h"
#include "model/llm.h"
#include "task/worker.h"

#include <stdio.h>
#include <stdlib.h>

#define PAUSE_MS (121 * 1000)

struct fake_http *fake;

void open_model(const char *kind)
{
    struct llm_options options = {.url = fake_http_url(fake),
                                  .kind = kind,
                                  .model = "test",
                                  .timeout_ms = 60 * 1000,
                                  .clock = &talk.world.clock};

    llm_close(talk.world.engine.llm);
    talk.world.engine.llm = NULL;
    assert_int_equal(llm_open(&options, &talk.world.engine.llm, NULL), CLEW_OK);
}

int open_as(const char *mode)
{
    fake = fake_http_open(NULL);
    setenv("CLEW_LLM_READ", mode, 1);
    setenv("CLEW_LLM_INTENT", "false", 1);
    talk_open(&talk);
    unsetenv("CLEW_LLM_READ");
    unsetenv("CLEW_LLM_INTENT");
    open_model("openai");
    return 0;
}

int open_all(void **state)
{
    (void)state;
    return open_as("all");
}

int close_all(void **state)
{
    (void)state;
    llm_close(talk.world.engine.llm);
    talk.world.engine.llm = NULL;
    talk_close(&talk);
    fake_http_close(fake);
    return 0;
}

/* --- helpers --------------------------------------------------------------
 */

/* The model writes `text` (any text). */
void answer_text(const char *text)
{
    json_t *reply = json_pack("{s:[{s:{s:s}}], s:{s:i, s:i}}", "choices",
                              "message", "content", text, "usage",
                              "prompt_tokens", 900, "completion_tokens", 100);
    char *body = json_dumps(reply, 0);

    assert_non_null(body);
    fake_http_answer(fake, 200, arena_string(&talk.world.arena, body));
    json_decref(reply);
    free(body);
}

static void answer_quoted(char *text)
{
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    answer_text(text);
}

/* An answer of the four lists; "'" stands for a quotation mark. */
void answer(const char *notes, const char *efforts, const char *wrong,
            const char *not_efforts)
{
    answer_quoted(arena_printf(&talk.world.arena,
                               "{'notes':[%s],'efforts':[%s],'wrong':[%s],"
                               "'not_efforts':[%s]}",
                               notes, efforts, wrong, not_efforts));
}

void answer_chats(const char *continues)
{
    answer_quoted(arena_printf(&talk.world.arena,
                               "{'notes':[],'efforts':[],'wrong':[],"
                               "'not_efforts':[],'continues':[%s]}",
                               continues));
}

void run_tasks(void)
{
    size_t run = 0;

    assert_int_equal(worker_run_due(&talk.world.engine, 100, &run, NULL),
                     CLEW_OK);
}

/* Nothing is said for a while. */
void pause_talk(void)
{
    clock_add_ms(&talk.world.clock, PAUSE_MS);
    run_tasks();
}

/* Was the last question one of these? Summaries are asked for too. */
bool was_asked(void)
{
    return strstr(fake_http_seen(fake), "You read a stretch") != NULL;
}

size_t list_of(const char *origin, struct memory_view **out)
{
    struct memory_filter filter = {.origin = str_of(origin), .limit = 100};
    size_t count = 0;

    assert_int_equal(memory_view_list(&talk.world.engine, &talk.world.scope,
                                      &talk.world.arena, &filter, out, &count,
                                      NULL),
                     CLEW_OK);
    return count;
}

size_t count_origin(const char *origin)
{
    struct memory_view *views = NULL;

    return list_of(origin, &views);
}

/* The note with these words, of this origin; NULL if there is none. */
const struct memory_view *find(const char *origin, const char *words)
{
    struct memory_view *views = NULL;
    size_t count = list_of(origin, &views);

    for (size_t i = 0; i < count; i++) {
        if (str_find(views[i].memory.summary, str_of(words), 0) != SIZE_MAX) {
            return &views[i];
        }
    }
    return NULL;
}

const char *trace(void)
{
    struct trace trace;

    assert_int_equal(trace_get(&talk.world.engine, &talk.world.scope,
                               &talk.world.arena, &talk.last.turn.id, &trace,
                               NULL),
                     CLEW_OK);
    return trace.data.s;
}

struct rebuild_report rebuild(bool is_dry_run)
{
    struct rebuild_options options = {.is_dry_run = is_dry_run};
    struct rebuild_report report = {0};

    assert_int_equal(rebuild_run(&talk.world.engine, &talk.world.scope,
                                 &talk.world.arena, &options, &report, NULL),
                     CLEW_OK);
    return report;
}

/* All that is derived follows from the log, and nobody is asked. */
void assert_sound(void)
{
    struct llm *llm = talk.world.engine.llm;
    struct rebuild_report report;

    talk.world.engine.llm = NULL;
    report = rebuild(true);
    assert_int_equal(report.n_differences, 0);
    assert_int_equal(report.n_skipped, 0);
    talk.world.engine.llm = llm;
}

/* The label the model was shown for a note or an effort that says this. */
const char *label_of(const char *kind, const char *says)
{
    static char label[8];
    const char *seen = fake_http_seen(fake);
    const char *at = seen;
    const char *from;

    /* turns come first, then efforts, then notes */
    for (const char *next = strstr(seen, says);
         next && (kind[0] == 'n' || strstr(at, "\\\"efforts\\\""));
         next = strstr(next + 1, says)) {
        at = next;
    }
    from = at;
    while (from > seen && strncmp(from, kind, strlen(kind)) != 0) {
        from--;
    }
    assert_true(from > seen);
    (void)snprintf(label, sizeof(label), "%s", strchr(from, ':') + 3);
    return label;
}
