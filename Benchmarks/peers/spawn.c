/* Runs a program COUNT times as little as a server of commands can: a session of its own, pipes for its output and
 * errors, both read to the end, its status collected. Prints the processor time in seconds, own and of the programs.
 *
 * spawn COUNT PROGRAM */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static double seconds(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int run(char *program) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) { return -1; }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    char *arguments[] = {program, NULL};
    pid_t child;
    int failure = posix_spawn(&child, program, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(out[1]);
    close(err[1]);
    struct pollfd ends[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
    int left = failure ? 0 : 2, status = -1;
    char bytes[4096];
    while (left > 0 && poll(ends, 2, -1) > 0) {
        for (int number = 0; number < 2; number++) {
            if (ends[number].revents && read(ends[number].fd, bytes, sizeof bytes) <= 0) {
                ends[number].fd = -1;
                left--;
            }
        }
    }
    close(out[0]);
    close(err[0]);
    if (!failure) { waitpid(child, &status, 0); }
    return status;
}

int main(int count, char **arguments) {
    if (count != 3) { return 2; }
    for (int left = atoi(arguments[1]); left > 0; left--) {
        if (run(arguments[2]) != 0) { return 1; }
    }
    printf("%.6f %.6f\n", seconds(RUSAGE_SELF), seconds(RUSAGE_CHILDREN));
    return 0;
}
