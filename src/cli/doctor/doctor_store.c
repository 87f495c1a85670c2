/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_store.c - the data folder and what is in it. See doctor.h.
 */
#include "base/config.h"
#include "cli/client/client.h"
#include "cli/doctor/doctor.h"
#include "cli/show/show.h"
#include "engine/core/engine.h"
#include "engine/keep/agents.h"
#include "engine/keep/agents_live.h"
#include "engine/proof/verify.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Less free space than this is trouble soon. */
#define LEAST_FREE_BYTES (256LL << 20)

static bool is_elsewhere(const struct doctor *doctor)
{
    return config_str(doctor->cli->config, "store.url")[0] != '\0';
}

static void look_at_space(struct doctor *doctor, const char *folder)
{
    struct statvfs disk;
    long long n_free;

    if (statvfs(folder, &disk) != 0) {
        return;
    }
    n_free = (long long)disk.f_bavail * (long long)disk.f_frsize;
    if (n_free < LEAST_FREE_BYTES) {
        doctor_tell(doctor, "folder", DOCTOR_WRONG,
                    "free some space: a full disk stops all writing",
                    "only %lld MB are free at %s", n_free >> 20, folder);
    } else {
        doctor_tell(doctor, "folder", DOCTOR_OK, "", "%s, %.1f GB free", folder,
                    (double)n_free / (1 << 30));
    }
}

void doctor_folder(struct doctor *doctor)
{
    const char *folder = config_data_dir(doctor->cli->config);
    const char *file = arena_printf(&doctor->cli->arena, "%s/clew.db", folder);
    struct stat info;

    if (stat(folder, &info) != 0) {
        doctor_tell(doctor, "folder", DOCTOR_NOTE,
                    "\"clew turn TEXT\", \"clew import FILE\" or \"clew "
                    "serve\" makes it",
                    "%s is not there yet", folder);
        return;
    }
    if (!S_ISDIR(info.st_mode)) {
        doctor_tell(doctor, "folder", DOCTOR_WRONG,
                    "move that file away, or set data.dir to a folder",
                    "%s is no folder", folder);
        return;
    }
    look_at_space(doctor, folder);
    if (access(folder, W_OK | X_OK) != 0) {
        doctor_tell(doctor, "folder", DOCTOR_WRONG,
                    "chown it to the user who runs clew",
                    "%s may not be written by this user", folder);
    }
    if (file && stat(file, &info) == 0 && (info.st_mode & 077) != 0) {
        doctor_tell(doctor, "folder", DOCTOR_WRONG,
                    arena_printf(&doctor->cli->arena, "chmod 600 %s", file),
                    "others on this machine may read %s", file);
    }
}

static void look_at_replica(struct doctor *doctor)
{
    struct store_replica replica;

    store_replica_look(doctor->engine->store, &replica);
    if (replica.is_down) {
        doctor_tell(doctor, "replica", DOCTOR_WRONG,
                    "is it up, and store.read_url right: a standby of the same "
                    "database, and a role that may read its tables?",
                    "the replica cannot be used; the primary does all reading");
    } else if (replica.is_behind) {
        doctor_tell(doctor, "replica", DOCTOR_NOTE,
                    "look at pg_stat_replication, and whether replay is paused",
                    "the replica is behind; the primary does all reading");
    } else if (replica.is_used) {
        doctor_tell(doctor, "replica", DOCTOR_OK, "",
                    "follows the primary, reads go there");
    }
}

/* A superuser passes through the second fence between tenants. */
static void look_at_role(struct doctor *doctor)
{
    struct store_place place = {0};

    if (store_find_place(doctor->engine->store, &place, NULL) == CLEW_OK &&
        place.is_fenceless) {
        doctor_tell(doctor, "role", DOCTOR_WRONG,
                    "make an ordinary role the owner of the database and its "
                    "tables (docs/operations.md)",
                    "row-level security does not hold for the role in "
                    "store.url");
    }
}

/* Open it, and let it be looked through without the replay. */
void doctor_store(struct doctor *doctor)
{
    struct cli *cli = doctor->cli;
    struct client_options options = {.config = cli->config,
                                     .tenant = args_str(&cli->args, "tenant"),
                                     .must_exist = true};
    struct verify_options quick = {.is_quick = true};
    struct verify_report report = {0};
    struct clew_error why = {0};
    enum clew_status status = client_open(&options, &cli->client, &why);

    if (status == CLEW_NOT_FOUND) {
        doctor_tell(doctor, "store", DOCTOR_NOTE, "", "nothing is stored yet");
        return;
    }
    if (status == CLEW_OK) {
        doctor->engine = client_engine(cli->client);
        status = verify_run(doctor->engine, &cli->arena, &quick, &report, &why);
    }
    if (status != CLEW_OK) {
        doctor_tell(doctor, "store", DOCTOR_WRONG,
                    status == CLEW_NEWER_SCHEMA ? "" /* it says what to do */
                    : is_elsewhere(doctor)
                        ? "is PostgreSQL up, and store.url right?"
                        : "put the last backup of clew.db in its place "
                          "(docs/operations.md), or if clew may not read it, "
                          "chown it",
                    "%s", why.message);
        return;
    }
    look_at_role(doctor);
    look_at_replica(doctor);
    for (size_t i = 0; i < report.n_faults; i++) {
        doctor_tell(doctor, "store", DOCTOR_WRONG,
                    "\"clew verify\" tells more, \"clew rebuild\" mends what "
                    "is derived",
                    "not true for %lld: %s%s%s",
                    (long long)report.faults[i].count, report.faults[i].rule,
                    report.faults[i].detail ? ": " : "",
                    report.faults[i].detail ? report.faults[i].detail : "");
    }
    if (report.n_faults == 0) {
        doctor_tell(doctor, "store", DOCTOR_OK, "", "sound: %s, %s, %s",
                    show_count(doctor->cli, report.n_chats, "chats"),
                    show_count(doctor->cli, report.n_turns, "turns"),
                    show_count(doctor->cli, report.n_memories, "memories"));
    }
}

void doctor_reading(struct doctor *doctor)
{
    struct clew_error why = {0};
    json_t *health = NULL;
    json_int_t n_waiting;

    if (!doctor->engine) {
        return;
    }
    if (doctor->engine->reader_trouble) {
        doctor_tell(doctor, "reader", DOCTOR_WRONG,
                    "correct reader.file, or leave it empty for the model "
                    "that comes with clew",
                    "rules read the turns: %s", doctor->engine->reader_trouble);
    }
    if (cli_call(doctor->cli, "GET", "/healthz", NULL, &health, &why) ==
        CLEW_OK) {
        const json_t *reading = json_object_get(health, "reading");

        n_waiting = json_integer_value(json_object_get(reading, "waiting")) -
                    json_integer_value(json_object_get(reading, "chats"));
        if (n_waiting > 0) {
            doctor_tell(doctor, "reader", DOCTOR_NOTE,
                        "a running server reads them",
                        "%lld turns wait to be read", (long long)n_waiting);
        } else {
            doctor_tell(doctor, "reader", DOCTOR_OK, "",
                        "every turn has been read");
        }
    }
    json_decref(health);
}

void doctor_agents(struct doctor *doctor)
{
    struct agents *set;

    if (!doctor->engine || !doctor->engine->agents) {
        return;
    }
    set = agents_live_take(doctor->engine->agents);
    for (size_t i = 0; i < set->n_problems; i++) {
        doctor_tell(doctor, "agents", DOCTOR_WRONG,
                    "\"clew agents check FILE\" says where", "%.*s",
                    (int)set->problems[i].message.len,
                    set->problems[i].message.s);
    }
    if (set->n_problems == 0) {
        doctor_tell(doctor, "agents", DOCTOR_OK, "", "%zu packages",
                    set->n_items);
    }
    agents_unref(set);
}

void doctor_tasks(struct doctor *doctor)
{
    struct clew_error why = {0};
    const json_t *task;
    json_t *answer = NULL;

    if (!doctor->engine ||
        cli_call(doctor->cli, "GET", "/api/v1/tasks?status=failed&limit=1",
                 NULL, &answer, &why) != CLEW_OK) {
        return;
    }
    task = json_array_get(json_object_get(answer, "items"), 0);
    if (task) {
        doctor_tell(doctor, "tasks", DOCTOR_WRONG,
                    "\"clew tasks --status failed\" lists them; \"clew "
                    "rebuild\" does derived work again",
                    "later work was given up: %s: %s", cli_field(task, "kind"),
                    cli_field(task, "last_error"));
    } else {
        doctor_tell(doctor, "tasks", DOCTOR_OK, "", "none was given up");
    }
    json_decref(answer);
}
