/* SPDX-License-Identifier: Apache-2.0 */
/*
 * language.h - the languages that are told apart.
 *
 * A guess by script and function words, good enough to choose a stemmer.
 */
#ifndef TEXT_LANGUAGE_H
#define TEXT_LANGUAGE_H

/* The order is that of the shipped lexicon's stop word bits. */
enum text_language {
    TEXT_ENGLISH,
    TEXT_GERMAN,
    TEXT_FRENCH,
    TEXT_SPANISH,
    TEXT_ITALIAN,
    TEXT_PORTUGUESE,
    TEXT_DUTCH,
    TEXT_RUSSIAN,
    TEXT_ARABIC,
    TEXT_GREEK,
    TEXT_UNKNOWN /* no evidence; words are stemmed as English */
};

#define TEXT_LANGUAGES ((int)TEXT_UNKNOWN)

#endif
