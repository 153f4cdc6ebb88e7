/* The two messages that open a control connection, exchanged on the bare socket before the keeper starts. */
#ifndef ORCH_HELLO_H
#define ORCH_HELLO_H

#include "base/error.h"
#include "orch/frame.h"

#include <stdint.h>

struct patience;

/* Makes an accepted or connected socket ready: non-blocking, no delay, close-on-exec. */
int hello_prepare(int fd, struct error *err);

/*
 * Server: reads the client's hello; -EPROTO when it is none or of another version (then it was told so), -ETIMEDOUT,
 * -ECONNRESET. Does not close fd. The answer is one of FRAME_WELCOME, FRAME_BUSY, FRAME_REFUSED with a sentence.
 */
int hello_receive(int fd, const struct patience *until, struct hello *ret, struct error *err);
int hello_answer(int fd, enum frame_type answer, const char *sentence, const struct patience *until, struct error *err);

/* The sentence for two versions that do not understand each other; host: what the user calls the other one's. */
int hello_mismatch(unsigned protocol, const char *version, const char *host, struct error *err);

/*
 * Client: says hello and reads the answer. 0 = welcome; -EBUSY, -EPROTO (another program, another version, refused),
 * -ETIMEDOUT, -EINTR (Ctrl-C), -ECONNRESET (it closed instead of answering). name: how the user calls the host.
 */
int hello_call(int fd, const char *name, const struct patience *until, struct hello *ret, struct error *err);

#endif
