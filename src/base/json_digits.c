/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_digits.c - see json_digits.h.
 *
 * Numbers of a text and numbers of its tree come in one order: jansson keeps
 * the order of keys and duplicates are refused. So both are walked together.
 */
#include "base/json_digits.h"

#include "base/alloc.h"

#include <string.h>

/* Up to so many digits a whole number is what its value is written as. */
#define SAFE_DIGITS 15

/* What follows every allocation of jansson; then the digits. */
struct tail {
    size_t len; /* of the digits; 0: there are none */
};

static size_t real_size; /* of jansson's nodes; 0 before the setup */
static size_t integer_size;
static _Thread_local size_t extra_bytes; /* for the next allocation */
static _Thread_local size_t last_size;
static _Thread_local bool has_failed; /* some allocation, since it was asked */

static void *take(size_t size)
{
    static const struct tail none = {0};
    size_t total;
    char *bytes;

    if (__builtin_add_overflow(size, sizeof(none) + extra_bytes, &total)) {
        return NULL;
    }
    bytes = alloc_bytes(total);
    if (bytes) {
        memcpy(bytes + size, &none, sizeof(none));
    } else {
        has_failed = true;
    }
    last_size = size;
    return bytes;
}

void json_digits_setup(void)
{
    json_set_alloc_funcs(take, alloc_free);
    json_decref(json_real(0.5));
    real_size = last_size;
    json_decref(json_integer(1));
    integer_size = last_size;
}

bool json_ran_out(void)
{
    bool result = has_failed;

    has_failed = false;
    return result;
}

static bool is_ours(void)
{
    json_malloc_t own = NULL;
    json_free_t other;

    json_get_alloc_funcs(&own, &other);
    return own == take && real_size > 0;
}

/* Where a number's tail is; NULL if it is no number of ours. */
static char *tail_of(const json_t *number)
{
    if (!json_is_number(number) || !is_ours()) {
        return NULL;
    }
    return (char *)(uintptr_t)number +
           (json_is_real(number) ? real_size : integer_size);
}

struct str json_digits_of(const json_t *number)
{
    const char *at = tail_of(number);
    struct tail tail = {0};

    if (at) {
        memcpy(&tail, at, sizeof(tail));
    }
    return tail.len ? (struct str){at + sizeof(tail), tail.len}
                    : (struct str){NULL, 0};
}

/* The same number with digits; NULL without memory. */
static json_t *number_with(const json_t *number, struct str digits)
{
    struct tail tail = {digits.len};
    json_t *node;
    char *at;

    extra_bytes = digits.len;
    node = json_is_real(number) ? json_real(json_real_value(number))
                                : json_integer(json_integer_value(number));
    extra_bytes = 0;
    at = node ? tail_of(node) : NULL;
    if (at) {
        memcpy(at, &tail, sizeof(tail));
        memcpy(at + sizeof(tail), digits.s, digits.len);
    }
    return node;
}

/* May the value of this number be written in other digits than these? */
static bool json_digits_matter(struct str number)
{
    for (size_t i = 0; i < number.len; i++) {
        if (number.s[i] == '.' || (number.s[i] | 0x20) == 'e') {
            return true;
        }
    }
    return number.len > SAFE_DIGITS || str_eq(number, STR("-0"));
}

/* --- the walk --- */

struct walk {
    struct str text;
    size_t at;
    bool all;
    bool is_out_of_memory;
};

static bool is_number_char(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
           (c | 0x20) == 'e';
}

/* The next number of the text; empty at its end. */
static struct str next_number(struct walk *walk)
{
    const char *s = walk->text.s;
    size_t len = walk->text.len;
    size_t at = walk->at;
    size_t from;

    for (; at < len && s[at] != '-' && !(s[at] >= '0' && s[at] <= '9'); at++) {
        if (s[at] == '"') {
            for (at++; at < len && s[at] != '"'; at++) {
                at += s[at] == '\\';
            }
        }
    }
    from = at < len ? at : len;
    for (at = from; at < len && is_number_char(s[at]);) {
        at++;
    }
    walk->at = at;
    return str_sub(walk->text, from, at);
}

/* What takes the number's place; NULL if it stays. */
static json_t *replacement(struct walk *walk, const json_t *number)
{
    struct str digits = next_number(walk);
    json_t *node;

    if (!walk->all && !json_digits_matter(digits)) {
        return NULL;
    }
    node = number_with(number, digits);
    walk->is_out_of_memory = walk->is_out_of_memory || !node;
    return node;
}

static void keep_inside(struct walk *walk, json_t *tree);

/* A number's replacement; anything else is looked into. */
static json_t *visit(struct walk *walk, json_t *item)
{
    if (json_is_number(item)) {
        return replacement(walk, item);
    }
    keep_inside(walk, item);
    return NULL;
}

/* Depth is within LIMIT_JSON_DEPTH: it was parsed. */
static void keep_inside(struct walk *walk, json_t *tree)
{
    void *at = json_object_iter(tree);
    json_t *other;

    for (; at && !walk->is_out_of_memory;
         at = json_object_iter_next(tree, at)) {
        other = visit(walk, json_object_iter_value(at));
        if (other && json_object_iter_set_new(tree, at, other) != 0) {
            walk->is_out_of_memory = true;
        }
    }
    for (size_t i = 0; i < json_array_size(tree) && !walk->is_out_of_memory;
         i++) {
        other = visit(walk, json_array_get(tree, i));
        if (other && json_array_set_new(tree, i, other) != 0) {
            walk->is_out_of_memory = true;
        }
    }
}

enum clew_status json_digits_keep(struct str text, bool all, json_t **tree,
                                  struct clew_error *err)
{
    struct walk walk = {.text = text, .all = all};

    if (!is_ours()) {
        return CLEW_OK;
    }
    if (json_is_number(*tree)) {
        json_t *other = replacement(&walk, *tree);

        if (other) {
            json_decref(*tree);
            *tree = other;
        }
    } else {
        keep_inside(&walk, *tree);
    }
    return walk.is_out_of_memory ? clew_no_memory(err) : CLEW_OK;
}

/* --- copies --- */

static json_t *copy_object(const json_t *tree)
{
    json_t *copy = json_object();
    const char *key;
    json_t *item;

    json_object_foreach ((json_t *)(uintptr_t)tree, key, item) {
        if (!copy ||
            json_object_set_new(copy, key, json_digits_copy(item)) != 0) {
            json_decref(copy);
            return NULL;
        }
    }
    return copy;
}

static json_t *copy_array(const json_t *tree)
{
    json_t *copy = json_array();
    size_t i;
    json_t *item;

    json_array_foreach (tree, i, item) {
        if (!copy || json_array_append_new(copy, json_digits_copy(item)) != 0) {
            json_decref(copy);
            return NULL;
        }
    }
    return copy;
}

json_t *json_digits_copy(const json_t *tree)
{
    struct str digits;

    if (json_is_object(tree)) {
        return copy_object(tree);
    }
    if (json_is_array(tree)) {
        return copy_array(tree);
    }
    digits = json_digits_of(tree);
    return digits.s ? number_with(tree, digits) : json_deep_copy(tree);
}
