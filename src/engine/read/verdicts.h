/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts.h - what the reader said of two texts before.
 *
 * A verdict follows from its texts alone and never grows old. The next page of
 * an answer, the same question put again, in words or for a context, two turns
 * of which the one updates the other, and a chat's beginning beside earlier
 * chats as it goes on meet the same pairs; each takes some 15 to 30 ms of a
 * processor to read. Texts are not kept, only their hash; what
 * was not asked for long makes room. One tenant's pairs are nobody else's: how
 * soon an answer comes must not tell what others asked.
 * Thread-safety: internally locked.
 */
#ifndef ENGINE_VERDICTS_H
#define ENGINE_VERDICTS_H

#include "clew/attr.h"
#include "clew/status.h"
#include "model/reader.h"

#include <stdint.h>

struct verdicts;

/* NULL without memory; then everything is read. */
struct verdicts *verdicts_new(void);
/* NULL is a no-op. */
void verdicts_free(struct verdicts *verdicts);

/* As reader_compare() of one pair; `verdicts` may be NULL. Fails only with
 * CLEW_NO_MEMORY. */
enum clew_status verdicts_compare(struct verdicts *verdicts,
                                  const struct reader *reader, int64_t tenant,
                                  enum reader_pair_kind kind,
                                  const struct reader_pair *pair,
                                  struct reader_verdict *out) CLEW_MUST_CHECK;
/* As reader_glance(); of what is known only the promise is given, and x is
 * NULL. */
enum clew_status verdicts_glance(struct verdicts *verdicts,
                                 const struct reader *reader,
                                 struct arena *arena, int64_t tenant,
                                 const struct reader_pair *pair,
                                 struct reader_glance *out) CLEW_MUST_CHECK;
/* As verdicts_compare() of READER_ANSWER, for a pair that was glanced at. */
enum clew_status verdicts_read_on(struct verdicts *verdicts,
                                  const struct reader *reader, int64_t tenant,
                                  const struct reader_pair *pair,
                                  const struct reader_glance *glance,
                                  struct reader_verdict *out) CLEW_MUST_CHECK;
/* Pairs that were not read because they were known, since it was made. */
uint64_t verdicts_known(struct verdicts *verdicts);

#endif
