/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_completion.c - completion scripts for bash, zsh and fish, and the middle
 * of the manual page ("man", for packaging/).
 *
 * Made from the table of commands, so they never lag behind it.
 */
#include "base/config.h"
#include "cli/core/cli.h"
#include "cli/setup/clients.h"

#include <stdio.h>
#include <string.h>

/* "--json --url …" for one command. */
static void put_options(FILE *file, const struct command *command)
{
    const struct arg_option *lists[] = {command->options, args_common};

    for (size_t i = 0; i < 2; i++) {
        for (const struct arg_option *o = lists[i]; o && o->name; o++) {
            (void)fprintf(file, " --%s", o->name);
        }
    }
}

/* Values that can be listed, by what the usage calls them. */
static const struct {
    const char *value;
    const char *words; /* NULL: the settings' names */
} value_words[] = {
    {"ROLE", "user assistant system tool"},
    {"KEY-ROLE", "read write admin"},
    {"KIND", "turn memory episode chat"},
    {"TYPE", "fact event decision effort thought skill preference "
             "instruction report"},
    {"STATE", "active dormant concluded"},
    {"FORM", "text openai anthropic"},
    {"WHICH", "link no_link"},
    {"TASK-STATUS", "pending running done failed"},
    {"STATUS", "active open resolved abandoned retracted"},
    {"TIME", "today yesterday 1h 1d 1w"},
    {"KEY=VALUE", NULL},
};

/* Files and folders are completed by the shell. */
static bool is_path(const char *value)
{
    return strcmp(value, "FILE") == 0 || strcmp(value, "DIR") == 0 ||
           strcmp(value, "FOLDER") == 0;
}

/* The words an option's value can be, each with a space before it; false if
 * they are not known. */
static bool put_values(FILE *file, const char *value)
{
    size_t n = 0;
    const struct config_key *keys = config_keys(&n);

    for (size_t i = 0; i < sizeof(value_words) / sizeof(value_words[0]); i++) {
        if (strcmp(value_words[i].value, value) != 0) {
            continue;
        }
        if (value_words[i].words) {
            (void)fprintf(file, " %s", value_words[i].words);
            return true;
        }
        for (size_t k = 0; k < n; k++) {
            (void)fprintf(file, " %s=", keys[k].name);
        }
        return true;
    }
    return false;
}

static bool has_values(const char *value)
{
    for (size_t i = 0;
         value && i < sizeof(value_words) / sizeof(value_words[0]); i++) {
        if (strcmp(value_words[i].value, value) == 0) {
            return true;
        }
    }
    return false;
}

/* "claude-code|codex": the words an operand can be. */
static void put_choices(FILE *file, const char *operands)
{
    struct str rest = str_of(operands);
    struct str word;

    while (str_split(&rest, ' ', &word)) {
        struct str choice;

        if (str_eq(word, STR("[CLIENT]"))) {
            for (const struct clients_place *p = clients_places; p->client;
                 p++) {
                (void)fprintf(file, " %s", p->client);
            }
            continue;
        }
        if (word.len == 0 || str_find(word, STR("|"), 0) == SIZE_MAX ||
            word.s[0] < 'a' || word.s[0] > 'z') {
            continue; /* capitals stand for what the user makes up */
        }
        while (str_split(&word, '|', &choice)) {
            (void)fprintf(file, " %.*s", (int)choice.len, choice.s);
        }
    }
}

/* After an option with known values, these and nothing else. `of` is the
 * pattern of its command, to a quote that is open. */
static void put_value_cases(FILE *file, const char *of,
                            const struct arg_option *options)
{
    for (const struct arg_option *o = options; o && o->name; o++) {
        if (has_values(o->value)) {
            (void)fprintf(file, "            %s --%s') words=\"", of, o->name);
            (void)put_values(file, o->value);
            (void)fputs("\"; only=1 ;;\n", file);
        }
    }
}

/* The first word of each command, once: commands of a noun stand together. */
static void put_first_words(FILE *file, const struct cli_row *rows)
{
    struct str last = {"", 0};
    for (const struct cli_row *row = cli_next(rows); row;
         row = cli_next(row + 1)) {
        struct str word = str_of(row->command->name);

        word.len = strcspn(word.s, " ");
        if (!str_eq(word, last)) {
            (void)fprintf(file, "%s%.*s", last.len ? " " : "", (int)word.len,
                          word.s);
        }
        last = word;
    }
}

/* "keys create" offers "create" after "keys". */
static void put_second_words(FILE *file, const struct cli_row *rows)
{
    for (const struct cli_row *row = cli_next(rows); row;
         row = cli_next(row + 1)) {
        const char *name = row->command->name;
        const char *space = strchr(name, ' ');

        if (space) {
            (void)fprintf(file,
                          "        [ \"$COMP_CWORD $one\" = '2 %.*s' ] && "
                          "words=\"$words %s\"\n",
                          (int)(space - name), name, space + 1);
        }
    }
}

/* The options of the commands of one or of two words: the longer name comes
 * first, because the first pattern that fits wins. */
static void put_cases(FILE *file, const struct cli_row *rows, bool is_two)
{
    for (const struct cli_row *row = cli_next(rows); row;
         row = cli_next(row + 1)) {
        if ((strchr(row->command->name, ' ') != NULL) != is_two) {
            continue;
        }
        (void)fprintf(file, "            '%s%s) words=\"$words",
                      row->command->name, is_two ? "'" : " '*");
        put_options(file, row->command);
        put_choices(file, row->command->operands);
        (void)fputs("\" ;;\n", file);
    }
}

/* What every command has comes last, and once. */
static void put_all_values(FILE *file, const struct cli_row *rows)
{
    char of[64];

    for (int is_two = 1; is_two >= 0; is_two--) {
        for (const struct cli_row *row = cli_next(rows); row;
             row = cli_next(row + 1)) {
            const char *name = row->command->name;

            if ((strchr(name, ' ') != NULL) == is_two) {
                (void)snprintf(of, sizeof(of), "'%s%s", name,
                               is_two ? "" : " '*'");
                put_value_cases(file, of, row->command->options);
            }
        }
    }
    put_value_cases(file, "*'", args_common);
}

/* Only what zsh reads as well: see put_zsh(). */
static void put_bash(FILE *file, const struct cli_row *rows)
{
    (void)fputs("_clew() {\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
                "    local one=${COMP_WORDS[1]} two=${COMP_WORDS[2]} only=\n"
                "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='",
                file);
    put_first_words(file, rows);
    (void)fputs("'\n    else\n", file);
    put_second_words(file, rows);
    (void)fputs("        case \"$one $two\" in\n", file);
    put_cases(file, rows, true);
    put_cases(file, rows, false);
    (void)fputs("        esac\n        case \"$one $two $before\" in\n", file);
    put_all_values(file, rows);
    (void)fputs("        esac\n    fi\n"
                "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                "    case $cur in -*) ;; *) "
                "[ \"$COMP_CWORD\" -gt 1 ] && [ -z \"$only\" ] && "
                "COMPREPLY+=($(compgen -f -- \"$cur\")) ;; esac\n"
                "}\ncomplete -F _clew clew\n",
                file);
}

static void put_zsh(FILE *file, const struct cli_row *rows)
{
    (void)fputs("#compdef clew\nautoload -U +X bashcompinit && bashcompinit\n",
                file);
    put_bash(file, rows);
}

/* Text inside single quotes of a fish script. */
static void put_quoted(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') {
            (void)fputc('\\', file);
        }
        (void)fputc(*text, file);
    }
}

static void put_fish_options(FILE *file, const char *condition,
                             const struct arg_option *options)
{
    for (; options && options->name; options++) {
        (void)fprintf(file, "complete -c clew -f -n '%s' -l %s", condition,
                      options->name);
        if (options->letter) {
            (void)fprintf(file, " -s %c", options->letter);
        }
        if (options->value && is_path(options->value)) {
            (void)fputs(" -F", file);
        }
        if (has_values(options->value)) {
            (void)fputs(" -x -a '", file);
            (void)put_values(file, options->value);
            (void)fputs("' -d '", file);
        } else {
            (void)fprintf(file, "%s -d '", options->value ? " -r" : "");
        }
        put_quoted(file, options->help);
        (void)fputs("'\n", file);
    }
}

static void put_fish(FILE *file, const struct cli_row *rows)
{
    put_fish_options(file, "not __fish_use_subcommand", args_common);
    for (const struct cli_row *row = cli_next(rows); row;
         row = cli_next(row + 1)) {
        const char *name = row->command->name;
        const char *space = strchr(name, ' ');
        char condition[96];

        if (space) {
            (void)fprintf(
                file, "complete -c clew -f -n __fish_use_subcommand -a %.*s\n",
                (int)(space - name), name);
            (void)snprintf(condition, sizeof(condition),
                           "__fish_seen_subcommand_from %.*s",
                           (int)(space - name), name);
            (void)fprintf(file, "complete -c clew -f -n '%s' -a %s -d '",
                          condition, space + 1);
        } else {
            (void)snprintf(condition, sizeof(condition),
                           "__fish_seen_subcommand_from %s", name);
            (void)fprintf(
                file, "complete -c clew -f -n __fish_use_subcommand -a %s -d '",
                name);
        }
        put_quoted(file, row->command->summary);
        (void)fputs("'\n", file);
        put_fish_options(file, condition, row->command->options);
        (void)fprintf(file, "complete -c clew -f -n '%s' -a '", condition);
        put_choices(file, row->command->operands);
        (void)fputs("'\n", file);
    }
}

/* --- the manual page -------------------------------------------------------
 */

/* Text of a manual page: no line begins a request, dashes stay dashes. */
static void put_roff(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\') {
            (void)fputc('\\', file);
        }
        (void)fputc(*text, file);
    }
}

static void put_man_options(FILE *file, const struct arg_option *options)
{
    for (; options && options->name; options++) {
        (void)fputs(".TP\n\\fB", file);
        if (options->letter) {
            (void)fprintf(file, "\\-%c\\fR, \\fB", options->letter);
        }
        (void)fputs("\\-\\-", file);
        put_roff(file, options->name);
        (void)fputs("\\fR", file);
        if (options->value) {
            (void)fputs(" \\fI", file);
            put_roff(file, options->value);
            (void)fputs("\\fR", file);
        }
        (void)fputc('\n', file);
        put_roff(file, options->help);
        (void)fputc('\n', file);
    }
}

/* The sections that hang on the table; packaging/ has the rest of the page. */
static void put_man(FILE *file, const struct cli_row *rows)
{
    (void)fputs(".SH COMMANDS\n", file);
    for (const struct cli_row *row = cli_next(rows); row;
         row = cli_next(row + 1)) {
        (void)fputs(".TP\n\\fB", file);
        put_roff(file, row->command->name);
        (void)fputs("\\fR \\fI", file);
        put_roff(file, row->command->operands);
        (void)fputs("\\fR\n", file);
        put_roff(file, row->command->summary);
        (void)fputs("\n", file);
        if (row->command->options) {
            (void)fputs(".RS\n", file);
            put_man_options(file, row->command->options);
            (void)fputs(".RE\n", file);
        }
    }
    (void)fputs(".SH OPTIONS\nThese belong to every command.\n", file);
    put_man_options(file, args_common);
}

static enum clew_status run_completion(struct cli *cli, struct clew_error *err)
{
    const char *shell = cli->args.operands[0];

    if (strcmp(shell, "bash") == 0) {
        put_bash(output_verbatim(&cli->out), cli->rows);
    } else if (strcmp(shell, "zsh") == 0) {
        put_zsh(output_verbatim(&cli->out), cli->rows);
    } else if (strcmp(shell, "fish") == 0) {
        put_fish(output_verbatim(&cli->out), cli->rows);
    } else if (strcmp(shell, "man") == 0) {
        put_man(output_verbatim(&cli->out), cli->rows);
    } else {
        return clew_fail_field(err, "shell",
                               "\"%.40s\" is none of bash, zsh, fish", shell);
    }
    return CLEW_OK;
}

const struct command command_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "print a completion script for a shell",
    .example = "clew completion bash > ~/.bash_completion.d/clew",
    .run = run_completion,
};
