/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.c - fuzz: any text is read by the rules and notes are taken of it; what
 * is cited lies in the text, and chances are chances.
 *
 * The first byte chooses who speaks, the second where the turn before it ends;
 * the rest is that turn and the turn itself.
 */
#include "talk/rule_reader.h"
#include "talk/select.h"
#include "talk/slots.h"
#include "talk/statement.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

static void check_cite(struct str text, struct select_cite cite)
{
    require(cite.from <= cite.to && cite.to <= text.len);
}

static void check_notes(struct arena *arena, const struct select_turn *turn,
                        struct str before)
{
    struct select_input input = {.turn = turn, .before = before};
    struct select_opening opening = {0};
    struct select_note *notes = NULL;
    struct str ending = {NULL, 0};
    size_t count = 0;

    require(select_notes(arena, &input, &notes, &count) == CLEW_OK);
    require(count <= SELECT_MAX_NOTES);
    for (size_t i = 0; i < count; i++) {
        require(notes[i].keep != READER_KEEP_NONE);
        require(notes[i].summary.len > 0);
        require(notes[i].n_tags <= SELECT_MAX_TAGS);
        check_cite(turn->text, notes[i].cite);
    }
    require(select_opening(arena, turn, &opening) == CLEW_OK);
    check_cite(turn->text, opening.cite);
    require(select_ending(arena, turn, &ending) == CLEW_OK);
}

static void check_statements(struct arena *arena, struct str before,
                             struct str text)
{
    struct statement a;
    struct statement b;
    struct slot old;
    struct slot new;

    if (statement_of(arena, before, &a) && statement_of(arena, text, &b)) {
        (void)statement_disagrees(&a, &b);
    }
    if (slot_of(arena, before, STR("ada"), &old) &&
        slot_of(arena, text, STR("ada"), &new)) {
        (void)slot_compare(&old, &new);
    }
}

static void read_talk(struct arena *arena, bool is_assistant, struct str before,
                      struct str text)
{
    struct analysis_options options = {.time_ms = 1771200000000LL};
    struct reader_sentence *read;
    struct analysis analysis;
    struct intent intent;
    struct select_turn turn = {.text = text,
                               .is_assistant = is_assistant,
                               .timezone = STR("Europe/Berlin"),
                               .analysis = &analysis};

    require(analysis_run(arena, text, &options, &analysis, NULL) == CLEW_OK);
    require(intent_of(arena, text, before, &intent) == CLEW_OK);
    read = arena_zero(arena, analysis.n_sentences + 1, sizeof(*read));
    require(read != NULL);
    require(rule_read(arena, &analysis, &intent, read) == CLEW_OK);
    require(rule_lift(arena, &analysis, STR("ada"), read) == CLEW_OK);
    for (size_t i = 0; i < analysis.n_sentences; i++) {
        for (size_t k = 0; k < READER_KEEPS; k++) {
            require(read[i].keep[k] >= 0 && read[i].keep[k] <= 1.0001F);
        }
    }
    (void)rule_ending(read, analysis.n_sentences);
    turn.read = read;
    check_notes(arena, &turn, before);
    check_statements(arena, before, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *bytes = (const char *)data + 2;
    struct arena arena;
    size_t cut;

    if (len < 2) {
        return 0;
    }
    cut = len > 2 ? data[1] % (len - 1) : 0;
    arena_init(&arena, 1 << 28);
    read_talk(&arena, (data[0] & 1) != 0, (struct str){bytes, cut},
              (struct str){bytes + cut, len - 2 - cut});
    arena_release(&arena);
    return 0;
}
