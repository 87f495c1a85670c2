/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bring_name.h - what a message is called in the store whose name is taken.
 *
 * An importer names a message by the ids of its program, and in a tenant a name
 * is given once. So two users cannot both bring the group they are in under
 * those names, nor one user a message again that was edited since. Whoever
 * comes second gets a name made of the first: with a digest of the user, or of
 * the words. The same file brought again comes to the same names, also when who
 * came first was forgotten and the first names are free.
 * Thread-safety: none; one import at a time.
 */
#ifndef CLI_BRING_BRING_NAME_H
#define CLI_BRING_BRING_NAME_H

#include "clew/attr.h"
#include "cli/bring/bring.h"
#include "import/import.h"

#include <stddef.h>

/* An importer's own has under 256 bytes, each digest adds 17. */
#define BRING_NAME_BYTES 320

struct bring_name {
    char text[BRING_NAME_BYTES];
    bool is_users; /* made of the user too */
    bool is_words; /* and of the words */
};

/* Where the user's message is that a program calls `id`, whatever it is called
 * here; as `find` of struct import_ops. */
enum clew_status bring_name_find(struct bring *bring, struct str id,
                                 struct import_place *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;

/*
 * What `n` messages that follow each other are called: what this user's own
 * names are known of keeps them. They are looked for one by one from the first
 * that is met in this import on; before, in some of each batch alone, since
 * hardly anybody has any and each look is a call.
 */
enum clew_status bring_name_choose(struct bring *bring,
                                   const struct import_message *messages,
                                   size_t n, struct bring_name *out_names,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* Which of `n` messages `err`, the answer to their post, says has a name that
 * is taken; SIZE_MAX: it says something else. */
size_t bring_name_taken(const struct clew_error *err, size_t n);

/*
 * Give message `at` another name, and those behind it whose names are another
 * user's. CLEW_CONFLICT, and `err` as it was, if it can have none: it was given
 * all of them, or its program's names are its user's own choice.
 */
enum clew_status bring_name_change(const struct bring *bring,
                                   const struct import_message *messages,
                                   size_t n, size_t at,
                                   struct bring_name *names,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
