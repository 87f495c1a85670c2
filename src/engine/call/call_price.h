/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_price.h - what a captured call cost.
 *
 * What the provider said counts first. Else the tokens are counted at the
 * prices of the setting "proxy.prices", and only if every kind of token that
 * the call used has one: a price is never guessed. A model is found by its
 * name, or by its name without the date that providers put at its end
 * ("gpt-4o-2024-08-06", "claude-sonnet-4-5-20250929").
 * Thread-safety: pure.
 */
#ifndef ENGINE_CALL_PRICE_H
#define ENGINE_CALL_PRICE_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdint.h>

struct request_call;

enum call_cost_from {
    CALL_COST_UNKNOWN,
    CALL_COST_REPLY, /* the provider's word */
    CALL_COST_PRICES /* tokens at the configured prices */
};

/* In millionths; `*out_micros` is written unless it is unknown. */
enum call_cost_from call_cost(struct str prices,
                              const struct request_call *call,
                              int64_t *out_micros);
/* Can the setting be read? Says which part of it cannot. */
enum clew_status call_prices_check(struct str prices,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
