/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_option.c - passwords on a command line whose option does not say so:
 * "mysql -pSECRET", "curl -u user:SECRET", and those that are piped to a
 * program: "echo SECRET | sudo -S id". What "-p" means depends on the program,
 * which stands before it on the line.
 */
#include "base/utf8.h"
#include "text/secret_internal.h"

#include <string.h>

#define MAX_LINE 200
#define MAX_VALUE 256
#define MIN_VALUE 3
#define MIN_TYPED 6 /* of small letters only */

enum form {
    GLUED = 1 << 0,   /* -pSECRET */
    APART = 1 << 1,   /* -a SECRET */
    USER = 1 << 2,    /* -u user:SECRET */
    PERCENT = 1 << 3, /* -U user%SECRET */
    SOURCE = 1 << 4,  /* -pass pass:SECRET; others say where it is */
    SECOND = 1 << 5,  /* -b FILE USER SECRET */
    COMMA = 1 << 6,   /* -u user,SECRET */
    STRONG = 1 << 7,  /* it may be anything: what looks like one */
    NO_PORT = 1 << 8, /* as STRONG, but for words */
};

static const struct option {
    const char *program;
    const char *option;
    unsigned form;
} options[] = {
    {"mysql", "-p", GLUED},
    {"mariadb", "-p", GLUED},
    {"7z", "-p", GLUED},
    {"rar", "-p", GLUED},
    {"rar", "-hp", GLUED},
    {"sshpass", "-p", GLUED | APART},
    {"docker login", "-p", APART | NO_PORT},
    {"podman login", "-p", APART | NO_PORT},
    {"login", "-p", APART | STRONG},
    {"mongo", "-p", APART},
    {"cqlsh", "-p", APART},
    {"beeline", "-p", APART},
    {"rdesktop", "-p", APART},
    {"psexec", "-p", APART},
    {"ipmitool", "-P", APART},
    {"mosquitto_", "-P", APART},
    {"isql", "-P", GLUED | APART},
    {"bcp", "-P", GLUED | APART},
    {"unzip", "-P", GLUED | APART},
    {"zip", "-P", APART},
    {"sqlcmd", "-P", GLUED | APART},
    {"redis-cli", "-a", APART},
    {"ldap", "-w", APART},
    {"http", "-a", APART | USER},
    {"curl", "-u", GLUED | APART | USER},
    {"curl", "--user", APART | USER},
    {"curl", "--proxy-user", APART | USER},
    {"wget", "--user", APART | USER},
    {"lftp", "-u", APART | COMMA},
    {"", "-u", APART | USER | STRONG},
    {"", "--user", APART | USER | STRONG},
    {"", "--creds", APART | USER | STRONG},
    {"", "--src-creds", APART | USER | STRONG},
    {"", "--dest-creds", APART | USER | STRONG},
    {"smbclient", "-U", GLUED | APART | PERCENT},
    {"openssl", "-pass", APART | SOURCE},
    {"openssl", "-passin", APART | SOURCE},
    {"openssl", "-passout", APART | SOURCE},
    {"apksigner", "--ks-pass", APART | SOURCE},
    {"apksigner", "--key-pass", APART | SOURCE},
    {"", "-storepass", APART},
    {"", "-keypass", APART},
    {"", "-srcstorepass", APART},
    {"", "-deststorepass", APART},
    {"", "-srckeypass", APART},
    {"", "-destkeypass", APART},
    {"htpasswd", "-b", APART | SECOND},
    {"htpasswd", "-bc", APART | SECOND},
    {"htpasswd", "-cb", APART | SECOND},
    {"htpasswd", "-bB", APART | SECOND},
    {"htpasswd", "-Bb", APART | SECOND},
    {"mosquitto_passwd", "-b", APART | SECOND},
};

/* Who reads a password from its input, and by which option. */
static const struct reader {
    const char *program;
    const char *option; /* "" is always */
    unsigned form;
} readers[] = {
    {"sudo", "-S", 0},
    {"sudo", "--stdin", 0},
    {"login", "--password-stdin", 0},
    {"passwd", "--stdin", 0},
    {"chpasswd", "", USER},
    {"gpg", "--passphrase-fd", 0},
    {"cryptsetup", "", 0},
    {"kinit", "", 0},
    {"smbpasswd", "-s", 0},
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

/* Past what stands before the password in the word of these bytes; SIZE_MAX
 * if there is none. */
static size_t password_in(struct str word, unsigned form)
{
    const char *mark;

    if (form & SOURCE) {
        return str_starts(word, STR("pass:")) ? 5 : SIZE_MAX;
    }
    if (!(form & (USER | PERCENT | COMMA))) {
        return 0;
    }
    mark = memchr(word.s,
                  form & USER    ? ':'
                  : form & COMMA ? ','
                                 : '%',
                  word.len);
    return mark ? (size_t)(mark - word.s) + 1 : SIZE_MAX;
}

/* Past so many words. */
static size_t skip_words(struct str text, size_t at, size_t count)
{
    for (; count > 0; count--) {
        while (at < text.len && (unsigned char)text.s[at] > ' ') {
            at++;
        }
        at = secret_skip_blanks(text, at);
    }
    return at;
}

/* "8080:80" */
static bool is_port(struct str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.s[i] != ':' && (value.s[i] < '0' || value.s[i] > '9')) {
            return false;
        }
    }
    return true;
}

static bool is_password(struct str value, unsigned form)
{
    if (value.len < MIN_VALUE || strchr("-*/", value.s[0]) ||
        secret_is_template(value) || secret_has_word(LIST_PLAIN, value)) {
        return false;
    }
    /* a user and a group, a host and a port, a path */
    return !(form & STRONG)
               ? !(form & NO_PORT) || !is_port(value)
               : secret_is_hard(value) && !memchr(value.s, '/', value.len) &&
                     !memchr(value.s, '\\', value.len);
}

/* The value at `at`, its quotes taken off. */
static bool read_word(struct str text, size_t at, unsigned form,
                      struct secret_span *out)
{
    size_t quote_len = secret_quote_at(text, at);
    unsigned char quote =
        quote_len ? (unsigned char)text.s[at + quote_len - 1] : 0;
    size_t from;
    size_t end;
    size_t inner;

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
    inner = password_in(str_sub(text, from, end), form);
    if (inner == SIZE_MAX) {
        return false;
    }
    *out = (struct secret_span){from + inner, end, SECRET_PASSWORD};
    return is_password(str_sub(text, from + inner, end), form);
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
        if (o->form & SECOND) {
            value = skip_words(text, value, 2);
        }
        if (value < text.len && has_program(text, at, o->program) &&
            read_word(text, value, o->form, out)) {
            return true;
        }
    }
    return false;
}

/* --- what is piped --- */

/* Where the command that `at` is in begins. */
static size_t command_begin(struct str text, size_t at)
{
    size_t floor = at > MAX_LINE ? at - MAX_LINE : 0;

    while (at > floor && !strchr("\n;|`", text.s[at - 1])) {
        at--;
    }
    return at;
}

/* Is the option one of the word, which may hold several letters? "-kS" */
static bool has_option(struct str word, struct str option)
{
    if (option.len == 2 && word.len > 2 && word.len <= 4 && word.s[0] == '-' &&
        word.s[1] != '-') {
        return memchr(word.s, option.s[1], word.len) != NULL;
    }
    return str_eq(word, option);
}

/* Who reads a password here, by the program's own options, which are those
 * before another command ("sudo -u ada -S id"). */
static const struct reader *reader_of(struct str command)
{
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        const struct reader *r = &readers[i];
        size_t at = str_find(command, str_of(r->program), 0);
        struct str rest =
            str_sub(command, at == SIZE_MAX ? command.len : at, command.len);
        struct str word;
        size_t n_other = 0;

        if (rest.len == 0 ||
            (at > 0 && secret_is_alnum((unsigned char)command.s[at - 1]))) {
            continue;
        }
        if (!*r->option) {
            return r;
        }
        (void)str_split(&rest, ' ', &word);
        while (n_other < 2 && str_split(&rest, ' ', &word)) {
            if (has_option(word, str_of(r->option))) {
                return r;
            }
            n_other += word.len > 0 && word.s[0] != '-';
        }
    }
    return NULL;
}

/* "yes" and "done" are said to other programs, too. */
static bool is_typed(struct str value)
{
    size_t n_small = 0;

    for (size_t i = 0; i < value.len; i++) {
        n_small += value.s[i] >= 'a' && value.s[i] <= 'z';
    }
    return is_password(value, 0) &&
           (value.len >= MIN_TYPED || n_small < value.len);
}

/* The last word of what ends at `end`: what echo is to say. */
static bool echoed(struct str text, size_t end, unsigned form,
                   struct secret_span *out)
{
    struct str line = str_sub(text, end > MAX_LINE ? end - MAX_LINE : 0, end);
    size_t begin = end - line.len;
    size_t from;
    char quote;

    while (end > begin && (text.s[end - 1] == ' ' || text.s[end - 1] == '\t')) {
        end--;
    }
    if (end == begin) {
        return false;
    }
    quote = text.s[end - 1];
    quote = (char)(quote == '"' || quote == '\'' ? quote : 0);
    from = end -= quote != 0;
    while (from > begin && text.s[from - 1] != '\n' &&
           (quote ? text.s[from - 1] != quote : text.s[from - 1] != ' ')) {
        from--;
    }
    line = str_sub(text, command_begin(text, from), from);
    return (str_find(line, STR("echo "), 0) != SIZE_MAX ||
            str_find(line, STR("printf "), 0) != SIZE_MAX) &&
           read_word(text, from - (quote != 0), form, out) && out->to == end;
}

bool secret_piped(struct str text, size_t at, struct secret_span *out)
{
    bool is_here = secret_starts(text, at, "<<<");
    size_t from = is_here ? command_begin(text, at) : at + 1;
    size_t end = at;
    const struct reader *reader;

    if (!is_here && (text.s[at] != '|' || at == 0)) {
        return false;
    }
    while (!is_here && end + 1 < text.len && end < at + MAX_LINE &&
           !strchr("\n;|`", text.s[end + 1])) {
        end++;
    }
    reader = reader_of(str_sub(text, from, is_here ? at : end + 1));
    return reader &&
           (is_here ? read_word(text, secret_skip_blanks(text, at + 3),
                                reader->form, out)
                    : echoed(text, at, reader->form, out)) &&
           is_typed(str_sub(text, out->from, out->to));
}
