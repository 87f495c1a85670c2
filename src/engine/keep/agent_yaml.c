/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_yaml.c - read one agent package.
 *
 * Every key is known, every value checked, and each complaint names the file
 * and the line, so that the author of a package need not guess.
 */
#include "engine/keep/agents.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define MAX_NAME 32
#define MAX_WORDS 64

struct reader {
    yaml_document_t document;
    struct arena *arena;
    const char *file;
    struct agent *agent;
    int line; /* of the complaint */
    struct clew_error *err;
};

static enum clew_status complain(struct reader *r, const yaml_node_t *node,
                                 const char *what, struct str name)
{
    r->line = node ? (int)node->start_mark.line + 1 : 1;
    return clew_fail_field(r->err, "agents", "%s:%d: %s%s%.*s%s", r->file,
                           r->line, what, name.len ? " \"" : "",
                           (int)(name.len > 64 ? 64 : name.len),
                           name.s ? name.s : "", name.len ? "\"" : "");
}

static const yaml_node_t *node_of(struct reader *r, yaml_node_item_t item)
{
    return yaml_document_get_node(&r->document, item);
}

static struct str text_of(const yaml_node_t *node)
{
    if (!node || node->type != YAML_SCALAR_NODE) {
        return (struct str){0};
    }
    return (struct str){(const char *)node->data.scalar.value,
                        node->data.scalar.length};
}

static enum clew_status copy_text(struct reader *r, const yaml_node_t *node,
                                  const char *what, struct str *out)
{
    struct str text = text_of(node);

    if (!text.s || str_trim(text).len == 0) {
        return complain(r, node, what, (struct str){0});
    }
    *out = arena_str(r->arena, str_trim(text));
    return out->s ? CLEW_OK : CLEW_NO_MEMORY;
}

static bool is_name(struct str name)
{
    if (name.len == 0 || name.len > MAX_NAME ||
        !islower((unsigned char)name.s[0])) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        if (!islower((unsigned char)name.s[i]) &&
            !isdigit((unsigned char)name.s[i]) && name.s[i] != '-' &&
            name.s[i] != '_') {
            return false;
        }
    }
    return true;
}

/* A list of texts, or one text alone. */
static enum clew_status read_list(struct reader *r, const yaml_node_t *node,
                                  struct str **out, size_t *out_count)
{
    size_t count = 0;
    struct str *items;

    if (node->type == YAML_SCALAR_NODE) {
        *out = arena_zero(r->arena, 1, sizeof(**out));
        *out_count = 1;
        return *out ? copy_text(r, node, "an empty text", *out)
                    : CLEW_NO_MEMORY;
    }
    if (node->type != YAML_SEQUENCE_NODE) {
        return complain(r, node, "a list of texts is wanted", (struct str){0});
    }
    count = (size_t)(node->data.sequence.items.top -
                     node->data.sequence.items.start);
    if (count > MAX_WORDS) {
        return complain(r, node, "too many items (64 at most)",
                        (struct str){0});
    }
    items = arena_zero(r->arena, count + 1, sizeof(*items));
    if (!items) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *item =
            node_of(r, node->data.sequence.items.start[i]);
        enum clew_status status =
            copy_text(r, item ? item : node, "a text is wanted", &items[i]);

        if (status != CLEW_OK) {
            return status;
        }
    }
    *out = items;
    *out_count = count;
    return CLEW_OK;
}

static enum clew_status read_acts(struct reader *r, const yaml_node_t *node,
                                  uint32_t *out_acts)
{
    struct str *names = NULL;
    size_t count = 0;
    enum clew_status status = read_list(r, node, &names, &count);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        enum intent_act act;

        if (!intent_act_parse(names[i], &act)) {
            return complain(r, node, "unknown act", names[i]);
        }
        *out_acts |= 1u << act;
    }
    return status;
}

static enum clew_status read_flags(struct reader *r, const yaml_node_t *node,
                                   uint32_t *out_flags)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } flags[] = {
        {"problem", INTENT_PROBLEM},   {"strong", INTENT_STRONG},
        {"hold", INTENT_HOLD},         {"more", INTENT_MORE},
        {"thanks", INTENT_THANKS},     {"advice", INTENT_ADVICE},
        {"reminder", INTENT_REMINDER}, {"return", INTENT_RETURN},
    };
    struct str *names = NULL;
    size_t count = 0;
    enum clew_status status = read_list(r, node, &names, &count);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        uint32_t found = 0;

        for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
            if (str_eq(names[i], str_of(flags[k].name))) {
                found = flags[k].flag;
            }
        }
        if (!found) {
            return complain(r, node, "unknown flag", names[i]);
        }
        *out_flags |= found;
    }
    return status;
}

/* One key of a rule; `*out_known` false if it is none. */
static enum clew_status read_rule_key(struct reader *r, struct str key,
                                      const yaml_node_t *value,
                                      struct agent_rule *rule, bool *out_known)
{
    struct str *words = NULL;
    enum clew_status status;

    *out_known = true;
    rule->is_set = true;
    if (str_eq(key, STR("acts"))) {
        return read_acts(r, value, &rule->acts);
    }
    if (str_eq(key, STR("flags"))) {
        return read_flags(r, value, &rule->flags);
    }
    if (str_eq(key, STR("words"))) {
        status = read_list(r, value, &words, &rule->n_words);
        rule->words = words;
        return status;
    }
    *out_known = false;
    return CLEW_OK;
}

static enum clew_status read_rule(struct reader *r, const yaml_node_t *node,
                                  struct agent_rule *rule)
{
    if (node->type == YAML_SEQUENCE_NODE) {
        struct str *words = NULL;
        enum clew_status status = read_list(r, node, &words, &rule->n_words);

        rule->words = words;
        rule->is_set = true;
        return status;
    }
    if (node->type != YAML_MAPPING_NODE) {
        return complain(r, node, "acts, flags or words are wanted",
                        (struct str){0});
    }
    rule->is_set = true;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_of(r, pair->key);
        const yaml_node_t *value = node_of(r, pair->value);
        bool is_known = false;
        enum clew_status status =
            read_rule_key(r, text_of(key), value, rule, &is_known);

        if (status != CLEW_OK) {
            return status;
        }
        if (!is_known) {
            return complain(r, key, "unknown key", text_of(key));
        }
    }
    return CLEW_OK;
}

static enum clew_status read_bool(struct reader *r, const yaml_node_t *node,
                                  bool *out)
{
    struct str text = text_of(node);

    if (str_eq(text, STR("true")) || str_eq(text, STR("yes"))) {
        *out = true;
        return CLEW_OK;
    }
    if (str_eq(text, STR("false")) || str_eq(text, STR("no"))) {
        *out = false;
        return CLEW_OK;
    }
    return complain(r, node, "true or false is wanted, not", text);
}

static enum clew_status add_field(struct reader *r, const yaml_node_t *node,
                                  struct str name, struct agent_field **out)
{
    struct agent *agent = r->agent;

    if (!is_name(name)) {
        return complain(r, node, "not a field name", name);
    }
    if (agent->n_fields == AGENT_MAX_FIELDS) {
        return complain(r, node, "too many fields (16 at most)",
                        (struct str){0});
    }
    for (size_t i = 0; i < agent->n_fields; i++) {
        if (str_eq(agent->fields[i].name, name)) {
            return complain(r, node, "field given twice", name);
        }
    }
    *out = &agent->fields[agent->n_fields];
    **out = (struct agent_field){.name = arena_str(r->arena, name)};
    if (!(*out)->name.s) {
        return CLEW_NO_MEMORY;
    }
    agent->n_fields++;
    return CLEW_OK;
}

/* {name: error, required: true, many: false} */
static enum clew_status read_field_map(struct reader *r,
                                       const yaml_node_t *node)
{
    struct agent_field *field = NULL;
    struct str name = {0};
    bool is_required = false;
    bool is_many = false;
    enum clew_status status = CLEW_OK;

    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         status == CLEW_OK && pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_of(r, pair->key);
        const yaml_node_t *value = node_of(r, pair->value);

        if (str_eq(text_of(key), STR("name"))) {
            name = text_of(value);
        } else if (str_eq(text_of(key), STR("required"))) {
            status = read_bool(r, value, &is_required);
        } else if (str_eq(text_of(key), STR("many"))) {
            status = read_bool(r, value, &is_many);
        } else {
            status = complain(r, key, "unknown key", text_of(key));
        }
    }
    if (status == CLEW_OK) {
        status = add_field(r, node, name, &field);
    }
    if (status == CLEW_OK) {
        field->is_required = is_required;
        field->is_many = is_many;
    }
    return status;
}

static enum clew_status read_fields(struct reader *r, const yaml_node_t *node)
{
    if (node->type != YAML_SEQUENCE_NODE) {
        return complain(r, node, "\"fields\" must be a list", (struct str){0});
    }
    for (const yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++) {
        const yaml_node_t *entry = node_of(r, *item);
        struct agent_field *field;
        enum clew_status status =
            entry->type == YAML_MAPPING_NODE
                ? read_field_map(r, entry)
                : add_field(r, entry, text_of(entry), &field);

        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

static enum clew_status read_choice(struct reader *r, const yaml_node_t *node,
                                    const char *const *names, size_t count,
                                    int *out)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(text_of(node), str_of(names[i]))) {
            *out = (int)i;
            return CLEW_OK;
        }
    }
    return complain(r, node, "unknown value", text_of(node));
}

static enum clew_status read_extraction(struct reader *r,
                                        const yaml_node_t *node,
                                        struct agent_field *field)
{
    static const char *const steps[] = {"any", "opens", "extends", "concludes"};
    static const char *const takes[] = {"sentence", "line", "turn"};
    static const char *const sides[] = {"either", "user", "assistant"};
    enum clew_status status = CLEW_OK;

    if (node->type != YAML_MAPPING_NODE) {
        return complain(r, node, "from, take, by, words are wanted for",
                        field->name);
    }
    field->has_extraction = true;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         status == CLEW_OK && pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_of(r, pair->key);
        const yaml_node_t *value = node_of(r, pair->value);
        int choice = 0;
        bool is_known = false;

        if (str_eq(text_of(key), STR("from"))) {
            status = read_choice(r, value, steps, 4, &choice);
            field->from = (enum agent_step)choice;
        } else if (str_eq(text_of(key), STR("take"))) {
            status = read_choice(r, value, takes, 3, &choice);
            field->take = (enum agent_take)choice;
        } else if (str_eq(text_of(key), STR("by"))) {
            status = read_choice(r, value, sides, 3, &choice);
            field->by = (enum agent_by)choice;
        } else {
            status =
                read_rule_key(r, text_of(key), value, &field->rule, &is_known);
            if (status == CLEW_OK && !is_known) {
                status = complain(r, key, "unknown key", text_of(key));
            }
        }
    }
    return status;
}

static enum clew_status read_extract(struct reader *r, const yaml_node_t *node)
{
    if (node->type != YAML_MAPPING_NODE) {
        return complain(r, node, "\"extract\" must map fields",
                        (struct str){0});
    }
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_of(r, pair->key);
        struct agent_field *field = NULL;
        enum clew_status status;

        for (size_t i = 0; i < r->agent->n_fields; i++) {
            if (str_eq(r->agent->fields[i].name, text_of(key))) {
                field = &r->agent->fields[i];
            }
        }
        if (!field) {
            return complain(r, key, "no such field", text_of(key));
        }
        status = read_extraction(r, node_of(r, pair->value), field);
        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

static bool is_builtin_name(struct str name)
{
    static const char *const names[] = {"effort",   "fact",    "event",
                                        "decision", "thought", "skill"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (str_eq(name, str_of(names[i]))) {
            return true;
        }
    }
    return false;
}

static enum clew_status read_name(struct reader *r, const yaml_node_t *node)
{
    if (!is_name(text_of(node))) {
        return complain(r, node,
                        "a name of small letters, digits and - is wanted, not",
                        text_of(node));
    }
    if (is_builtin_name(text_of(node))) {
        return complain(r, node,
                        "the name is taken by clew itself:", text_of(node));
    }
    return copy_text(r, node, "a name is wanted", &r->agent->name);
}

static enum clew_status read_key(struct reader *r, const yaml_node_t *key,
                                 const yaml_node_t *value,
                                 const yaml_node_t **out_extract)
{
    struct str name = text_of(key);
    struct agent *agent = r->agent;

    if (str_eq(name, STR("name"))) {
        return read_name(r, value);
    }
    if (str_eq(name, STR("description"))) {
        return copy_text(r, value, "a text is wanted", &agent->description);
    }
    if (str_eq(name, STR("fields"))) {
        return read_fields(r, value);
    }
    if (str_eq(name, STR("triggers"))) {
        return read_rule(r, value, &agent->triggers);
    }
    if (str_eq(name, STR("opens"))) {
        return read_rule(r, value, &agent->opens);
    }
    if (str_eq(name, STR("extends"))) {
        return read_rule(r, value, &agent->extends);
    }
    if (str_eq(name, STR("concludes"))) {
        return read_rule(r, value, &agent->concludes);
    }
    if (str_eq(name, STR("extract"))) {
        *out_extract = value; /* read last: it names the fields */
        return CLEW_OK;
    }
    return complain(r, key, "unknown key", name);
}

static enum clew_status read_package(struct reader *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    const yaml_node_t *extract = NULL;
    enum clew_status status = CLEW_OK;

    if (!root || root->type != YAML_MAPPING_NODE) {
        return complain(r, root, "a package is a map of keys", (struct str){0});
    }
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         status == CLEW_OK && pair < root->data.mapping.pairs.top; pair++) {
        status = read_key(r, node_of(r, pair->key), node_of(r, pair->value),
                          &extract);
    }
    if (status == CLEW_OK && extract) {
        status = read_extract(r, extract);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (r->agent->name.len == 0) {
        return complain(r, root, "\"name\" is missing", (struct str){0});
    }
    if (r->agent->n_fields == 0) {
        return complain(r, root, "\"fields\" is missing", (struct str){0});
    }
    if (!r->agent->triggers.is_set && !r->agent->opens.is_set) {
        return complain(r, root, "\"triggers\" or \"opens\" is missing",
                        (struct str){0});
    }
    return CLEW_OK;
}

enum clew_status agent_parse(struct arena *arena, const char *file,
                             struct str yaml, struct agent *out_agent,
                             int *out_line, struct clew_error *err)
{
    struct agent agent = {0};
    struct reader r = {
        .arena = arena, .file = file, .agent = &agent, .line = 1, .err = err};
    yaml_parser_t parser;
    enum clew_status status;

    *out_line = 1;
    if (yaml.len > AGENT_MAX_BYTES) {
        return complain(&r, NULL, "the file is too long", (struct str){0});
    }
    if (!yaml_parser_initialize(&parser)) {
        return CLEW_NO_MEMORY;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml.s,
                                 yaml.len);
    if (!yaml_parser_load(&parser, &r.document)) {
        *out_line = (int)parser.problem_mark.line + 1;
        status =
            parser.error == YAML_MEMORY_ERROR
                ? CLEW_NO_MEMORY
                : clew_fail_field(err, "agents", "%s:%d: %s", file, *out_line,
                                  parser.problem ? parser.problem : "not YAML");
        yaml_parser_delete(&parser);
        return status;
    }
    status = read_package(&r);
    if (status == CLEW_OK) {
        agent.file = arena_str(arena, str_of(file));
        agent.source = arena_str(arena, yaml);
        status = agent.file.s && agent.source.s ? CLEW_OK : CLEW_NO_MEMORY;
    }
    if (status == CLEW_OK) {
        *out_agent = agent;
    }
    *out_line = r.line;
    yaml_document_delete(&r.document);
    yaml_parser_delete(&parser);
    return status;
}
