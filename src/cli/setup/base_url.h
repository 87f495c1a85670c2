/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base_url.h - where a client sends its calls, in the text of its file.
 *
 * Three ways in which clients write it. What a person wrote stays: an address
 * that is not ours is never replaced without being asked to, nor taken out.
 * Thread-safety: pure functions.
 */
#ifndef CLI_SETUP_BASE_URL_H
#define CLI_SETUP_BASE_URL_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

enum base_url_form {
    BASE_URL_NONE,      /* it is set elsewhere: docs/proxy.md */
    BASE_URL_ENV,       /* JSON: a variable in "env" */
    BASE_URL_TOML,      /* TOML: a key at the top */
    BASE_URL_PROVIDERS, /* JSON: "provider": "anthropic" and "openai" */
};

struct base_url {
    enum base_url_form form;
    const char *name; /* of the variable or the key */
    const char *path; /* what follows the server's address, "/v1" or "" */
};

/* CLEW_CONFLICT if a provider has settings of its own. */
enum clew_status base_url_set(const struct base_url *place, struct str text,
                              const char *url, struct buf *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Without it, if it is one of the `n_own` servers (NULLs are none); else as it
 * was. */
enum clew_status base_url_remove(const struct base_url *place, struct str text,
                                 const char *const *own, size_t n_own,
                                 struct buf *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The address in it, cut to `cap`, empty if there is none. */
void base_url_get(const struct base_url *place, struct str text, char *out,
                  size_t cap);

#endif
