/* Calls and constants that Swift's C library modules do not expose, or expose differently depending on the C
 * library. Everything is inline: this header produces no object code of its own.
 *
 * _GNU_SOURCE stays undefined: with it, Dispatch's module and this one disagree about the C library's types.
 * The declarations that depend on it are therefore repeated here. */
#ifndef CMCPSYSTEM_H
#define CMCPSYSTEM_H

#if defined(__linux__)

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
extern int pipe2(int fds[2], int flags);
#if defined(__GLIBC__)
extern int malloc_trim(size_t pad);
#endif

/* System call numbers that are the same on every architecture; older kernel headers lack them. */
enum {
    MCP_SYS_PIDFD_SEND_SIGNAL = 424,
    MCP_SYS_PIDFD_OPEN = 434,
    MCP_SYS_CLOSE_RANGE = 436,
    MCP_SYS_OPENAT2 = 437,
    MCP_SYS_LANDLOCK_CREATE_RULESET = 444,
    MCP_SYS_LANDLOCK_ADD_RULE = 445,
    MCP_SYS_LANDLOCK_RESTRICT_SELF = 446,
};

enum {
    MCP_O_PATH = 010000000,
    MCP_CLOSE_RANGE_CLOEXEC = 1 << 2,
    MCP_RESOLVE_NO_XDEV = 0x01,
    MCP_RESOLVE_NO_MAGICLINKS = 0x02,
    MCP_RESOLVE_NO_SYMLINKS = 0x04,
    MCP_RESOLVE_BENEATH = 0x08,
    MCP_RESOLVE_IN_ROOT = 0x10,
    MCP_POSIX_SPAWN_SETSID = 0x80,
};

/* Enumerators in glibc, macros in musl: Swift imports them with different types. */
static const uint32_t MCP_EPOLLIN = EPOLLIN;
static const uint32_t MCP_EPOLLOUT = EPOLLOUT;
static const uint32_t MCP_EPOLLERR = EPOLLERR;
static const uint32_t MCP_EPOLLHUP = EPOLLHUP;
static const uint32_t MCP_EPOLLRDHUP = EPOLLRDHUP;

/* struct open_how from linux/openat2.h. */
struct mcp_open_how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

/* struct ucred, which the C library hides. */
struct mcp_peer_credentials {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

static inline int mcp_accept4(int fd, int flags) { return accept4(fd, NULL, NULL, flags); }

/* The width of the terminal, or 0. */
static inline int mcp_terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_col;
}

/* The number of bytes in a pipe that nobody has read yet, or -1. */
static inline int mcp_unread_bytes(int fd) {
    int count = 0;
    return ioctl(fd, FIONREAD, &count) < 0 ? -1 : count;
}

static inline int mcp_pipe2(int *fds, int flags) { return pipe2(fds, flags); }

static inline int mcp_close_range(unsigned int first, unsigned int last, unsigned int flags) {
    return (int)syscall(MCP_SYS_CLOSE_RANGE, first, last, flags);
}

static inline int mcp_pidfd_open(int pid) { return (int)syscall(MCP_SYS_PIDFD_OPEN, pid, 0); }

static inline int mcp_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(MCP_SYS_PIDFD_SEND_SIGNAL, pidfd, signal, NULL, 0);
}

/* A limit of file locks that may not be asked for. */
enum { MCP_LOCK_LIMIT_HIDDEN = 1 };

/* The soft limit of file locks of a process or thread: 0 if it does not exist, MCP_LOCK_LIMIT_HIDDEN if it has
 * another user or group. The C libraries declare prlimit(2) with different types. */
static inline uint64_t mcp_lock_limit(int pid) {
    struct {
        uint64_t soft, hard;
    } limits = {0, 0};
    const int locks = 10;  /* RLIMIT_LOCKS */
    if (syscall(SYS_prlimit64, pid, locks, NULL, &limits) == 0) return limits.soft;
    return errno == ESRCH ? 0 : MCP_LOCK_LIMIT_HIDDEN;
}

static inline int mcp_openat2(
    int directory, const char *path, int flags, unsigned int mode, uint64_t resolve) {
    struct mcp_open_how how = {(uint64_t)(unsigned int)flags, mode, resolve};
    return (int)syscall(MCP_SYS_OPENAT2, directory, path, &how, sizeof how);
}

static inline int mcp_peer_credentials(int fd, struct mcp_peer_credentials *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length);
}

/* sock_diag(7), from linux/netlink.h and linux/inet_diag.h: one request about one TCP socket, and the
 * response. */
struct mcp_diag_socket {
    uint16_t port, peer_port;
    uint32_t address[4], peer_address[4];
    uint32_t interface;
    uint32_t cookie[2];
};

struct mcp_diag_request {
    uint32_t length;
    uint16_t type, flags;
    uint32_t sequence, sender;
    uint8_t family, protocol, extensions, padding;
    uint32_t states;
    struct mcp_diag_socket socket;
};

struct mcp_diag_response {
    uint32_t length;
    uint16_t type, flags;
    uint32_t sequence, sender;
    uint8_t family, state, timer, retransmissions;
    struct mcp_diag_socket socket;
    uint32_t expires, receive_queue, send_queue, user, inode;
};

/* Finds the user who created the TCP socket with this address and this peer, in network byte order; addresses
 * have 16 bytes, of which IPv4 uses 4. Returns -1 with errno set if no process has it: the kernel reports root
 * as the user of a socket that was closed, but no inode. */
static inline int mcp_tcp_user(
    int family, const void *address, uint16_t port, const void *peer, uint16_t peer_port, uint32_t *user) {
    enum { netlink = 16, sock_diag = 4, by_family = 20, is_request = 1 };
    int fd = socket(netlink, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, sock_diag);
    if (fd < 0) { return -1; }
    struct mcp_diag_request request;
    memset(&request, 0, sizeof request);
    request.length = sizeof request;
    request.type = by_family;
    request.flags = is_request;
    request.sequence = 1;
    request.family = (uint8_t)family;
    request.protocol = 6;
    request.states = ~0u;
    request.socket.port = port;
    request.socket.peer_port = peer_port;
    memcpy(request.socket.address, address, 16);
    memcpy(request.socket.peer_address, peer, 16);
    request.socket.cookie[0] = request.socket.cookie[1] = ~0u;
    struct mcp_diag_response response;
    struct {
        uint16_t family, padding;
        uint32_t port, groups;
    } sender = {netlink, 0, 0, 0};
    socklen_t size = sizeof sender;
    ssize_t count = sendto(fd, &request, sizeof request, 0, (const struct sockaddr *)&sender, size);
    if (count >= 0) {
        memset(&response, 0, sizeof response);
        /* The kernel has responded by the time the request was sent. */
        count = recvfrom(fd, &response, sizeof response, 0, (struct sockaddr *)&sender, &size);
    }
    int error = count < 0 ? errno : 0;
    close(fd);
    if (error == 0
        && (count < (ssize_t)sizeof response || sender.port != 0 || response.type != by_family
            || response.sequence != 1 || response.inode == 0)) {
        error = ENOENT;
    }
    errno = error;
    if (error == 0) { *user = response.user; }
    return error == 0 ? 0 : -1;
}

/* Sets the name of this thread, and thus of a single-threaded process; 15 bytes are kept. */
static inline int mcp_set_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Sets whether other processes of the same user may inspect and trace this process, and whether it leaves a
 * core file. */
static inline int mcp_set_dumpable(int is_dumpable) { return prctl(PR_SET_DUMPABLE, is_dumpable, 0, 0, 0); }

/* Calls epoll_ctl with the registration's number in the event's data. */
static inline int mcp_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t data) {
    struct epoll_event event;
    event.events = events;
    event.data.u64 = data;
    return epoll_ctl(epoll, operation, fd, &event);
}

/* Returns the calling thread, which is a number in glibc and a pointer in musl. */
static inline uintptr_t mcp_thread(void) { return (uintptr_t)pthread_self(); }

static inline uint64_t mcp_epoll_data(const struct epoll_event *event) { return event->data.u64; }

/* Landlock, from linux/landlock.h. Rights that a kernel does not know must be masked out according to its ABI
 * version. */
enum {
    MCP_LANDLOCK_CREATE_RULESET_VERSION = 1 << 0,
    MCP_LANDLOCK_RULE_PATH_BENEATH = 1,
    MCP_LANDLOCK_RULE_NET_PORT = 2,
    MCP_LANDLOCK_ACCESS_FS_EXECUTE = 1 << 0,
    MCP_LANDLOCK_ACCESS_FS_WRITE_FILE = 1 << 1,
    MCP_LANDLOCK_ACCESS_FS_READ_FILE = 1 << 2,
    MCP_LANDLOCK_ACCESS_FS_READ_DIR = 1 << 3,
    MCP_LANDLOCK_ACCESS_FS_REMOVE_DIR = 1 << 4,
    MCP_LANDLOCK_ACCESS_FS_REMOVE_FILE = 1 << 5,
    MCP_LANDLOCK_ACCESS_FS_MAKE_CHAR = 1 << 6,
    MCP_LANDLOCK_ACCESS_FS_MAKE_DIR = 1 << 7,
    MCP_LANDLOCK_ACCESS_FS_MAKE_REG = 1 << 8,
    MCP_LANDLOCK_ACCESS_FS_MAKE_SOCK = 1 << 9,
    MCP_LANDLOCK_ACCESS_FS_MAKE_FIFO = 1 << 10,
    MCP_LANDLOCK_ACCESS_FS_MAKE_BLOCK = 1 << 11,
    MCP_LANDLOCK_ACCESS_FS_MAKE_SYM = 1 << 12,
    MCP_LANDLOCK_ACCESS_FS_REFER = 1 << 13,
    MCP_LANDLOCK_ACCESS_FS_TRUNCATE = 1 << 14,
    MCP_LANDLOCK_ACCESS_FS_IOCTL_DEV = 1 << 15,
    MCP_LANDLOCK_ACCESS_NET_BIND_TCP = 1 << 0,
    MCP_LANDLOCK_ACCESS_NET_CONNECT_TCP = 1 << 1,
    MCP_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0,
    MCP_LANDLOCK_SCOPE_SIGNAL = 1 << 1,
};

/* Returns the kernel's Landlock ABI version, or -1 with errno set. */
static inline int mcp_landlock_version(void) {
    return (int)syscall(
        MCP_SYS_LANDLOCK_CREATE_RULESET, NULL, (size_t)0, MCP_LANDLOCK_CREATE_RULESET_VERSION);
}

/* Creates a rule set that handles these rights; `net` needs ABI 4, `scoped` ABI 6, and both must be 0 before
 * that. */
static inline int mcp_landlock_create(uint64_t fs, uint64_t net, uint64_t scoped) {
    uint64_t attributes[3] = {fs, net, scoped};
    size_t count = scoped != 0 ? 3 : net != 0 ? 2 : 1;
    return (int)syscall(MCP_SYS_LANDLOCK_CREATE_RULESET, attributes, count * sizeof *attributes, 0);
}

static inline int mcp_landlock_allow_path(int ruleset, int path, uint64_t access) {
    struct {
        uint64_t allowed_access;
        int32_t parent_fd;
    } __attribute__((packed)) rule = {access, path};
    return (int)syscall(MCP_SYS_LANDLOCK_ADD_RULE, ruleset, MCP_LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static inline int mcp_landlock_allow_port(int ruleset, uint64_t port, uint64_t access) {
    struct {
        uint64_t allowed_access;
        uint64_t port;
    } rule = {access, port};
    return (int)syscall(MCP_SYS_LANDLOCK_ADD_RULE, ruleset, MCP_LANDLOCK_RULE_NET_PORT, &rule, 0);
}

/* Restricts the calling thread and the programs it executes; needs no_new_privs or CAP_SYS_ADMIN. */
static inline int mcp_landlock_restrict(int ruleset) {
    return (int)syscall(MCP_SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0);
}

/* Keeps this process and its children from gaining privileges by executing a program. */
static inline int mcp_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

/* Installs a seccomp filter of `count` instructions, 8 bytes each, for the calling thread and its children.
 * Without a filter, fails with EFAULT where the kernel has seccomp. */
static inline int mcp_seccomp_install(const void *filter, uint16_t count) {
    enum { mode_filter = 2 };
    struct {
        uint16_t length;
        const void *filter;
    } program = {count, filter};
    return prctl(PR_SET_SECCOMP, mode_filter, filter != NULL ? &program : NULL, 0, 0);
}

/* Removes as many capabilities from the bounding set as this process may, and all from the ambient set. */
static inline void mcp_drop_capability_sources(void) {
    enum { ambient = 47, ambient_clear_all = 4, sets = 64 };
    for (int number = 0; number < sets; number++) { prctl(PR_CAPBSET_DROP, number, 0, 0, 0); }
    prctl(ambient, ambient_clear_all, 0, 0, 0);
}

/* Empties the permitted, effective and inheritable capabilities. */
static inline int mcp_clear_capabilities(void) {
    struct {
        uint32_t version;
        int pid;
    } header = {0x20080522, 0};
    struct {
        uint32_t effective, permitted, inheritable;
    } data[2] = {{0, 0, 0}, {0, 0, 0}};
    return (int)syscall(SYS_capset, &header, data);
}

/* File actions that are not in POSIX 2017; both return an error number. */
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

static inline int mcp_spawn_add_chdir(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

#if defined(__GLIBC__)
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
#endif

/* musl has no closefrom action: there, the close-on-exec flag, which all our descriptors have, has to
 * do. */
static inline int mcp_spawn_add_closefrom(posix_spawn_file_actions_t *actions, int first) {
#if defined(__GLIBC__)
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
#else
    (void)actions;
    (void)first;
    return 0;
#endif
}

#endif

/* The current environment: a variable of the C library on Linux, accessed by a function on Darwin. */
#if defined(__APPLE__)
#include <crt_externs.h>
#include <stdint.h>

/* Declared here because <mach-o/dyld.h> includes headers that the module Darwin already contains. */
extern int _NSGetExecutablePath(char *path, uint32_t *size);

static inline char **mcp_environment(void) { return *_NSGetEnviron(); }

/* Writes the NUL-terminated path of this program; returns -1 if it needs more room. */
static inline int mcp_executable_path(char *path, uint32_t *size) { return _NSGetExecutablePath(path, size); }
#elif defined(__linux__)
extern char **environ;

static inline char **mcp_environment(void) { return environ; }
#endif
/* SHA-256 with the instructions that processors have for it (x86-64: SHA extensions). Elsewhere, and on older
 * processors, the caller computes it itself. */
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

static inline int mcp_has_sha256(void) {
    unsigned int a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) { return 0; }
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

/* Compresses `count` blocks of 64 bytes into the state, eight words (FIPS 180-4, section 6.2.2). */
__attribute__((target("sha,sse4.1,ssse3"))) static inline void mcp_sha256_blocks(
    uint32_t *state, const void *blocks, size_t count, const uint32_t *constants) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bll, 0x0405060700010203ll);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1B);
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xF0);
    const __m128i *next = (const __m128i *)blocks;
    for (; count > 0; count--, next += 4) {
        __m128i words[4];
        __m128i abef_before = abef, cdgh_before = cdgh;
#pragma clang loop unroll(full)
        for (int number = 0; number < 16; number++) {
            __m128i word;
            if (number < 4) {
                word = _mm_shuffle_epi8(_mm_loadu_si128(next + number), swap);
            } else {
                __m128i recent = words[(number + 3) & 3];
                word = _mm_sha256msg1_epu32(words[number & 3], words[(number + 1) & 3]);
                word = _mm_add_epi32(word, _mm_alignr_epi8(recent, words[(number + 2) & 3], 4));
                word = _mm_sha256msg2_epu32(word, recent);
            }
            words[number & 3] = word;
            word = _mm_add_epi32(word, _mm_loadu_si128((const __m128i *)(constants + 4 * number)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, word);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(word, 0x0E));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1B);
    high = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xF0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}
#else
#include <stddef.h>
#include <stdint.h>

static inline int mcp_has_sha256(void) { return 0; }

static inline void mcp_sha256_blocks(
    uint32_t *state, const void *blocks, size_t count, const uint32_t *constants) {
    (void)state, (void)blocks, (void)count, (void)constants;
}
#endif

#endif
