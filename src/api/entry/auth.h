/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.h - who is asking: tenant and role of a call, from its key.
 *
 * Thread-safety: safe.
 */
#ifndef API_AUTH_H
#define API_AUTH_H

#include "api/api.h"

/*
 * Fill scope, role and key_id of `call`. In-process callers marked trusted are
 * the operator. As long as no key was ever made, whoever comes over a loopback
 * address is the admin of tenant "default". Everyone else needs a key:
 * CLEW_UNAUTHORIZED. While the store is down nobody gets in but through a route
 * with API_KNOWN_KEY, by a key that the store confirmed shortly before.
 */
enum clew_status auth_call(struct api_call *call,
                           struct clew_error *err) CLEW_MUST_CHECK;

/*
 * The same for requests from the network, by whatever path they come: wrong
 * keys are counted by address, and an address that sends too many is answered
 * CLEW_RATE_LIMITED before the store is asked. Right keys pass, also those that
 * this process has not seen (key_is_listed()).
 * Puts the headers that go with a refusal into call->response. A NULL gate
 * counts nothing.
 */
struct auth_gate;
enum clew_status auth_gate_new(struct auth_gate **out_gate) CLEW_MUST_CHECK;
void auth_gate_free(struct auth_gate *gate);
enum clew_status auth_enter(struct auth_gate *gate, struct api_call *call,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_RATE_LIMITED, with the header that says for how long. */
enum clew_status auth_slow_down(const struct api_call *call, int64_t wait_ms,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
