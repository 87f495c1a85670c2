/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_serve.c - run the server until a signal ends it.
 *
 * Signals are blocked in every thread and read from a descriptor here, so no
 * code ever runs in a handler. SIGTERM and SIGINT drain and end; a second one
 * ends at once. SIGHUP loads the agent packages again; so does a change in
 * their folder, within a few seconds.
 */
#include "api/entry/dispatch.h"
#include "api/mounts.h"
#include "base/arena.h"
#include "base/config.h"
#include "base/log.h"
#include "cli/client/owner.h"
#include "cli/core/cli.h"
#include "cli/serve/demo.h"
#include "cli/serve/notify.h"
#include "cli/serve/upload.h"
#include "cli/serve/upload_folder.h"
#include "engine/call/call_price.h"
#include "engine/capture/read_task.h"
#include "engine/chat/session.h"
#include "engine/core/engine.h"
#include "engine/keep/agents.h"
#include "engine/keep/agents_live.h"
#include "engine/open.h"
#include "http/mount.h"
#include "http/server.h"
#include "mcp/door.h"
#include "model/embed_ask.h"
#include "proxy/context.h"
#include "proxy/proxy.h"
#include "task/upkeep.h"
#include "task/worker.h"
#include "web/web.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Requests under way may take this long once the end was asked for. */
#define DRAIN_MS (30 * 1000)
/* How often the folder of agent packages is looked at. */
#define LOOK_MS 2000
/* Threads that do later work. */
#define WORKERS 2
/* For the list of tenants whose turns wait to be read. */
#define RESUME_BYTES ((size_t)64 << 20)

struct serving {
    struct engine *engine;
    struct api_front *front;
    struct web web;
    struct door *door;
    struct proxy *proxy;
    struct upload upload;
    struct worker_pool *workers;
    struct upkeep *upkeep;
    struct server *server;
    struct mount mounts[API_N_MOUNTS + 2]; /* the API, and the end */
    int signals;                           /* signalfd */
};

/* Secrets pass through this process: no one else reads its files or memory. */
static void harden(void)
{
    (void)umask(077);                         /* cannot fail */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* else only a comfort lost */
}

static enum clew_status take_signals(int *out_fd, struct clew_error *err)
{
    sigset_t set;
    int fd;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not wait for signals: %s", strerror(errno));
    }
    *out_fd = fd;
    return CLEW_OK;
}

/* From here on a signal ends the program in the ordinary way. */
static void give_signals_back(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static const char *text_or_null(const struct cli *cli, const char *key)
{
    const char *text = config_str(cli->config, key);

    return text && text[0] ? text : NULL;
}

/* Who answers what: each row of api_mounts[], and the API the rest. */
static void set_mounts(struct serving *serving)
{
    const struct mount mounts[] = {
        [API_MOUNT_MCP] = {NULL, door_handle, door_admit, serving->door},
        [API_MOUNT_PROXY] = {NULL, proxy_handle, proxy_admit, serving->proxy},
        [API_MOUNT_PROXY_KEYED] = {NULL, proxy_handle, proxy_admit,
                                   serving->proxy},
        [API_MOUNT_UPLOAD] = {NULL, upload_handle, upload_admit,
                              &serving->upload},
        /* the page; else the API */
        [API_N_MOUNTS] = {"", web_handle, web_admit, &serving->web},
        {NULL, NULL, NULL, NULL},
    };

    _Static_assert(sizeof(mounts) == sizeof(serving->mounts),
                   "room for every row");
    memcpy(serving->mounts, mounts, sizeof(mounts));
    for (size_t i = 0; i < API_N_MOUNTS; i++) {
        assert(mounts[i].handler); /* a new row of the table has one */
        serving->mounts[i].path = api_mounts[i].path;
    }
}

static struct server_options server_options_of(const struct cli *cli)
{
    return (struct server_options){
        .listen = config_str(cli->config, "server.listen"),
        .tls_cert = text_or_null(cli, "server.tls_cert"),
        .tls_key = text_or_null(cli, "server.tls_key"),
        .allowed_hosts = text_or_null(cli, "server.allowed_hosts"),
        .trusted_proxies = text_or_null(cli, "server.trusted_proxies"),
        .handler = mount_handle,
        .admit = mount_admit,
        .is_public = api_is_public,
        .max_connections =
            (int)config_int(cli->config, "server.max_connections"),
        .idle_ms =
            config_int(cli->config, "server.request_timeout_seconds") * 1000,
        .max_body_bytes = (size_t)config_int(cli->config, "limits.body_bytes"),
        .max_bodies_bytes =
            (size_t)config_int(cli->config, "limits.bodies_bytes"),
    };
}

/* What an earlier process left unread is read now, and sessions it left open
 * are looked after. Tell who reads, and how questions are looked up. */
static void resume_work(struct engine *engine)
{
    struct arena arena;
    struct store_place place = {0};
    const char *trouble = NULL;
    enum clew_status status;

    if (engine->reader_trouble) {
        log_event(LOG_WARN, "serve", "reader", "by=rules problem=\"%s\"",
                  engine->reader_trouble);
    }
    if (store_find_place(engine->store, &place, NULL) == CLEW_OK &&
        place.is_fenceless) {
        log_event(LOG_WARN, "serve", "role",
                  "problem=\"row-level security does not hold for a superuser "
                  "or a role with BYPASSRLS; use an ordinary one\"");
    }
    if (!embed_ask_shipped(&trouble)) {
        log_event(LOG_WARN, "serve", "ask", "by=plain_vectors problem=\"%s\"",
                  trouble);
    }
    arena_init(&arena, RESUME_BYTES);
    status = read_task_resume(engine, &arena, NULL);
    if (status == CLEW_OK) {
        status = session_resume(engine, &arena, NULL);
    }
    arena_release(&arena);
    if (status != CLEW_OK) {
        /* upkeep does it when the store has time */
        log_event(LOG_WARN, "serve", "resume_later", "code=%s",
                  clew_status_code(status));
    }
}

static enum clew_status start(const struct cli *cli, struct serving *serving,
                              struct clew_error *err)
{
    struct engine_options engine = {
        .config = cli->config, .store_url = text_or_null(cli, "store.url")};
    struct server_options server = server_options_of(cli);
    struct door_options door = {.next = api_front_handle,
                                .next_admit = api_front_admit};
    struct proxy_options proxy = {.next = api_front_handle,
                                  .next_admit = api_front_admit,
                                  .inject = proxy_context_recall};
    enum clew_status status =
        call_prices_check(str_of(config_str(cli->config, "proxy.prices")), err);

    if (status == CLEW_OK) {
        status = owner_become(config_data_dir(cli->config), err);
    }
    if (status == CLEW_OK) {
        status = engine_open(&engine, &serving->engine, err);
    }
    if (status == CLEW_OK) {
        status = api_front_new(serving->engine, &serving->front, err);
    }
    if (status == CLEW_OK && args_has(&cli->args, "demo")) {
        status = demo_load(serving->engine, err);
    }
    if (status == CLEW_OK) {
        serving->web =
            (struct web){api_front_handle, api_front_admit, serving->front};
        door.next_arg = serving->front;
        door.gate = proxy.gate = api_front_gate(serving->front);
        status = door_open(serving->engine, &door, &serving->door, err);
    }
    if (status == CLEW_OK) {
        proxy.next_arg = serving->front;
        proxy.inject_arg = serving->engine;
        status = proxy_open(serving->engine, &proxy, &serving->proxy, err);
    }
    if (status == CLEW_OK) {
        resume_work(serving->engine);
        status =
            worker_pool_open(serving->engine, WORKERS, &serving->workers, err);
    }
    if (status == CLEW_OK) {
        status = upkeep_open(serving->engine, serving->workers,
                             &serving->upkeep, err);
    }
    if (status == CLEW_OK) {
        (void)upload_folder_clean(serving->engine->data_dir); /* or later */
        serving->upload.engine = serving->engine;
        serving->upload.config = cli->config;
        serving->upload.front = serving->front;
        set_mounts(serving);
        server.arg = serving->mounts;
        status = server_open(&server, &serving->server, err);
    }
    return status;
}

/* What is wrong with packages; also which are in use, if they are new. */
static void tell_agents(struct agents_live *live, bool is_new)
{
    struct agents *set = agents_live_take(live);

    if (is_new) {
        log_event(LOG_INFO, "serve", "agents", "packages=%zu problems=%zu",
                  set->n_items, set->n_problems);
    }
    for (size_t i = 0; i < set->n_problems; i++) {
        log_event(LOG_WARN, "serve", "agent_package", "problem=\"%.*s\"",
                  (int)set->problems[i].message.len,
                  set->problems[i].message.s);
    }
    for (size_t i = 0; i < set->n_items; i++) {
        if (set->items[i].is_kept) {
            log_event(LOG_WARN, "serve", "agent_package",
                      "kept=\"%.*s\" reason=\"its file is broken\"",
                      (int)set->items[i].name.len, set->items[i].name.s);
        }
    }
    agents_unref(set);
}

static void reload(const struct serving *serving, bool is_forced)
{
    struct agents_live *live = serving->engine->agents;
    struct clew_error why = {0};
    bool is_changed = false;

    if (!live) {
        return;
    }
    if (agents_live_reload(live, is_forced, &is_changed, &why) != CLEW_OK) {
        log_event(LOG_ERROR, "serve", "agents", "problem=\"%s\"", why.message);
    } else if (is_changed) {
        tell_agents(live, true);
    }
}

/* Until SIGTERM or SIGINT. */
static void wait_for_end(const struct serving *serving)
{
    struct signalfd_siginfo info;

    for (;;) {
        struct pollfd ready = {.fd = serving->signals, .events = POLLIN};
        ssize_t n;

        if (poll(&ready, 1, LOOK_MS) == 0) {
            reload(serving, false);
            continue;
        }
        n = read(serving->signals, &info, sizeof(info));
        if (n != (ssize_t)sizeof(info)) {
            if (n < 0 && errno == EINTR) {
                continue;
            }
            return;
        }
        if (info.ssi_signo != SIGHUP) {
            log_event(LOG_INFO, "serve", "stopping", "signal=%u",
                      info.ssi_signo);
            return;
        }
        log_event(LOG_INFO, "serve", "reload", "signal=%u", info.ssi_signo);
        reload(serving, true);
    }
}

static void stop(struct serving *serving)
{
    server_close(serving->server, DRAIN_MS);
    proxy_close(serving->proxy);
    door_close(serving->door);
    upkeep_close(serving->upkeep);
    worker_pool_close(serving->workers);
    api_front_free(serving->front);
    engine_close(serving->engine);
    if (serving->signals >= 0) {
        (void)close(serving->signals); /* nothing is buffered in it */
    }
}

/* Where it is, and for a person at a terminal how to look at it. */
static void tell_address(const struct cli *cli, const char *url)
{
    if (args_has(&cli->args, "demo")) {
        (void)fprintf(stderr, "demo data in %s\n",
                      config_str(cli->config, "store.url")[0]
                          ? "the database"
                          : config_data_dir(cli->config));
    }
    (void)fprintf(stderr, "listening on %s\n", url);
    if (isatty(STDERR_FILENO) && strncmp(url, "http", 4) == 0) {
        (void)fprintf(stderr,
                      "\n  open %s/ in a browser to see what is remembered\n"
                      "  or: xdg-open %s/\n\n",
                      url, url);
    }
}

static enum clew_status run_serve(struct cli *cli, struct clew_error *err)
{
    struct serving serving = {.signals = -1};
    enum clew_status status;

    harden();
    status = take_signals(&serving.signals, err);
    if (status == CLEW_OK) {
        status = start(cli, &serving, err);
    }
    if (status == CLEW_OK) {
        if (serving.engine->agents) {
            tell_agents(serving.engine->agents, false);
        }
        tell_address(cli, server_url(serving.server));
        (void)notify("READY=1"); /* most have no manager to tell */
        wait_for_end(&serving);
        (void)notify("STOPPING=1");
        give_signals_back();
    }
    stop(&serving);
    return status;
}

static const struct arg_option serve_options[] = {
    {"listen", 'l', "HOST:PORT", "server.listen",
     "here, or on unix:PATH; port 0 picks a free one"},
    {"tls-cert", 0, "FILE", "server.tls_cert", "PEM certificate chain"},
    {"tls-key", 0, "FILE", "server.tls_key", "PEM private key"},
    {"upstream", 0, "NAME=URL", "proxy.upstreams.*",
     "where the proxy sends what is for NAME; repeatable"},
    {"demo", 0, NULL, NULL,
     "with a few turns to look at, in a folder of its own"},
    {NULL, 0, NULL, NULL, NULL},
};

const struct command command_serve = {
    .name = "serve",
    .operands = "",
    .summary = "serve the API, the proxy and MCP over HTTP",
    .example = "clew serve --data ./data --listen 127.0.0.1:2539",
    .options = serve_options,
    .run = run_serve,
    .makes_store = true,
};
