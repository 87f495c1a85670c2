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
 * CLEW_UNAUTHORIZED.
 */
enum clew_status auth_call(struct api_call *call,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
