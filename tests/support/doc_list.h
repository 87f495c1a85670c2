/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_list.h - documents that a test has made, as what an index is fed from.
 *
 * They are never replaced or removed: the number of a change is how many there
 * are. Where that matters, see fake_source.h.
 */
#ifndef SUPPORT_DOC_LIST_H
#define SUPPORT_DOC_LIST_H

#include "index/index.h"

struct doc_list {
    struct index_doc *docs; /* the test's */
    size_t count;
    size_t step; /* so many a load at most; 0 = as many as the index takes */
};

/* `list` must outlive the index. */
struct index_source doc_list_source(struct doc_list *list);

#endif
