/* server.py in C, with the same options and replies: one thread, epoll, Linux.

   cc -O2 -o light_server benchmarks/light_server/server.c
   ./light_server --latency-ms 200 --content '{"verdict": "partial"}'
*/
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 65536, MOST_REPLIES = 16, EVENTS = 512, READ_BYTES = 65536 };

typedef struct { char *bytes; size_t size; } Text;

typedef struct {
    char *held; /* a request that is not complete */
    size_t n, room;
    unsigned age; /* tells a connection from the next one with its number */
} Connection;

typedef struct { double due_s; int fd; unsigned age; Text reply; } Waiting;

static Connection connections[MOST_CONNECTIONS];
static Text needles[MOST_REPLIES], replies[MOST_REPLIES], content, broken, busy, failed;
static int n_replies, fault_every; /* 4 kinds, each once in so many requests; 0: none */
static double latency_s;
static long n_requests, n_body_bytes, n_in_flight, max_in_flight;
static Waiting *queue; /* a ring: all wait equally long, so the first is due first */
static size_t first_waiting, n_waiting, queue_room;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void die(const char *what) {
    perror(what);
    exit(2);
}

static Text http(const char *status, const char *body) {
    Text made;
    made.size = (size_t)asprintf(&made.bytes,
        "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        status, strlen(body), body);
    return made;
}

/* A chat completion that says `said`. */
static Text completion(const char *said) {
    char *escaped = malloc(2 * strlen(said) + 1), *end = escaped, *body;
    for (; *said; said++) {
        if (*said == '"' || *said == '\\') *end++ = '\\';
        if (*said == '\n') { *end++ = '\\'; *end++ = 'n'; } else *end++ = *said;
    }
    *end = 0;
    if (asprintf(&body,
            "{\"id\": \"chatcmpl-light\", \"object\": \"chat.completion\", \"created\": 1, "
            "\"model\": \"light\", \"choices\": [{\"index\": 0, \"message\": {\"role\": "
            "\"assistant\", \"content\": \"%s\", \"refusal\": null}, \"finish_reason\": \"stop\", "
            "\"logprobs\": null}], \"usage\": {\"prompt_tokens\": 400, \"completion_tokens\": 8, "
            "\"total_tokens\": 408}, \"system_fingerprint\": \"fp_light\"}", escaped) < 0) die("memory");
    Text made = http("200 OK", body);
    free(escaped);
    free(body);
    return made;
}

static void send_all(int fd, const char *bytes, size_t size) {
    while (size) { /* a reply is small: a full socket is waited for */
        ssize_t sent = write(fd, bytes, size);
        if (sent < 0 && errno != EAGAIN) return;
        if (sent > 0) { bytes += sent; size -= (size_t)sent; }
    }
}

static void hang_up(int fd) {
    connections[fd].age++;
    connections[fd].n = 0;
    close(fd);
}

static void wait_to_send(int fd, Text reply) {
    if (n_waiting == queue_room) {
        size_t room = queue_room ? 2 * queue_room : 1024;
        Waiting *more = malloc(room * sizeof *more);
        for (size_t i = 0; i < n_waiting; i++) more[i] = queue[(first_waiting + i) % queue_room];
        free(queue);
        queue = more, queue_room = room, first_waiting = 0;
    }
    queue[(first_waiting + n_waiting++) % queue_room] =
        (Waiting){now_s() + latency_s, fd, connections[fd].age, reply};
    if (++n_in_flight > max_in_flight) max_in_flight = n_in_flight;
}

static void send_due(void) {
    double now = now_s();
    while (n_waiting && queue[first_waiting].due_s <= now) {
        Waiting *one = &queue[first_waiting];
        if (connections[one->fd].age == one->age) send_all(one->fd, one->reply.bytes, one->reply.size);
        first_waiting = (first_waiting + 1) % queue_room;
        n_waiting--, n_in_flight--;
    }
}

static void answer_post(int fd, const char *body, size_t size) {
    Text reply = content;
    n_requests++, n_body_bytes += (long)size;
    for (int i = 0; i < n_replies; i++)
        if (memmem(body, size, needles[i].bytes, needles[i].size)) { reply = replies[i]; break; }
    if (fault_every) {
        long place = n_requests % fault_every * 4;
        if (place == 0) reply = busy;
        else if (place == fault_every) reply = failed;
        else if (place == 2 * fault_every) return; /* never answered */
        else if (place == 3 * fault_every) reply = broken;
    }
    if (latency_s > 0) wait_to_send(fd, reply);
    else {
        if (max_in_flight < 1) max_in_flight = 1;
        send_all(fd, reply.bytes, reply.size);
    }
}

static void answer_get(int fd, const char *path) {
    struct rusage used;
    char *body;
    Text made;
    getrusage(RUSAGE_SELF, &used);
    double cpu_s = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
                   1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    if (asprintf(&body, "{\"requests\": %ld, \"body_bytes\": %ld, \"max_in_flight\": %ld, \"cpu_s\": %f}",
                 n_requests, n_body_bytes, max_in_flight, cpu_s) < 0) die("memory");
    if (!strncmp(path, "/stats", 6)) made = http("200 OK", body);
    else made = http(strncmp(path, "/health", 7) ? "404 Not Found" : "200 OK", "");
    send_all(fd, made.bytes, made.size);
    free(made.bytes);
    free(body);
}

/* Answer the whole requests in `text`; returns how many bytes they are, -1 for no length. */
static long answer(int fd, char *text, size_t size) {
    size_t done = 0;
    while (done < size) {
        char *head = text + done, *end = memmem(head, size - done, "\r\n\r\n", 4);
        if (!end) break;
        if (strncmp(head, "POST ", 5)) {
            answer_get(fd, strchr(head, ' ') + 1);
            done = (size_t)(end + 4 - text);
            continue;
        }
        *end = 0; /* strcasestr must not read on */
        char *field = strcasestr(head, "\r\ncontent-length:");
        *end = '\r';
        if (!field) return -1;
        size_t length = strtoul(field + 17, NULL, 10), after = (size_t)(end + 4 - text) + length;
        if (after > size) break;
        answer_post(fd, end + 4, length);
        done = after;
    }
    return (long)done;
}

static void receive(int fd) {
    Connection *c = &connections[fd];
    if (c->room < c->n + READ_BYTES + 1) {
        c->room = c->n + READ_BYTES + 1;
        c->held = realloc(c->held, c->room);
    }
    ssize_t got = read(fd, c->held + c->n, READ_BYTES);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) { hang_up(fd); return; }
    c->n += (size_t)got;
    c->held[c->n] = 0;
    long done = answer(fd, c->held, c->n);
    if (done < 0) { hang_up(fd); return; }
    c->n -= (size_t)done;
    if (c->n) memmove(c->held, c->held + done, c->n);
}

int main(int argc, char **argv) {
    const char *said = "{\"verdict\": \"full\"}";
    int port = 0, yes = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--port")) port = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--latency-ms")) latency_s = atof(argv[i + 1]) / 1000;
        else if (!strcmp(argv[i], "--content")) said = argv[i + 1];
        else if (!strcmp(argv[i], "--fault-every")) fault_every = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--reply") && i + 2 < argc && n_replies < MOST_REPLIES) {
            needles[n_replies] = (Text){argv[i + 1], strlen(argv[i + 1])};
            replies[n_replies++] = completion(argv[i + 2]);
            i++;
        } else { fprintf(stderr, "unknown option %s\n", argv[i]); return 2; }
    }
    content = completion(said);
    broken = completion("{\"verdict\":");
    busy = http("429 Too Many Requests\r\nRetry-After: 0", "{}");
    failed = http("500 Internal Server Error", "{}");

    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (struct sockaddr *)&address, size) || listen(door, 4096)) die("port");
    getsockname(door, (struct sockaddr *)&address, &size);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = door}, events[EVENTS];
    epoll_ctl(poll, EPOLL_CTL_ADD, door, &event);
    printf("http://127.0.0.1:%d/v1\n", ntohs(address.sin_port));
    fflush(stdout);

    for (;;) {
        int pause = -1;
        if (n_waiting) {
            double left = queue[first_waiting].due_s - now_s();
            pause = left > 0 ? (int)(left * 1000) + 1 : 0;
        }
        int n = epoll_wait(poll, events, EVENTS, pause);
        if (n < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd != door) { receive(events[i].data.fd); continue; }
            int fd;
            while ((fd = accept4(door, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                if (fd >= MOST_CONNECTIONS) { close(fd); continue; }
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                event.events = EPOLLIN, event.data.fd = fd;
                epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
            }
        }
        send_due();
    }
}
