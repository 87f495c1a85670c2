/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_token.c - tokens, stems, search terms, sentence marks.
 */
#include "support/test.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/rand.h"
#include "text/lexicon.h"
#include "text/stem.h"
#include "text/token.h"

#include <stdio.h>

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)256 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct tokens tokens_for(const char *text)
{
    struct tokens tokens;

    assert_int_equal(tokens_of(&arena, str_of(text), &tokens), CLEW_OK);
    return tokens;
}

static void append(char *out, size_t size, struct str text, bool is_part)
{
    size_t len = strlen(out);

    (void)snprintf(out + len, size - len, "%s%s%.*s", len ? " " : "",
                   is_part ? "+" : "", (int)text.len, text.s);
}

/* Folded forms joined by spaces, parts with a plus, no punctuation. */
static const char *folded(const char *text)
{
    static char out[2048];
    struct tokens tokens = tokens_for(text);

    out[0] = '\0';
    for (size_t i = 0; i < tokens.count; i++) {
        if (tokens.items[i].kind != TOKEN_PUNCT) {
            append(out, sizeof(out), tokens.items[i].folded,
                   tokens.items[i].flags & TOKEN_PART);
        }
    }
    return out;
}

static const char *terms(const char *text)
{
    static char out[2048];
    struct tokens tokens = tokens_for(text);
    struct str *items;
    size_t count;

    assert_int_equal(terms_of(&arena, &tokens, &items, &count), CLEW_OK);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        append(out, sizeof(out), items[i], false);
    }
    return out;
}

static void tokens_come_whole_and_in_parts(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"", ""},
        {"Hello, World!", "hello world"},
        {"I don't think it\xe2\x80\x99s Anna's.", "i don't think it's anna's"},
        {"getUserName", "getusername +get +user +name"},
        {"HTTPServer2", "httpserver2 +http +server +2"},
        {"snake_case_name", "snake_case_name +snake +case +name"},
        {"__init__", "init"},
        {"my-cool-lib", "my-cool-lib +my +cool +lib"},
        {"node.js and C++ or C#", "node.js +node +js and c++ +c or c# +c"},
        {"src/text/token.c:12", "src/text/token.c:12 +src +text +token +c +12"},
        {"/etc/nginx/nginx.conf", "/etc/nginx/nginx.conf +etc +nginx +nginx "
                                  "+conf"},
        {"~/.bashrc", "bashrc"},
        {"see ./run.sh", "see ./run.sh +run +sh"},
        {"C:\\Users\\Bob", "c:\\users\\bob +c +users +bob"},
        {"v1.2.3", "v1.2.3 +1.2"},
        {"Python 3.11", "python 3.11"},
        {"3.11.4-rc1", "3.11.4-rc1 +3 +11 +4 +rc1 +rc +1"},
        {"https://example.com/a/b?q=foo#bar.",
         "https://example.com/a/b?q=foo#bar +example +com +a +b +q +foo +bar"},
        {"(see https://en.wikipedia.org/wiki/C_(language))",
         "see https://en.wikipedia.org/wiki/c_(language) +en +wikipedia +org "
         "+wiki +c +language"},
        {"mail bob.smith@example.org now",
         "mail bob.smith@example.org +bob +smith +example +org now"},
        {"1,000,000 and 3.5 and 15:30", "1000000 and 3.5 and 15:30"},
        {"1,2,3", "1 2 3"},
        {"$50 or 50% off", "$ 50 or 50 % off"},
        {"10GB in 5km", "10gb +10 +gb in 5km +5 +km"},
        {"the 20th at 3pm", "the 20th +20 at 3pm +3 +pm"},
        {"std::vector", "std::vector +std +vector"},
        {"AT&T", "at&t +at +t"},
        {"HTTP 401", "http 401"},
        {"@alice fixed #42", "@alice fixed #42"},
        {"U.S. at 5 p.m. today", "us at 5 pm today"},
        {"That was great.I think", "that was great i think"},
        {"l'homme d'accord", "l homme d accord"},
        {"na\xc3\xafve caf\xc3\xa9", "na\xc3\xafve caf\xc3\xa9"},
        {"\xef\xbc\xa1\xef\xbc\xa2\xef\xbc\xa3", "abc"},
        {"Stra\xc3\x9f"
         "e",
         "strasse"},
        {"\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd ok", "\xf0\x9f\x91\x8d ok"},
        {"\xe4\xb8\x9c\xe4\xba\xac\xe9\x83\xbd",
         "\xe4\xb8\x9c\xe4\xba\xac +\xe4\xb8\x9c \xe4\xba\xac\xe9\x83\xbd "
         "+\xe4\xba\xac +\xe9\x83\xbd"},
        {"a\xff\xfe"
         "b",
         "a b"},
        {"well-known", "well-known +well +known"},
        {"user@host", "user@host +user +host"},
        {"_emphasis_ and *bold*", "emphasis and bold"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(folded(cases[i].text), cases[i].expected);
    }
}

static void terms_are_stems_without_stop_words(void **state)
{
    (void)state;
    assert_string_equal(terms("She was running to the stores"), "run store");
    assert_string_equal(terms("to be or not to be"), "to be or not to be");
    assert_string_equal(terms("E-mail me the invoices"), "email e mail invoic");
    assert_string_equal(terms("???"), "");
    assert_string_equal(terms("the caf\xc3\xa9"), "cafe");
    /* 钥匙在哪里, 鍵はどこ, and 哪里 where nothing else is said */
    assert_string_equal(terms("\xe9\x92\xa5\xe5\x8c\x99 "
                              "\xe5\x93\xaa\xe9\x87\x8c"),
                        "\xe9\x92\xa5\xe5\x8c\x99 \xe9\x92\xa5 "
                        "\xe5\x8c\x99 \xe9\x87\x8c");
    assert_string_equal(terms("\xe9\x8d\xb5 \xe3\x81\xa9\xe3\x81\x93"),
                        "\xe9\x8d\xb5");
    assert_string_equal(terms("\xe5\x93\xaa"), "\xe5\x93\xaa");
}

/* Every term of the question is among the terms of the answer. */
static bool meets(const char *question, const char *answer)
{
    struct tokens q = tokens_for(question);
    struct tokens a = tokens_for(answer);
    struct str *q_terms;
    struct str *a_terms;
    size_t n_q;
    size_t n_a;

    assert_int_equal(terms_of(&arena, &q, &q_terms, &n_q), CLEW_OK);
    assert_int_equal(terms_of(&arena, &a, &a_terms, &n_a), CLEW_OK);
    for (size_t i = 0; i < n_q; i++) {
        for (size_t j = 0; j < n_a; j++) {
            if (str_eq(q_terms[i], a_terms[j])) {
                return true;
            }
        }
    }
    return false;
}

static void questions_meet_their_answers_in_many_languages(void **state)
{
    static const char *const pairs[][2] = {
        {"Rechnungen", "Bitte schick mir die Rechnung f\xc3\xbcr den Kunden."},
        {"Rechnung", "Ich habe die Rechnungen gestern bezahlt."},
        {"H\xc3\xa4user", "Das Haus ist nicht alt."},
        {"Wo ist der Schl\xc3\xbcssel?",
         "Die Schl\xc3\xbcssel liegen auf dem Tisch."},
        {"facturas", "La factura no est\xc3\xa1 pagada todav\xc3\xad"
                     "a, pero la tengo."},
        {"les chevaux mangent", "Le cheval est dans le pr\xc3\xa9 et il mange"
                                " bien."},
        {"\xd0\xba\xd0\xbd\xd0\xb8\xd0\xb3\xd0\xb8",
         "\xd0\xaf \xd1\x87\xd0\xb8\xd1\x82\xd0\xb0\xd1\x8e "
         "\xd0\xba\xd0\xbd\xd0\xb8\xd0\xb3\xd1\x83"},
        {"\xe7\x8c\xab", "\xe6\x88\x91\xe7\x9a\x84\xe7\x8c\xab\xe5\x8f\xab"},
        {"\xe6\x9d\xb1\xe4\xba\xac\xe3\x82\xbf\xe3\x83\xaf\xe3\x83\xbc",
         "\xe6\x98\xa8\xe6\x97\xa5\xe6\x9d\xb1\xe4\xba\xac\xe3\x81\xab"},
        {"\xe0\xb8\xad\xe0\xb8\xb2\xe0\xb8\xab\xe0\xb8\xb2\xe0\xb8\xa3",
         "\xe0\xb8\x89\xe0\xb8\xb1\xe0\xb8\x99\xe0\xb8\x8a\xe0\xb8\xad\xe0\xb8"
         "\x9a\xe0\xb8\xad\xe0\xb8\xb2\xe0\xb8\xab\xe0\xb8\xb2\xe0\xb8\xa3"},
        {"\xed\x95\x99\xea\xb5\x90",
         "\xed\x95\x99\xea\xb5\x90\xec\x97\x90\xec\x84\x9c"},
        {"\xd9\x83\xd8\xaa\xd8\xa7\xd8\xa8",
         "\xd8\xa7\xd9\x84\xd9\x83\xd8\xaa\xd8\xa7\xd8\xa8 "
         "\xd8\xac\xd8\xaf\xd9\x8a\xd8\xaf"},
        {"user name", "call getUserName() first"},
        {"getUserName", "the getusername function"},
        {"token.c", "edit src/text/token.c please"},
        {"cafe", "the Caf\xc3\xa9 on the corner"},
        {"1000 dollars", "it cost $1,000"},
        {"email", "my e-mail address"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (!meets(pairs[i][0], pairs[i][1])) {
            fail_msg("\"%s\" does not meet \"%s\"", pairs[i][0], pairs[i][1]);
        }
    }
}

static void languages_are_told_apart(void **state)
{
    static const struct {
        const char *text;
        enum text_language language;
    } cases[] = {
        {"I went to the shop and bought bread", TEXT_ENGLISH},
        {"Ich war gestern im Laden und habe Brot gekauft", TEXT_GERMAN},
        {"Je suis all\xc3\xa9 au magasin et j'ai achet\xc3\xa9 du pain",
         TEXT_FRENCH},
        {"Ayer fui a la tienda y compr\xc3\xa9 pan para la cena", TEXT_SPANISH},
        {"Ieri sono andato al negozio e ho comprato il pane", TEXT_ITALIAN},
        {"Ontem eu fui \xc3\xa0 loja e n\xc3\xa3o comprei p\xc3\xa3o",
         TEXT_PORTUGUESE},
        {"Ik ben gisteren naar de winkel gegaan en heb brood gekocht",
         TEXT_DUTCH},
        {"The trip to Rio de Janeiro was great", TEXT_ENGLISH},
        {"a jalape\xc3\xb1o burger for M\xc3\xbcller", TEXT_ENGLISH},
        {"am dritten Tag war wir alles egal", TEXT_GERMAN},
        {"h\xc3\xa4ngt schon wieder", TEXT_GERMAN},
        {"on ram\xc3\xa8ne le colis ensuite", TEXT_FRENCH},
        {"cuanto se tarda en coche de valencia a teruel", TEXT_SPANISH},
        {"el ba\xc3\xb1o gotea otra vez", TEXT_SPANISH},
        {"il frigo perde acqua in cucina", TEXT_ITALIAN},
        {"sou cora\xc3\xa7\xc3\xa3o mole", TEXT_PORTUGUESE},
        {"\xd0\xba\xd1\x80\xd0\xb0\xd0\xbd "
         "\xd1\x82\xd0\xb5\xd1\x87\xd1\x91\xd1\x82",
         TEXT_RUSSIAN},
        {"Rechnungen", TEXT_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tokens tokens = tokens_for(cases[i].text);

        if (tokens.language != cases[i].language) {
            fail_msg("\"%s\": %d", cases[i].text, (int)tokens.language);
        }
    }
}

/* The text with a bar before every sentence but the first. */
static const char *sentences(const char *text)
{
    static char out[2048];
    struct tokens tokens = tokens_for(text);
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < tokens.count; i++) {
        size_t len = strlen(out);

        if (tokens.items[i].flags & TOKEN_BREAK && i > 0) {
            (void)snprintf(out + len, sizeof(out) - len, "%.*s|",
                           (int)(tokens.items[i].from - at), text + at);
            at = tokens.items[i].from;
        }
    }
    (void)snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s",
                   text + at);
    return out;
}

static void sentences_end_where_people_end_them(void **state)
{
    static const char *const cases[] = {
        "One. |Two! |Three? |Four",
        "Dr. Smith met Mrs. Jones at 3.5 km. |He left.",
        "It costs $3.50 vs. $4. |Fine.",
        "J. R. Smith wrote it. |I read it.",
        "She said \"Stop!\" |Then she left.",
        "He asked \"why?\" and left.",
        "Wait... |What happened?",
        "wait... what happened",
        "I use node.js. |It works, e.g. for servers, i.e. always.",
        "in the U.S. |They said so. |At 5 p.m. we go.",
        "Really?! |Yes.",
        "Things:\n|- milk\n|- eggs\n|1. First\n|2. Second",
        "a wrapped line\nthat goes on. |Next",
        "Title\n\n|body text",
        "Look:\n|```c\nint main(void) { return 0. }\n```\n|Done. |Yes",
        ("\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x82|\xe5\x86\x8d\xe8\xa7\x81\xef\xbc"
         "\x81|\xe5\xa5\xbd"),
        "I have plan B. |The rest is easy.",
        "version 1.2.3 is out. |Get it at example.com. |Bye",
        "ok. |sure, why not",
        "> quoted text\n|my answer",
        "It fails: \"! LaTeX Error: Too many floats.\" |I have nineteen.",
        "It said \"No such file.\" and stopped. |Odd.",
        "Is that so (?) or not? |No",
        "He wrote \xe2\x80\x9c? Who\xe2\x80\x9d on it. |Nobody knew.",
        "! Undefined control sequence. |See line 5.",
        "\"Stop!\" |\"Why?\" |Nobody said more.",
        "Bonjour ! |Comment vas-tu ? |Bien.",
    };
    char plain[512];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n = 0;

        for (const char *p = cases[i]; *p; p++) {
            if (*p != '|') {
                plain[n++] = *p;
            }
        }
        plain[n] = '\0';
        assert_string_equal(sentences(plain), cases[i]);
    }
}

static uint16_t flags_of(const char *text, const char *word)
{
    struct tokens tokens = tokens_for(text);

    for (size_t i = 0; i < tokens.count; i++) {
        if (str_eq(tokens.items[i].folded, str_of(word))) {
            return tokens.items[i].flags;
        }
    }
    fail_msg("no \"%s\" in \"%s\"", word, text);
    return 0;
}

static void flags_say_where_a_token_stands(void **state)
{
    (void)state;
    assert_true(flags_of("We met Anna", "anna") & TOKEN_CAPITAL);
    assert_true(flags_of("We met Anna", "we") & TOKEN_SENTENCE_START);
    assert_false(flags_of("We met Anna", "anna") & TOKEN_SENTENCE_START);
    assert_true(flags_of("the NASA plan", "nasa") & TOKEN_ALL_CAPS);
    assert_true(flags_of("the plan", "the") & TOKEN_STOP);
    assert_false(flags_of("the US plan", "us") & TOKEN_STOP);
    assert_true(flags_of("they told us", "us") & TOKEN_STOP);
    assert_true(flags_of("run `make` now", "make") & TOKEN_IN_CODE);
    assert_false(flags_of("run `make` now", "now") & TOKEN_IN_CODE);
    assert_true(flags_of("```\nmake\n```\nnow", "make") & TOKEN_IN_FENCE);
    assert_false(flags_of("```\nmake\n```\nnow", "now") & TOKEN_IN_CODE);
    assert_true(flags_of("> was it\nyes", "it") & TOKEN_IN_QUOTE);
    assert_false(flags_of("> was it\nyes", "yes") & TOKEN_IN_QUOTE);
}

static void offsets_point_at_the_source(void **state)
{
    const char *text = "Caf\xc3\xa9 at getUser\xe2\x80\x99s \xf0\x9f\x98\x80";
    struct tokens tokens = tokens_for(text);

    (void)state;
    for (size_t i = 0; i < tokens.count; i++) {
        assert_true(tokens.items[i].from < tokens.items[i].to);
        assert_true(tokens.items[i].to <= strlen(text));
    }
    assert_int_equal(tokens.items[0].to, 5);
}

static void stems_of_the_lexicon_are_those_of_the_stemmer(void **state)
{
    static const char *const words[] = {
        "running", "happiness", "universities", "connection",
        "daily",   "mother's",  "questions",    "studies"};

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct str word = str_of(words[i]);
        struct lex_word entry;
        struct str stem;

        assert_true(stem_word(&arena, word, TEXT_ENGLISH, &stem));
        assert_true(lexicon_find(word, str_hash(word), &entry));
        assert_true(str_eq(stem, entry.stem));
    }
}

static void a_huge_text_stops_at_the_token_limit(void **state)
{
    size_t len = (size_t)LIMIT_CONTENT_BYTES;
    char *text = malloc(len);
    struct tokens tokens;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < len; i++) {
        text[i] = i % 3 == 2 ? ' ' : 'x';
    }
    assert_int_equal(tokens_of(&arena, (struct str){text, len}, &tokens),
                     CLEW_OK);
    assert_int_equal(tokens.count, LIMIT_TEXT_TOKENS);
    assert_true(tokens.end < len);
    memset(text, 'a', len);
    assert_int_equal(tokens_of(&arena, (struct str){text, len}, &tokens),
                     CLEW_OK);
    assert_int_equal(tokens.items[0].folded.len, LIMIT_TOKEN_BYTES);
    assert_int_equal(tokens.end, len);
    assert_true(arena.used_bytes < (size_t)128 << 20);
    free(text);
}

static void a_small_arena_gives_no_memory(void **state)
{
    struct arena small;
    struct tokens tokens;

    (void)state;
    arena_init(&small, 300);
    assert_int_equal(
        tokens_of(&small, STR("one two three four five six"), &tokens),
        CLEW_NO_MEMORY);
    arena_release(&small);
}

/* A turn of megabytes without a blank is all such "words". */
static void what_is_longer_than_any_word_is_not_stemmed(void **state)
{
    static const char end[] = "walkings";
    char text[128];
    struct str stem;

    (void)state;
    memset(text, 'o', sizeof(text));
    memcpy(text + sizeof(text) - strlen(end), end, strlen(end));
    assert_true(stem_word(&arena, (struct str){text, sizeof(text)},
                          TEXT_ENGLISH, &stem));
    assert_int_equal(stem.len, sizeof(text));
    assert_true(stem_word(&arena, (struct str){text + 64, 64}, TEXT_ENGLISH,
                          &stem));
    assert_int_equal(stem.len, 64 - strlen("ings"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_longer_than_any_word_is_not_stemmed),
        cmocka_unit_test(tokens_come_whole_and_in_parts),
        cmocka_unit_test(terms_are_stems_without_stop_words),
        cmocka_unit_test(questions_meet_their_answers_in_many_languages),
        cmocka_unit_test(languages_are_told_apart),
        cmocka_unit_test(sentences_end_where_people_end_them),
        cmocka_unit_test(flags_say_where_a_token_stands),
        cmocka_unit_test(offsets_point_at_the_source),
        cmocka_unit_test(stems_of_the_lexicon_are_those_of_the_stemmer),
        cmocka_unit_test(a_huge_text_stops_at_the_token_limit),
        cmocka_unit_test(a_small_arena_gives_no_memory),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
