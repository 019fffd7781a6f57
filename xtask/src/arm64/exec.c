// Lets an emulated program start programs of its own machine, itself above all, where the kernel cannot: the emulator
// starts them. It is preloaded into emulated programs, and into no others.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The compiler is told: EMULATOR, ROOT (the libraries of the machine), SELF (this library).
#define PRELOAD "LD_PRELOAD="

extern char **environ;

static int is_ours(const char *path) {
  unsigned char head[20];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t count = read(file, head, sizeof head);
  close(file);
  return count == (ssize_t)sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 &&
         (head[18] | head[19] << 8) == EM_AARCH64;
}

// The path of a program that is named as for `execvp`.
static int find(const char *name, char *path, size_t size) {
  if (strchr(name, '/')) return snprintf(path, size, "%s", name) < (int)size;
  for (const char *rest = getenv("PATH"); rest && *rest;) {
    int length = (int)strcspn(rest, ":");
    if (snprintf(path, size, "%.*s/%s", length, rest, name) < (int)size && access(path, X_OK) == 0)
      return 1;
    rest += length + (rest[length] == ':');
  }
  return 0;
}

static size_t count(char *const words[]) {
  size_t number = 0;
  while (words && words[number]) number++;
  return number;
}

// The words that have the emulator start a program.
static char **emulated(const char *path, char *const words[]) {
  size_t number = count(words);
  char **all = calloc(number + 9, sizeof *all);
  if (!all) abort();
  const char *before[] = {EMULATOR, "-L", ROOT, "-0", number ? words[0] : path, "-E", PRELOAD SELF, path};
  memcpy(all, before, sizeof before);
  for (size_t at = 1; at < number; at++) all[7 + at] = words[at];
  return all;
}

// An environment in which nothing is preloaded: the emulator is a program of another machine, and so may others be.
static char **plain(char *const variables[]) {
  char **all = calloc(count(variables) + 1, sizeof *all);
  if (!all) abort();
  size_t kept = 0;
  for (size_t at = 0; variables && variables[at]; at++)
    if (strncmp(variables[at], PRELOAD, strlen(PRELOAD)) != 0) all[kept++] = variables[at];
  return all;
}

typedef int Spawn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                  char *const[], char *const[]);

static int spawn(const char *real, pid_t *process, const char *name, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[], char *const variables[]) {
  Spawn *next = (Spawn *)dlsym(RTLD_NEXT, real);
  char path[PATH_MAX];
  char **clean = plain(variables);
  char **all = find(name, path, sizeof path) && is_ours(path) ? emulated(path, words) : NULL;
  int failed = all ? next(process, EMULATOR, actions, attributes, all, clean)
                   : next(process, name, actions, attributes, words, clean);
  free(all);
  free(clean);
  return failed;
}

int posix_spawnp(pid_t *process, const char *name, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[], char *const variables[]) {
  return spawn("posix_spawnp", process, name, actions, attributes, words, variables);
}

int posix_spawn(pid_t *process, const char *name, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const words[], char *const variables[]) {
  return spawn("posix_spawn", process, name, actions, attributes, words, variables);
}

typedef int Execute(const char *, char *const[], char *const[]);

static int execute(const char *real, const char *name, char *const words[], char *const variables[]) {
  Execute *next = (Execute *)dlsym(RTLD_NEXT, real);
  char path[PATH_MAX];
  char **clean = plain(variables);
  if (find(name, path, sizeof path) && is_ours(path)) return next(EMULATOR, emulated(path, words), clean);
  return next(name, words, clean);
}

int execve(const char *name, char *const words[], char *const variables[]) {
  return execute("execve", name, words, variables);
}

int execvpe(const char *name, char *const words[], char *const variables[]) {
  return execute("execvpe", name, words, variables);
}

int execvp(const char *name, char *const words[]) { return execute("execvpe", name, words, environ); }

int execv(const char *name, char *const words[]) { return execute("execve", name, words, environ); }
