/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents.c - the set of packages: those built in, and those of a folder.
 */
#include "engine/keep/agents.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory of a whole set: as many packages as there may be, at their longest,
 * with what was read of them. */
#define SET_BYTES (4u * AGENT_MAX_PACKAGES * AGENT_MAX_BYTES)

#define ACT(name) (1u << INTENT_##name)

static const struct agent builtins[] = {
    {.name = {"effort", 6},
     .description = {"somebody sets out to get something done", 39},
     .is_builtin = true,
     .opens = {.acts = ACT(REQUEST), .is_set = true},
     .extends = {.is_set = true},
     .concludes = {.acts = ACT(ACCEPT), .is_set = true},
     .fields = {{.name = {"goal", 4}, .is_required = true},
                {.name = {"attempts", 8}, .is_many = true},
                {.name = {"resolution", 10}}},
     .n_fields = 3},
    {.name = {"fact", 4},
     .description = {"a statement, or an answered question", 36},
     .is_builtin = true,
     .opens = {.acts = ACT(INFORM) | ACT(QUESTION), .is_set = true},
     .fields = {{.name = {"statement", 9}, .is_required = true},
                {.name = {"source", 6}},
                {.name = {"confidence", 10}}},
     .n_fields = 3},
    {.name = {"event", 5},
     .description = {"something that happened or will, at a time", 42},
     .is_builtin = true,
     .opens = {.acts = ACT(INFORM) | ACT(COMMIT) | ACT(REQUEST),
               .is_set = true},
     .fields = {{.name = {"what", 4}, .is_required = true},
                {.name = {"when", 4}}},
     .n_fields = 2},
    {.name = {"decision", 8},
     .description = {"a choice, and what was not chosen", 33},
     .is_builtin = true,
     .opens = {.acts = ACT(COMMIT) | ACT(INFORM) | ACT(REQUEST),
               .is_set = true},
     .fields = {{.name = {"choice", 6}, .is_required = true},
                {.name = {"alternatives", 12}, .is_many = true}},
     .n_fields = 2},
};
#define N_BUILTINS (sizeof(builtins) / sizeof(builtins[0]))

static bool is_package(struct str name)
{
    return name.len > 0 && name.s[0] != '.' &&
           (str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")));
}

/* The first names of a folder, sorted. */
struct listing {
    char *names[AGENT_MAX_PACKAGES + 1]; /* one more says that there are more */
    size_t count;
    int trouble; /* errno of a folder that cannot be read, 0 */
};

/* In its place, if it is among the first. */
static bool list_name(struct arena *arena, struct listing *list,
                      const char *name)
{
    size_t cap = sizeof(list->names) / sizeof(list->names[0]);
    size_t at = list->count;
    char *copy;

    while (at > 0 && strcmp(name, list->names[at - 1]) < 0) {
        at--;
    }
    if (at == cap) {
        return true;
    }
    /* what falls out at the end leaves its room */
    copy = list->count == cap ? list->names[cap - 1]
                              : arena_alloc(arena, NAME_MAX + 1);
    if (!copy) {
        return false;
    }
    list->count += list->count < cap;
    memmove(&list->names[at + 1], &list->names[at],
            (list->count - 1 - at) * sizeof(list->names[0]));
    (void)snprintf(copy, NAME_MAX + 1, "%s", name);
    list->names[at] = copy;
    return true;
}

/* The names of packages in a folder; a missing one has none. */
static enum clew_status list_folder(struct arena *arena, const char *folder,
                                    struct listing *out, struct clew_error *err)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool is_ok = true;

    memset(out, 0, sizeof(*out));
    if (!dir) {
        out->trouble = errno == ENOENT ? 0 : errno;
        return out->trouble == 0 || out->trouble == ENOTDIR ||
                       out->trouble == EACCES
                   ? CLEW_OK
                   : clew_fail(err, CLEW_INTERNAL,
                               "could not read the folder of agents: %s",
                               strerror(out->trouble));
    }
    while (is_ok && (entry = readdir(dir)) != NULL) {
        is_ok = !is_package(str_of(entry->d_name)) ||
                list_name(arena, out, entry->d_name);
    }
    (void)closedir(dir); /* only read from */
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

/* Files only: a pipe would keep the reader waiting. */
static enum clew_status read_whole(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char chunk[4096];
    struct stat info;
    ssize_t len = 1;
    enum clew_status status = CLEW_OK;

    if (fd < 0) {
        return CLEW_NOT_FOUND;
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = CLEW_NOT_FOUND;
    }
    while (status == CLEW_OK && len > 0) {
        len = read(fd, chunk, sizeof(chunk));
        if (len > 0) {
            status = buf_append(out, chunk, (size_t)len);
        } else if (len < 0 && errno != EINTR) {
            status = CLEW_NOT_FOUND;
        }
        len = len < 0 ? 1 : len; /* once more, if it was interrupted */
    }
    (void)close(fd); /* only read from */
    return status;
}

static enum clew_status add_problem(struct agents *set, const char *file,
                                    int line, const char *message)
{
    struct agent_problem *problem = &set->problems[set->n_problems];

    problem->file = arena_str(&set->arena, str_of(file));
    problem->line = line;
    problem->message = arena_str(&set->arena, str_of(message));
    if (!problem->file.s || !problem->message.s) {
        return CLEW_NO_MEMORY;
    }
    set->n_problems++;
    return CLEW_OK;
}

enum clew_status agent_read(struct arena *arena, const char *path,
                            struct agent *out_agent, int *out_line,
                            struct clew_error *err)
{
    struct buf text;
    enum clew_status status;

    *out_line = 1;
    buf_init(&text, AGENT_MAX_BYTES + 1);
    status = read_whole(path, &text);
    if (status == CLEW_OK) {
        status =
            agent_parse(arena, path, buf_str(&text), out_agent, out_line, err);
    } else if (status != CLEW_NO_MEMORY) {
        status = clew_fail(
            err, status == CLEW_TOO_LARGE ? CLEW_INVALID : CLEW_NOT_FOUND,
            "%s: %s", path,
            status == CLEW_TOO_LARGE ? "too large for a package"
                                     : "there is no such file, or it cannot be "
                                       "read");
    }
    buf_release(&text);
    return status;
}

/* The package that was made of a broken file while it was whole. */
static enum clew_status
keep_older(struct agents *set, const struct agents *before, const char *path)
{
    for (size_t i = 0; before && i < before->n_items; i++) {
        const struct agent *older = &before->items[i];
        struct agent agent;
        int line;
        enum clew_status status;

        if (older->is_builtin || !str_eq(older->file, str_of(path)) ||
            agents_find(set, older->name)) {
            continue;
        }
        status =
            agent_parse(&set->arena, path, older->source, &agent, &line, NULL);
        if (status == CLEW_OK) {
            agent.is_kept = true;
            set->items[set->n_items++] = agent;
        }
        return status;
    }
    return CLEW_OK;
}

/* One file: a package more, or a problem more. */
static enum clew_status load_file(struct agents *set,
                                  const struct agents *before,
                                  const char *folder, const char *name)
{
    struct clew_error why = {0};
    struct agent agent;
    char *path = arena_printf(&set->arena, "%s/%s", folder, name);
    int line = 1;
    enum clew_status status;

    if (!path) {
        return CLEW_NO_MEMORY;
    }
    status = agent_read(&set->arena, path, &agent, &line, &why);
    if (status == CLEW_OK && agents_find(set, agent.name)) {
        status =
            clew_fail(&why, CLEW_INVALID,
                      "%s:1: a package of this name is there already", path);
    }
    if (status == CLEW_INVALID || status == CLEW_NOT_FOUND) {
        status = add_problem(set, path, line, why.message);
        return status == CLEW_OK ? keep_older(set, before, path) : status;
    }
    if (status == CLEW_OK) {
        set->items[set->n_items++] = agent;
    }
    return status;
}

/* A home that may not be looked into holds none for this user. Where there were
 * some it is no wish that they go. */
static enum clew_status keep_all(struct agents *set,
                                 const struct agents *before,
                                 const char *folder, int trouble)
{
    char words[128];
    enum clew_status status = CLEW_OK;

    if (!before || before->n_items == N_BUILTINS) {
        return CLEW_OK;
    }
    (void)snprintf(words, sizeof(words), "the folder cannot be read: %s",
                   strerror(trouble));
    status = add_problem(set, folder, 1, words);
    for (size_t i = N_BUILTINS; i < before->n_items && status == CLEW_OK; i++) {
        status = keep_older(set, before, before->items[i].file.s);
    }
    return status;
}

static enum clew_status load_folder(struct agents *set,
                                    const struct agents *before,
                                    const char *folder, struct clew_error *err)
{
    struct listing list;
    enum clew_status status = list_folder(&set->arena, folder, &list, err);

    if (status == CLEW_OK && list.trouble) {
        return keep_all(set, before, folder, list.trouble);
    }
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        if (i == AGENT_MAX_PACKAGES) {
            return add_problem(set, folder, 1,
                               "too many packages; the rest is left out");
        }
        status = load_file(set, before, folder, list.names[i]);
    }
    return status;
}

enum clew_status agents_load(const char *folder, const struct agents *before,
                             struct agents **out_agents, struct clew_error *err)
{
    struct agents *set = alloc_zero(1, sizeof(*set));
    enum clew_status status = CLEW_NO_MEMORY;

    if (!set) {
        return clew_no_memory(err);
    }
    atomic_init(&set->n_refs, 1);
    arena_init(&set->arena, SET_BYTES);
    set->items = arena_zero(&set->arena, N_BUILTINS + AGENT_MAX_PACKAGES,
                            sizeof(*set->items));
    set->problems =
        arena_zero(&set->arena, AGENT_MAX_PACKAGES + 1, sizeof(*set->problems));
    if (!set->items || !set->problems) {
        goto out;
    }
    memcpy(set->items, builtins, sizeof(builtins));
    set->n_items = N_BUILTINS;
    status = folder ? load_folder(set, before, folder, err) : CLEW_OK;
    if (status != CLEW_OK) {
        goto out;
    }
    *out_agents = set;
    set = NULL;
out:
    agents_unref(set);
    return status;
}

struct agents *agents_ref(struct agents *agents)
{
    (void)atomic_fetch_add(&agents->n_refs, 1); /* the old count */
    return agents;
}

void agents_unref(struct agents *agents)
{
    if (agents && atomic_fetch_sub(&agents->n_refs, 1) == 1) {
        arena_release(&agents->arena);
        alloc_free(agents);
    }
}

const struct agent *agents_find(const struct agents *agents, struct str name)
{
    for (size_t i = 0; i < agents->n_items; i++) {
        if (str_eq(agents->items[i].name, name)) {
            return &agents->items[i];
        }
    }
    return NULL;
}
