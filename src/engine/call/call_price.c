/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_price.c - what a captured call cost. See call_price.h.
 */
#include "engine/call/call_price.h"

#include "engine/call/request.h"

#include <string.h>

/* The numbers of one model, for a million tokens each. */
enum { PRICE_IN, PRICE_OUT, PRICE_CACHE_READ, PRICE_CACHE_WRITE, N_PRICES };
#define MAX_PRICE 1e6

struct price {
    struct str model;
    double of[N_PRICES];
    size_t n_given;
};

/* The next word of `rest`; false at its end. */
static bool next_word(struct str *rest, struct str *out)
{
    do {
        if (!str_split(rest, ' ', out)) {
            return false;
        }
        *out = str_trim(*out);
    } while (out->len == 0);
    return true;
}

static bool read_number(struct str word, double *out)
{
    return str_parse_real(word, out) && *out >= 0 && *out <= MAX_PRICE;
}

/* "MODEL INPUT OUTPUT [CACHE_READ [CACHE_WRITE]]" */
static bool read_price(struct str part, struct price *out)
{
    struct str word;

    memset(out, 0, sizeof(*out));
    if (!next_word(&part, &out->model)) {
        return false;
    }
    while (next_word(&part, &word)) {
        if (out->n_given == N_PRICES ||
            !read_number(word, &out->of[out->n_given])) {
            return false;
        }
        out->n_given++;
    }
    return out->n_given > PRICE_OUT;
}

/* "-0613", "-20250929", "-2024-08-06": a date, and no other version. */
static bool is_date(struct str text)
{
    static const char *const shapes[] = {"-9999", "-99999999", "-9999-99-99"};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        size_t len = strlen(shapes[i]);
        size_t at = 0;

        while (text.len == len && at < len &&
               (shapes[i][at] == '-'
                    ? text.s[at] == '-'
                    : text.s[at] >= '0' && text.s[at] <= '9')) {
            at++;
        }
        if (text.len == len && at == len) {
            return true;
        }
    }
    return false;
}

static bool is_of(const struct price *price, struct str model)
{
    return str_eq(model, price->model) ||
           (str_starts(model, price->model) &&
            is_date(str_sub(model, price->model.len, model.len)));
}

static bool find_price(struct str prices, struct str model, struct price *out)
{
    struct str part;

    while (model.len > 0 && str_split(&prices, ',', &part)) {
        if (read_price(part, out) && is_of(out, model)) {
            return true;
        }
    }
    return false;
}

/* Tokens of one kind at its price; false if they have none. */
static bool add_kind(const struct price *price, size_t kind, int64_t tokens,
                     double *sum)
{
    if (tokens > 0 && kind >= price->n_given) {
        return false;
    }
    *sum += tokens > 0 ? (double)tokens * price->of[kind] : 0.0;
    return true;
}

enum call_cost_from call_cost(struct str prices,
                              const struct request_call *call,
                              int64_t *out_micros)
{
    struct price price;
    int64_t fresh = call->input_tokens;
    double sum = 0;

    if (call->cost_micros >= 0) {
        *out_micros = call->cost_micros;
        return CALL_COST_REPLY;
    }
    if (call->input_tokens < 0 || call->output_tokens < 0 ||
        !find_price(prices, call->model, &price)) {
        return CALL_COST_UNKNOWN;
    }
    /* where writing is not told, what was read is a part of the input */
    if (call->cache_write_tokens < 0 && call->cache_read_tokens > 0) {
        fresh -= call->cache_read_tokens;
    }
    if (!add_kind(&price, PRICE_IN, fresh, &sum) ||
        !add_kind(&price, PRICE_OUT, call->output_tokens, &sum) ||
        !add_kind(&price, PRICE_CACHE_READ, call->cache_read_tokens, &sum) ||
        !add_kind(&price, PRICE_CACHE_WRITE, call->cache_write_tokens, &sum)) {
        return CALL_COST_UNKNOWN;
    }
    /* a price is for a million, a micro is a millionth: they cancel out */
    *out_micros = (int64_t)(sum + 0.5);
    return CALL_COST_PRICES;
}

enum clew_status call_prices_check(struct str prices, struct clew_error *err)
{
    struct price price;
    struct str part;

    while (str_split(&prices, ',', &part)) {
        part = str_trim(part);
        if (part.len > 0 && !read_price(part, &price)) {
            return clew_fail(err, CLEW_INVALID,
                             "proxy.prices: \"%.*s\" is not MODEL INPUT OUTPUT "
                             "[CACHE_READ [CACHE_WRITE]]",
                             (int)(part.len < 60 ? part.len : 60), part.s);
        }
    }
    return CLEW_OK;
}
