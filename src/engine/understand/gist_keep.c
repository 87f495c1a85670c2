/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gist_keep.c - the gist of a turn is kept. See gist_keep.h.
 */
#include "engine/understand/gist_keep.h"

#include "engine/chat/turn.h"
#include "engine/read/doc.h"
#include "engine/read/gist.h"
#include "engine/read/reading.h"
#include "engine/understand/observation.h"

enum clew_status gist_keep(struct turn_work *work, struct clew_error *err)
{
    const struct observation *o = work->observation;
    struct batch_work *batch = work->batch;
    struct gist gist = {.id = work->turn->id};
    struct index_doc doc;
    enum clew_status status;

    if (!o || !o->gist.is_known) {
        return CLEW_OK;
    }
    gist.place = o->gist.at; /* the observation lives in the batch's arena */
    status =
        doc_of_turn(batch->arena, work->turn, &work->reading->text, &doc, err);
    if (status == CLEW_OK) {
        status = work_take_change(batch, &gist.change_seq, err);
    }
    if (status == CLEW_OK) {
        status = gist_put(batch->tx, &gist, gist_model(batch->engine), err);
    }
    if (status == CLEW_OK) {
        doc.change_seq = gist.change_seq;
        doc.gist = gist.place;
        status = work_add_doc(batch, &doc, err);
    }
    return status;
}
