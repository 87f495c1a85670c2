/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg.c - start and stop a private PostgreSQL. See pg.h.
 */
#include "support/pg.h"

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static char bin[256];
static pid_t server;
static pid_t standby;
static pid_t owner_of_dir;
static int n_databases;

static void die(const char *what)
{
    (void)fprintf(stderr, "postgres for tests: %s: %s\n", what,
                  strerror(errno));
    exit(1);
}

static void find_binaries(void)
{
    const char *chosen = getenv("CLEW_TEST_PG_BIN");
    glob_t found;

    if (chosen) {
        (void)snprintf(bin, sizeof(bin), "%s", chosen);
        return;
    }
    if (glob("/usr/lib/postgresql/*/bin", 0, NULL, &found) != 0) {
        errno = ENOENT;
        die("no server found; install postgresql or set CLEW_TEST_PG_BIN");
    }
    (void)snprintf(bin, sizeof(bin), "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
}

static const struct passwd *ordinary_user(void)
{
    const struct passwd *user;

    if (geteuid() != 0) {
        return NULL;
    }
    user = getpwnam("postgres");
    return user ? user : getpwnam("nobody");
}

/* In a child: become the ordinary user and the program of a command line whose
 * words hold no spaces. */
static void become(char *line)
{
    enum { MAX_WORDS = 32 };
    const struct passwd *user = ordinary_user();
    char *argv[MAX_WORDS] = {NULL};
    char *rest = line;
    char log[96];
    int fd;

    for (int i = 0; i < MAX_WORDS - 1; i++) {
        argv[i] = strtok_r(i == 0 ? line : NULL, " ", &rest);
    }
    if (user && (setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 ||
                 setuid(user->pw_uid) != 0)) {
        _exit(126);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
    (void)snprintf(log, sizeof(log), "%s/log", dir);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || chdir(dir) != 0) {
        _exit(125);
    }
    (void)execv(argv[0], argv);
    _exit(127);
}

static pid_t spawn(char *line)
{
    pid_t pid = fork();

    if (pid < 0) {
        die("fork");
    }
    if (pid == 0) {
        become(line);
    }
    return pid;
}

static void run(char *line)
{
    pid_t pid = spawn(line);
    int status = 0;

    if (waitpid(pid, &status, 0) != pid || status != 0) {
        (void)fprintf(stderr, "postgres for tests: failed, see %s/log\n", dir);
        exit(1);
    }
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static void stop_server(pid_t *pid, bool is_crash)
{
    if (*pid > 0) {
        (void)kill(*pid, is_crash ? SIGQUIT : SIGINT);
        (void)waitpid(*pid, NULL, 0);
        *pid = 0;
    }
}

static void clean_up(void)
{
    if (getpid() != owner_of_dir) {
        return; /* a child of the test */
    }
    stop_server(&standby, true);
    stop_server(&server, true);
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* In memory where there is plenty: nothing of it outlives the program. */
static const char *scratch(void)
{
    struct statvfs shm;

    return !getenv("CLEW_TEST_PG_FSYNC") && statvfs("/dev/shm", &shm) == 0 &&
                   shm.f_bavail * shm.f_frsize >= 4ul << 30
               ? "/dev/shm"
               : "/tmp";
}

static void make_cluster(void)
{
    const struct passwd *user = ordinary_user();
    const char *made = getenv("CLEW_TEST_PG_TEMPLATE");
    char line[512];

    find_binaries();
    (void)snprintf(dir, sizeof(dir), "%s/clew-pg-XXXXXX", scratch());
    if (!mkdtemp(dir)) {
        die("mkdtemp");
    }
    owner_of_dir = getpid();
    (void)atexit(clean_up);
    if (user && chown(dir, user->pw_uid, user->pw_gid) != 0) {
        die("chown");
    }
    if (made) {
        (void)snprintf(line, sizeof(line),
                       "/bin/cp -a --reflink=auto %s %s/data", made, dir);
    } else {
        (void)snprintf(line, sizeof(line),
                       "%s/initdb -D %s/data -A trust -U admin -E UTF8 "
                       "--no-locale --no-sync",
                       bin, dir);
    }
    run(line);
}

/* A connection as superuser to the server whose socket is in `where`. */
static PGconn *admin(const char *where, const char *database)
{
    char text[160];

    (void)snprintf(text, sizeof(text), "host=%s user=admin dbname=%s", where,
                   database);
    return PQconnectdb(text);
}

/* The first value a statement gives, "" if none. Exits on failure. */
static void admin_exec(const char *where, const char *sql, char *out,
                       size_t size)
{
    PGconn *pg = admin(where, "postgres");
    PGresult *result = PQexec(pg, sql);
    bool has_rows = PQresultStatus(result) == PGRES_TUPLES_OK;

    if (!has_rows && PQresultStatus(result) != PGRES_COMMAND_OK) {
        (void)fprintf(stderr, "postgres for tests: %s\n", PQerrorMessage(pg));
        exit(1);
    }
    (void)snprintf(out, size, "%s",
                   has_rows && PQntuples(result) > 0 ? PQgetvalue(result, 0, 0)
                                                     : "");
    PQclear(result);
    PQfinish(pg);
}

static void wait_until_up(const char *where, pid_t pid)
{
    for (int i = 0; i < 30000; i++) {
        PGconn *pg = admin(where, "postgres");
        bool is_up = PQstatus(pg) == CONNECTION_OK;

        PQfinish(pg);
        if (is_up) {
            return;
        }
        if (waitpid(pid, NULL, WNOHANG) == pid) {
            break;
        }
        (void)poll(NULL, 0, 10); /* it tells nobody when it is up */
    }
    (void)fprintf(stderr, "postgres for tests: no answer, see %s/log\n", dir);
    exit(1);
}

/* Start a server on a data folder and wait for it. `standbys` are those it
 * waits for at each commit. */
static pid_t start_server(const char *data, const char *where,
                          const char *standbys)
{
    const char *buffers = getenv("CLEW_TEST_PG_BUFFERS");
    char line[512];
    pid_t pid;

    (void)snprintf(line, sizeof(line),
                   "%s/postgres -D %s/%s -k %s -c listen_addresses= "
                   "-c fsync=%s -c max_connections=200 "
                   "-c shared_buffers=%s -c synchronous_standby_names=%s",
                   bin, dir, data, where,
                   getenv("CLEW_TEST_PG_FSYNC") ? "on" : "off",
                   buffers ? buffers : "32MB", standbys);
    pid = spawn(line);
    wait_until_up(where, pid);
    return pid;
}

void pg_start(void)
{
    bool is_first = dir[0] == '\0';
    char ignored[8];

    if (server > 0) {
        return;
    }
    if (is_first) {
        make_cluster();
    }
    server = start_server("data", dir, "");
    if (is_first) {
        admin_exec(dir, "CREATE ROLE clew LOGIN", ignored, sizeof(ignored));
    }
}

void pg_stop(bool is_crash)
{
    stop_server(&server, is_crash);
}

static void standby_dir(char *out, size_t size)
{
    (void)snprintf(out, size, "%s/standby.sock", dir);
}

void pg_start_pair(void)
{
    const struct passwd *user = ordinary_user();
    char line[512];
    char where[96];
    char state[16] = "";

    pg_start();
    standby_dir(where, sizeof(where));
    if (mkdir(where, 0700) != 0 ||
        (user && chown(where, user->pw_uid, user->pw_gid) != 0)) {
        die("a folder for the standby");
    }
    (void)snprintf(line, sizeof(line),
                   "%s/pg_basebackup -h %s -U admin -D %s/standby -R -X stream "
                   "-c fast --no-sync",
                   bin, dir, dir);
    run(line);
    stop_server(&server, false);
    server = start_server("data", dir, "*");
    standby = start_server("standby", where, "");
    while (strcmp(state, "sync") != 0) {
        admin_exec(dir, "SELECT sync_state FROM pg_stat_replication", state,
                   sizeof(state));
    }
}

void pg_pair_url(const char *url, char *out, size_t size)
{
    char where[96];

    standby_dir(where, sizeof(where));
    (void)snprintf(out, size, "%s,%s", url, where);
}

void pg_fail_over(void)
{
    char where[96];
    char ignored[8];

    stop_server(&server, true);
    standby_dir(where, sizeof(where));
    admin_exec(where, "SELECT pg_promote(true)", ignored, sizeof(ignored));
}

void pg_end_pair(void)
{
    stop_server(&standby, true);
    pg_start();
}

static void add_database(const char *from, char *out, size_t size)
{
    char sql[128];
    char ignored[8];

    pg_start();
    n_databases++;
    (void)snprintf(sql, sizeof(sql),
                   "CREATE DATABASE t%d OWNER clew TEMPLATE %s", n_databases,
                   from);
    admin_exec(dir, sql, ignored, sizeof(ignored));
    /* a busy machine is no fault */
    (void)snprintf(out, size, "postgres://clew@/t%d?connect_timeout=60&host=%s",
                   n_databases, dir);
}

void pg_new_database(char *out, size_t size)
{
    add_database("template1", out, size);
}

void pg_new_store(char *out, size_t size)
{
    static char made[32]; /* the database that the others are copies of */
    struct store_options options = {.location = out};
    struct clew_error err = {0};
    struct store *store;

    if (made[0] == '\0') {
        pg_new_database(out, size);
        if (store_open(&options, &store, &err) != CLEW_OK) {
            (void)fprintf(stderr, "postgres for tests: %s\n", err.message);
            exit(1);
        }
        store_close(store);
        (void)snprintf(made, sizeof(made), "t%d", n_databases);
    }
    add_database(made, out, size);
}

void pg_admin_url(const char *url, char *out, size_t size)
{
    (void)snprintf(out, size, "postgres://admin@%s", strchr(url, '@') + 1);
}
