/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_internal.h - what the files of secret_scan.h share. Private to text/.
 */
#ifndef TEXT_SECRET_INTERNAL_H
#define TEXT_SECRET_INTERNAL_H

#include "text/secret_scan.h"

#include <stdint.h>

/* What the rest of a key may hold. */
enum secret_rest {
    REST_ALNUM,  /* letters and digits */
    REST_UPPER,  /* capitals and digits */
    REST_HEX,    /* hexadecimal */
    REST_WORD,   /* letters, digits, _ and - */
    REST_DOTTED, /* the same and dots */
};

/* A prefix by which a provider's keys are known. */
struct secret_prefix {
    const char *text;
    enum secret_rest rest;
    uint16_t min; /* bytes of the rest */
    uint16_t max;
};
extern const struct secret_prefix secret_prefixes[]; /* by first letter */
extern const size_t secret_n_prefixes;

/* What a word says that comes next. */
enum secret_say {
    SAY_PASSWORD,
    SAY_WEAK,   /* a password, or something else: only what looks like one */
    SAY_PHRASE, /* a password of several words */
    SAY_PIN,
    SAY_CVV,
    SAY_KEY,
    SAY_AUTH,     /* a key, a scheme's name before it */
    SAY_BARE,     /* "key" alone: what looks random */
    SAY_PAIR,     /* a user, and a password after it: "login: ada / …" */
    SAY_LOCK,     /* the code of a door or a safe, where one is named */
    SAY_ARGS,     /* a command that is given a user and a password */
    SAY_SPACELESS /* a password, in a language without spaces */
};
enum secret_label_flags {
    LABEL_ENDS = 1 << 0,  /* also at the end of a longer word: PGPASSWORD */
    LABEL_STEM = 1 << 1,  /* endings may follow: hasła, şifrem */
    LABEL_FIRST = 1 << 2, /* not after another word: "bus pass" */
    LABEL_LINE = 1 << 3,  /* a setting, whose value is the rest of its line */
    LABEL_SHARE = 1 << 4 /* a command: the password is told after "\\\\share" */
};
struct secret_label {
    const char *text; /* in small letters */
    enum secret_say say;
    unsigned flags;
};
extern const struct secret_label secret_labels[]; /* by their bytes */
extern const size_t secret_n_labels;

/* How label and value are joined: the less it says, the more the value must
 * look like one. */
enum secret_join {
    JOIN_MARK,    /* ":", "=" */
    JOIN_IS,      /* "is" */
    JOIN_TOLD,    /* "lautet": what comes is a word or a number, as it is */
    JOIN_FOREIGN, /* "ist", "es": a word after it may be any adjective */
    JOIN_GAP,     /* words between, or "changed … to" */
    JOIN_NONE
};

/* A word for "is". */
struct secret_is {
    const char *text;
    enum secret_join join;
};
extern const struct secret_is secret_is[];
extern const char *const secret_is_spaceless[];

/* Where a password is said, and what. */
struct saying {
    struct str text;
    enum secret_say say;
    enum secret_join join;
    bool is_tight;  /* "key=value" */
    bool is_quoted; /* the value */
    bool is_below;  /* the value is on the line after the mark */
    size_t from;    /* of the value */
    size_t to;
};

/* Words, in small letters and the order of their bytes. */
enum secret_list_id {
    LIST_PLAIN,  /* may stand there and is no password: "required", "falsch" */
    LIST_OTHER,  /* makes another matter of "password" before it: "policy" */
    LIST_NAME,   /* leaves a name what it was: "password_prod" */
    LIST_CODE,   /* of a variable, no value: "self", "env" */
    LIST_FILLER, /* between "is" and the value: "now", "still" */
    LIST_LOCK,   /* what opens by a code: "door", "Tresor" */
    LIST_CODED,  /* before "code", makes another matter of it: "error" */
    SECRET_N_LISTS
};
struct secret_list {
    const char *const *words;
    size_t count;
};
extern const struct secret_list secret_lists[SECRET_N_LISTS];
/* Is the word, whatever its case, one of the list? */
bool secret_has_word(enum secret_list_id id, struct str word);

static inline bool secret_is_alnum(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
}

static inline unsigned char secret_small(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

static inline unsigned char secret_capital(unsigned char c)
{
    return c >= 'a' && c <= 'z' ? (unsigned char)(c - 32) : c;
}

/* Is a letter before `at` none, but the end of "\n" or "%20"? */
static inline bool secret_is_escaped(struct str text, size_t at)
{
    return (at >= 2 && text.s[at - 2] == '\\' &&
            (text.s[at - 1] == 'n' || text.s[at - 1] == 'r' ||
             text.s[at - 1] == 't')) ||
           (at >= 3 && text.s[at - 3] == '%');
}

/* Do the bytes at `at` begin with `word`, whatever their case? */
bool secret_starts(struct str text, size_t at, const char *word);
/* Past blanks, some at most. */
size_t secret_skip_blanks(struct str text, size_t at);
/* The letters from `at` that make a word (ASCII or not). */
struct str secret_word_at(struct str text, size_t at);
/* A quotation mark at `at`, with the backslashes before it; bytes, or 0. */
size_t secret_quote_at(struct str text, size_t at);
/* Bytes of a line's end at `at`, also as "\n" is written in JSON; or 0. */
size_t secret_line_end_at(struct str text, size_t at);
/* "${VAR}", "<your password>", "os.environ[…]", "input(…)". */
bool secret_is_template(struct str value);

/* Set the value that begins at `at`; false if there is none. */
bool secret_read_value(struct saying *s, size_t at);
/* Does the value look as it must for how it was said? */
bool secret_is_value(const struct saying *s);
/* Letters and digits or signs, six at least: no word, no number. */
bool secret_is_hard(struct str value);

/* Do the words around a label tell of a door, a safe or their like? */
bool secret_is_lock(struct str text, size_t label, size_t end);
/* Set the value at `at` of SAY_PAIR or SAY_LOCK; false if none looks like it.
 */
bool secret_beside(struct saying *s, size_t at);
/* The password of a command that ends at `at`. */
bool secret_args(struct saying *s, unsigned flags, size_t at);

/* Where a value that is one ends, however long it is. */
size_t secret_value_end(const struct saying *s);

/* A password or key said as such, whose label begins at `at`. */
bool secret_said(struct str text, size_t at, struct secret_span *out);
/* A password or key told before its label, which is from `label` to `end`. */
bool secret_before(struct saying *s, size_t label, size_t end);
/* A card's number that begins at `at`. */
bool secret_card(struct str text, size_t at, struct secret_span *out);
/* A password given to a program, whose option begins at `at`. */
bool secret_option(struct str text, size_t at, struct secret_span *out);
/* One that is piped to a program ("|" or "<<<" at `at`), before or after. */
bool secret_piped(struct str text, size_t at, struct secret_span *out);

#endif
