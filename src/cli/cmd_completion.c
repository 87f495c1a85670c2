/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_completion.c - completion scripts for bash, zsh and fish, and the middle
 * of the manual page ("man", for packaging/).
 *
 * Made from the table of commands, so they never lag behind it.
 */
#include "cli/cli.h"

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

/* The first word of each command, once: commands of a noun stand together. */
static void put_first_words(FILE *file)
{
    struct str last = {"", 0};
    size_t n;
    const struct command *const *commands = cli_commands(&n);

    for (size_t i = 0; i < n; i++) {
        struct str word = str_of(commands[i]->name);

        word.len = strcspn(word.s, " ");
        if (!str_eq(word, last)) {
            (void)fprintf(file, "%s%.*s", i ? " " : "", (int)word.len, word.s);
        }
        last = word;
    }
}

/* "keys create" offers "create" after "keys". */
static void put_second_words(FILE *file)
{
    size_t n;
    const struct command *const *commands = cli_commands(&n);

    for (size_t i = 0; i < n; i++) {
        const char *name = commands[i]->name;
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
static void put_cases(FILE *file, bool is_two)
{
    size_t n;
    const struct command *const *commands = cli_commands(&n);

    for (size_t i = 0; i < n; i++) {
        if ((strchr(commands[i]->name, ' ') != NULL) != is_two) {
            continue;
        }
        (void)fprintf(file, "            '%s%s) words=\"$words",
                      commands[i]->name, is_two ? "'" : " '*");
        put_options(file, commands[i]);
        (void)fputs("\" ;;\n", file);
    }
}

/* Only what zsh reads as well: see put_zsh(). */
static void put_bash(FILE *file)
{
    (void)fputs("_clew() {\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
                "    local one=${COMP_WORDS[1]} two=${COMP_WORDS[2]}\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='",
                file);
    put_first_words(file);
    (void)fputs("'\n    else\n", file);
    put_second_words(file);
    (void)fputs("        case \"$one $two\" in\n", file);
    put_cases(file, true);
    put_cases(file, false);
    (void)fputs("        esac\n    fi\n"
                "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                "    case $cur in -*) ;; *) "
                "[ \"$COMP_CWORD\" -gt 1 ] && "
                "COMPREPLY+=($(compgen -f -- \"$cur\")) ;; esac\n"
                "}\ncomplete -F _clew clew\n",
                file);
}

static void put_zsh(FILE *file)
{
    (void)fputs("#compdef clew\nautoload -U +X bashcompinit && bashcompinit\n",
                file);
    put_bash(file);
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
        (void)fprintf(file, "%s -d '", options->value ? " -r" : "");
        put_quoted(file, options->help);
        (void)fputs("'\n", file);
    }
}

static void put_fish(FILE *file)
{
    size_t n;
    const struct command *const *commands = cli_commands(&n);

    put_fish_options(file, "not __fish_use_subcommand", args_common);
    for (size_t i = 0; i < n; i++) {
        const char *name = commands[i]->name;
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
        put_quoted(file, commands[i]->summary);
        (void)fputs("'\n", file);
        put_fish_options(file, condition, commands[i]->options);
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
static void put_man(FILE *file)
{
    size_t n;
    const struct command *const *commands = cli_commands(&n);

    (void)fputs(".SH COMMANDS\n", file);
    for (size_t i = 0; i < n; i++) {
        (void)fputs(".TP\n\\fB", file);
        put_roff(file, commands[i]->name);
        (void)fputs("\\fR \\fI", file);
        put_roff(file, commands[i]->operands);
        (void)fputs("\\fR\n", file);
        put_roff(file, commands[i]->summary);
        (void)fputs("\n", file);
        if (commands[i]->options) {
            (void)fputs(".RS\n", file);
            put_man_options(file, commands[i]->options);
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
        put_bash(cli->out.file);
    } else if (strcmp(shell, "zsh") == 0) {
        put_zsh(cli->out.file);
    } else if (strcmp(shell, "fish") == 0) {
        put_fish(cli->out.file);
    } else if (strcmp(shell, "man") == 0) {
        put_man(cli->out.file);
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
