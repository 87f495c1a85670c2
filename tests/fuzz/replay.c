/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - run a fuzz target over files, without a fuzzer.
 *
 * The ordinary test run replays each target's corpus and every input that
 * ever made it fail. Arguments are folders; one that is missing is empty.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    long len;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (len = ftell(file)) < 0) {
        return -1;
    }
    rewind(file);
    data = malloc((size_t)len + 1); /* its own block, so ASan sees its end */
    if (!data || fread(data, 1, (size_t)len, file) != (size_t)len) {
        return -1;
    }
    fclose(file);
    data = realloc(data, len > 0 ? (size_t)len : 1);
    (void)LLVMFuzzerTestOneInput(data, (size_t)len);
    free(data);
    return 0;
}

static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[4096];
    int n = 0;

    if (!dir) {
        return 0;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (replay_file(path) != 0) {
            perror(path);
            exit(1);
        }
        n++;
    }
    closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    int n = 0;

    for (int i = 1; i < argc; i++) {
        n += replay_folder(argv[i]);
    }
    printf("%d inputs replayed\n", n);
    return n > 0 ? 0 : 1;
}
