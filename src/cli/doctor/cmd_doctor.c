/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_doctor.c - look at an installation and say what is wrong with it.
 */
#include "base/json.h"
#include "cli/core/cli.h"
#include "cli/doctor/doctor.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

/* In the order people should mend them. */
static void (*const checks[])(struct doctor *doctor) = {
    doctor_settings, doctor_folder, doctor_store,  doctor_reading,
    doctor_speed,    doctor_agents, doctor_tasks,  doctor_server,
    doctor_remote,   doctor_model,  doctor_clients};

static const char *word_of(enum doctor_state state)
{
    switch (state) {
    case DOCTOR_OK:
        return "ok";
    case DOCTOR_NOTE:
        return "note";
    case DOCTOR_WRONG:
        return "WRONG";
    }
    return "";
}

static void show_finding(struct cli *cli, const struct doctor_finding *finding)
{
    char head[32];

    (void)snprintf(head, sizeof(head), "%-6s%-10s", word_of(finding->state),
                   finding->part);
    output_text(&cli->out,
                finding->state == DOCTOR_WRONG ? OUTPUT_BOLD : OUTPUT_DIM,
                str_of(head));
    show_paragraph_after(cli, strlen(head), str_of(finding->found));
    if (finding->mend[0]) {
        show_paragraph(cli, "                ", str_of(finding->mend));
    }
}

static enum clew_status show_json(struct cli *cli, const struct doctor *doctor,
                                  size_t n_wrong, struct clew_error *err)
{
    static const char *const states[] = {"ok", "note", "wrong"};
    json_t *list = json_array();
    json_t *json =
        json_pack("{s:I, s:o}", "wrong", (json_int_t)n_wrong, "checks", list);

    for (size_t i = 0; json && i < doctor->n_findings; i++) {
        const struct doctor_finding *f = &doctor->findings[i];
        json_t *item =
            json_pack("{s:s, s:s, s:s, s:s}", "part", f->part, "state",
                      states[f->state], "found", f->found, "mend", f->mend);

        if (json_array_append_new(list, item) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    if (!json) {
        return clew_no_memory(err);
    }
    output_json(&cli->out, json);
    json_decref(json);
    return CLEW_OK;
}

static enum clew_status run_doctor(struct cli *cli, struct clew_error *err)
{
    struct doctor doctor = {.cli = cli};
    enum clew_status status = CLEW_OK;
    size_t n_wrong = 0;

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        checks[i](&doctor);
    }
    for (size_t i = 0; i < doctor.n_findings; i++) {
        n_wrong += doctor.findings[i].state == DOCTOR_WRONG;
        if (!cli->as_json) {
            show_finding(cli, &doctor.findings[i]);
        }
    }
    if (cli->as_json) {
        status = show_json(cli, &doctor, n_wrong, err);
    }
    if (status == CLEW_OK && n_wrong > 0) {
        status = clew_fail(err, CLEW_CONFLICT, "%zu thing%s wrong", n_wrong,
                           n_wrong == 1 ? " is" : "s are");
    }
    return status;
}

const struct command command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "check an installation: what is wrong, and how to mend it",
    .example = "clew doctor",
    .run = run_doctor,
    .takes_bad_config = true,
};
