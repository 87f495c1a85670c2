/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_tuning.h - the numbers that answers are ordered and judged by.
 *
 * All in one place, because they belong to one reader: another model of the
 * same form may ask for others (models/train). Fitted to conversation worlds
 * that the reader was not trained on.
 */
#ifndef ENGINE_SEARCH_TUNING_H
#define ENGINE_SEARCH_TUNING_H

/* --- how many are looked at --- */

/* Ranked and grouped before the first are read. */
#define SEARCH_POOL 64
/* Ranked beyond the limit where nothing is read: coats of one answer. */
#define SEARCH_SPARE 10
/* Turns looked up because a memory cites them. */
#define SEARCH_CITED 48
/* Tokens that two cores read in a millisecond, about (see recall.read_ms). The
 * same on every machine: a faster one answers sooner, not otherwise. */
#define SEARCH_TOKENS_PER_MS 20
/* Bytes of text that make a token, about, and tokens around each pair. */
#define SEARCH_TOKEN_BYTES 4
#define SEARCH_PAIR_TOKENS 12
/* The most that are read, whatever the time. */
#define SEARCH_MAX_READ 64
/* Of the tokens so much is read to the end, and at least so many texts: those
 * that promise most after the first layers. */
#define SEARCH_READ_ON 0.6
#define SEARCH_LEAST_READ_ON 3
/* The others answer with at most this probability: a glance sees less. */
#define GLANCE_MOST 0.05f

/* --- which are read first --- */

/* Beside its own match: that of the best memory drawn from it. */
#define PROMISE_MEMORY 0.2
/* … and what is named to the letter in it. */
#define PROMISE_NAMED 1.0

/* Its own match, of what was just said and is matched by its own words. */
#define PROMISE_LENDER 0.3

/* … and of what only asks the same: others are read before it. */
#define PROMISE_ASKING 0.1

/* What is read of a turn that names in passing what the name is asked of. */
#define CALLED_READ 0.95
/* … and of any at most, where nothing that was read speaks of that. */
#define CALLED_UNSPOKEN 0.3

/* --- what came of it --- */

/* Turns among the first whose efforts are looked at, efforts at once, and turns
 * of all of them that are looked through. */
#define OUTCOME_AMONG 8
#define OUTCOME_EFFORTS 8
#define OUTCOME_MAX_REFS 1024
/* What a last turn borrows of the promise of the effort's best turn. */
#define OUTCOME_SHARE 0.7

/* --- the evidence that it answers --- */

/* The most that a text can have which only asks the same: behind whatever may
 * answer (SCORE_MAYBE), before what is about something else. */
#define ASKING_MOST (-4.0)

/* Beside the logit of the reader's word: its own match, and that of the best
 * memory drawn from it. */
#define FUSE_OWN 0.8
#define FUSE_OWN_FOREIGN 5.0 /* in Chinese, Japanese, Korean */
#define FUSE_MEMORY 0.5
/* What a whole unit of meeting the times asked about is worth: the reader
 * hardly looks at days. */
#define FUSE_TIME 4.0
#define FUSE_TIME_FOREIGN 8.0 /* where words count more, too */
/* What matches by less than this share of the best match loses so much of the
 * logit for each unit that it lacks. */
#define FAR_SHARE 0.4
#define FAR_COST 2.0
/* Instead of that logit, for what was not read. */
#define FUSE_UNREAD (-6.0)

/* --- the order --- */

/* The least that the reader's word counts, as it does for what was not read: it
 * judges single turns, and of an answer that is told in several none is one by
 * itself. So its no leaves the order to what matches, whose own match weighs
 * more here than as evidence. */
#define ORDER_LEAST (-4.5)
#define ORDER_OWN 2.4
/* … and by so much more for each e-fold of documents in reach beyond so many:
 * of strangers that look like an answer there are as many times more, and what
 * matches tells them from it. */
#define ORDER_CROWD 2.0
#define ORDER_CROWD_FROM 200.0
/* For each of the first so many that is newer and may answer. */
#define ORDER_NEWER 0.3
#define ORDER_NEWER_AMONG 8

/* Among the first so many, turns that may answer by about as much (in evidence)
 * as a sum of several chats stand before it. */
#define SUMS_AMONG 8
#define SUMS_GAP 3.0

/* Where words are looked for rather than a question asked: so many, in so many
 * bytes; and what holding all of them is worth beside the reader's word. */
#define KEYWORD_MAX 3
#define KEYWORD_LOOSE 6
#define KEYWORD_BYTES 256
#define KEYWORD_BASE (-3.0)
#define KEYWORD_SLOPE 5.0
#define KEYWORD_STRANGER 2.0

/* What so few passages hold to the letter puts them first; where more do, it is
 * worth this. */
#define NAMED_FEW 3
#define FUSE_NAMED 2.0

/* --- what holds before what held --- */

/* Among the first so many, pairs that both may answer, the later not much less
 * (in logits) than the earlier. */
#define UPDATE_AMONG 8
#define UPDATE_MAX_PAIRS 4
#define UPDATE_MIN_READ 0.03
#define UPDATE_GAP 5.0
/* … and matching by so much of its match, or with a word in common: else it is
 * of another matter. */
#define UPDATE_SHARE 0.6
/* The reader's word that the later holds instead of the earlier: it goes first,
 * if it matches by that share; if it does not; the earlier is marked as
 * superseded. */
#define UPDATE_LIKELY 0.5
#define UPDATE_FAR 0.7
#define UPDATE_SURE 0.95
/* … which what is less like the question than this must have, without a word
 * of it, to go first. */
#define UPDATE_STRANGER 0.1f

/* Values of one line that are put in order at one place. */
#define LINEAGE_AT_ONCE 32

/* Turns among the first whose notes a model may have replaced, notes of them
 * that are read with the question, and how likely one must answer it. */
#define TOLD_AMONG 10
#define TOLD_MAX_NOTES 24
#define TOLD_MIN_READ 0.03
/* … and of the best note that still holds, where there is one: so much. */
#define TOLD_SHARE 0.5f

/* --- the score: the probability that it answers --- */

#define SCORE_BASE (-1.1)
#define SCORE_SLOPE 0.5
/* The same from what is known without reading. */
#define UNREAD_BASE (-2.2)
#define UNREAD_SLOPE 1.5
#define SCORE_SUPERSEDED 0.7
/* … of what answers a question that may have been meant otherwise. */
#define SCORE_MENDED 0.85
/* How the whole is answered, by the best score: "yes" from here on, "maybe"
 * from here on. */
#define SCORE_YES 0.4
#define SCORE_MAYBE 0.11
/* Below this nothing is told to those who did not ask: context, start, MCP,
 * injection. */
#define SCORE_FLOOR 0.01
/* What was not read may still stand in a context: so much of the best's
 * promise. */
#define UNREAD_PROMISE 0.25

/* So sure the reader must be that a tool's call or output answers, for those
 * who did not ask to be told of it. */
#define UNSAID_READ 0.5f

/* --- one matter --- */

/* What its own match weighs there, beside the reader's word, and by how much of
 * both something must be better to stand for e times as much. */
#define MATTER_OWN 3.5
#define MATTER_STEP 2.0
/* Chats whose words are compared: those that most was found in. */
#define MATTER_COMPARED 24
/* From which cosine of their words on two chats are of one matter, at first a
 * little, and what one lends the other of what was found in it. */
#define MATTER_ALIKE 0.07
#define MATTER_ALIKE_WIDTH 0.08
#define MATTER_LENT 0.5
/* Chats that are kept: so many, with so much of the first one's weight; and
 * those in which so much was found of what was in the best. */
#define MATTER_CHATS 8
#define MATTER_SHARE 0.3
#define MATTER_FOUND 0.3
/* … and whatever the first so many stand in, they stay. */
#define MATTER_FIRST 4

/* --- passages --- */

/* A turn up to here is its own passage; of a longer one so much is shown. */
#define PASSAGE_BYTES 480
/* Of the turn before, so much is read with it. */
#define PASSAGE_BEFORE_BYTES 240
/* What a whole unit of cosine is worth beside all words of the question. */
#define PASSAGE_COSINE 1.0f
/* … and what words at the very edge of a stretch cost: it parts equals. */
#define PASSAGE_ASIDE 0.02f

#endif
