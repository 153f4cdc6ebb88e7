/* Socket addresses of either IP family, and connecting in time. */
#ifndef BASE_NET_H
#define BASE_NET_H

#include <stdint.h>
#include <sys/socket.h>

struct patience;

socklen_t net_len(const struct sockaddr_storage *address); /* bytes of it that its family uses */
uint16_t net_port(const struct sockaddr_storage *address);
void net_set_port(struct sockaddr_storage *address, uint16_t port);

/* Traffic class of what a socket sends, of either family: 0 or a negative errno; what it is, or a negative errno. */
int net_set_class(int fd, unsigned traffic_class);
int net_class(int fd);

/* Connects a non-blocking socket: 0, or a negative errno (-ETIMEDOUT and -EINTR as wait_fd). */
int net_connect(int fd, const struct sockaddr *to, socklen_t len, const struct patience *until);

#endif
