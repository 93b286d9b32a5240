// The smallest client that does the work: a closed loop over epoll, the tools/call of 2026-07-28 with its own id in
// every request, a look at the status, the length, the id and the text of every answer. Prints its processor time per
// 100,000 calls as one line of JSON. Usage: client PORT COUNT CONNECTIONS
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROOM (1 << 16)
typedef struct { int fd; long id; size_t have; char room[ROOM]; } connection;

static int port, poller;
static long started, ended, total;

static double seconds(struct timeval t) { return t.tv_sec + t.tv_usec / 1e6; }

static void fail(const char *what) { perror(what); exit(1); }

static void ask(connection *c) {
    char body[512], request[1024];
    if (started >= total) return;
    c->id = ++started;
    c->have = 0;
    int length = snprintf(body, sizeof body,
        "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":"
        "{\"text\":\"hello world\"},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{},\"io.modelcontextprotocol/clientInfo\":"
        "{\"name\":\"bench\",\"version\":\"1.0\"}}}}", c->id);
    int size = snprintf(request, sizeof request,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
        "Mcp-Name: echo\r\nUser-Agent: bench/1.0\r\nContent-Length: %d\r\n\r\n%s", port, length, body);
    if (send(c->fd, request, size, MSG_NOSIGNAL) != size) fail("send");
}

static void answer(connection *c) {
    ssize_t n = recv(c->fd, c->room + c->have, ROOM - 1 - c->have, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) fail("the server closed a connection");
    c->have += n;
    c->room[c->have] = 0;
    char *end = strstr(c->room, "\r\n\r\n");
    if (!end) return;
    char *length = strcasestr(c->room, "\r\nContent-Length:");
    if (!length || length > end || strncmp(c->room, "HTTP/1.1 200", 12)) { fprintf(stderr, "%s\n", c->room); exit(1); }
    char *body = end + 4;
    if (c->have < (size_t)(body - c->room) + strtoul(length + 17, 0, 10)) return;
    char *id = strstr(body, "\"id\":");
    if (!id || atol(id + 5) != c->id || !strstr(body, "hello world")) { fprintf(stderr, "%s\n", body); exit(1); }
    ended++;
    ask(c);
}

static void run(connection **all, int count, long calls) {
    struct epoll_event events[256];
    started = ended = 0;
    total = calls;
    for (int i = 0; i < count; i++) ask(all[i]);
    while (ended < total) {
        int n = epoll_wait(poller, events, 256, -1);
        for (int i = 0; i < n; i++) answer(events[i].data.ptr);
    }
}

int main(int argc, char **argv) {
    if (argc < 4) return fprintf(stderr, "usage: client PORT COUNT CONNECTIONS\n"), 2;
    port = atoi(argv[1]);
    long calls = atol(argv[2]);
    int count = atoi(argv[3]), one = 1;
    poller = epoll_create1(0);
    connection **all = calloc(count, sizeof *all);
    for (int i = 0; i < count; i++) {
        connection *c = all[i] = malloc(sizeof *c);
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        c->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(c->fd, (void *)&a, sizeof a)) fail("connect");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event);
    }
    run(all, count, calls < 4 * count ? calls : 4 * count);
    struct rusage before, after;
    struct timespec start, stop;
    getrusage(RUSAGE_SELF, &before);
    clock_gettime(CLOCK_MONOTONIC, &start);
    run(all, count, calls);
    clock_gettime(CLOCK_MONOTONIC, &stop);
    getrusage(RUSAGE_SELF, &after);
    double took = stop.tv_sec - start.tv_sec + (stop.tv_nsec - start.tv_nsec) / 1e9, scale = 1e5 / calls;
    printf("{\"calls\":%ld,\"user\":%f,\"system\":%f,\"perSecond\":%f}\n", calls,
        (seconds(after.ru_utime) - seconds(before.ru_utime)) * scale,
        (seconds(after.ru_stime) - seconds(before.ru_stime)) * scale, calls / took);
}
