/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_option.c - passwords on a command line whose option does not say so:
 * "mysql -pSECRET", "curl -u user:SECRET". What "-p" means depends on the
 * program, which stands before it on the line.
 */
#include "base/utf8.h"
#include "text/secret_internal.h"

#include <string.h>

#define MAX_LINE 200
#define MAX_VALUE 256
#define MIN_VALUE 3

enum form {
    GLUED = 1 << 0, /* -pSECRET */
    APART = 1 << 1, /* -a SECRET */
    USER = 1 << 2   /* -u user:SECRET */
};

static const struct option {
    const char *program;
    const char *option;
    unsigned form;
} options[] = {
    {"mysql", "-p", GLUED},
    {"mariadb", "-p", GLUED},
    {"7z", "-p", GLUED},
    {"sshpass", "-p", GLUED | APART},
    {"docker login", "-p", APART},
    {"podman login", "-p", APART},
    {"mongo", "-p", APART},
    {"unzip", "-P", GLUED | APART},
    {"zip", "-P", APART},
    {"sqlcmd", "-P", GLUED | APART},
    {"redis-cli", "-a", APART},
    {"ldap", "-w", APART},
    {"http", "-a", APART | USER},
    {"curl", "-u", GLUED | APART | USER},
    {"curl", "--user", APART | USER},
    {"curl", "--proxy-user", APART | USER},
};

static bool has_program(struct str text, size_t at, const char *program)
{
    struct str line = str_sub(text, at > MAX_LINE ? at - MAX_LINE : 0, at);
    const char *end = memrchr(line.s, '\n', line.len);
    size_t from = end ? (size_t)(end - line.s) : 0;

    return str_find(line, str_of(program), from) != SIZE_MAX;
}

static bool ends_word(unsigned char c, unsigned char quote)
{
    return quote ? c == quote || c == '\n' : c <= ' ' || strchr("\"'`|;", c);
}

/* The value at `at`, its quotes taken off; after "user:" with USER. */
static bool read_word(struct str text, size_t at, unsigned form,
                      struct secret_span *out)
{
    size_t quote_len = secret_quote_at(text, at);
    unsigned char quote =
        quote_len ? (unsigned char)text.s[at + quote_len - 1] : 0;
    size_t from;
    size_t end;
    struct str value;

    if (quote >= 0x80) {
        return false; /* no shell's */
    }
    from = at + quote_len;
    end = from;
    while (end < text.len && end < from + MAX_VALUE &&
           !ends_word((unsigned char)text.s[end], quote)) {
        end++;
    }
    end = utf8_cut(text, end);
    while (end > from && text.s[end - 1] == '\\') {
        end--;
    }
    if (form & USER) {
        const char *colon = memchr(text.s + from, ':', end - from);

        if (!colon) {
            return false;
        }
        from = (size_t)(colon - text.s) + 1;
    }
    value = str_sub(text, from, end);
    *out = (struct secret_span){from, end, SECRET_PASSWORD};
    return value.len >= MIN_VALUE && value.s[0] != '-' && value.s[0] != '*' &&
           value.s[0] != '/' && !secret_is_template(value);
}

bool secret_option(struct str text, size_t at, struct secret_span *out)
{
    unsigned char before = at > 0 ? (unsigned char)text.s[at - 1] : 'x';

    if (before != ' ' && before != '\t' && before != '"' && before != '\'') {
        return false;
    }
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const struct option *o = &options[i];
        struct str name = str_of(o->option);
        size_t end = at + name.len;
        size_t value;

        if (!str_starts(str_sub(text, at, end), name) || end >= text.len) {
            continue;
        }
        value = secret_skip_blanks(text, end);
        if (text.s[end] == '=') {
            value = end + 1;
        } else if (!(o->form & (value > end ? APART : GLUED))) {
            continue;
        }
        if (has_program(text, at, o->program) &&
            read_word(text, value, o->form, out)) {
            return true;
        }
    }
    return false;
}
