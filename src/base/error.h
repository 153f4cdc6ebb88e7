/* The reason of a failure: the first detector fills it in with one sentence, everybody else passes it up. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

struct error {
	int code; /* negative errno, 0 = no error */
	char text[600]; /* one sentence without a newline: what, where, what is allowed or what to do */
};

/* Fills err (unless it already holds an error: the first detector wins) and returns code. err may be NULL. */
int error_set(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As error_set, and appends ": " and strerror(-code). */
int error_sys(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the sentence that is already there (where it happened: a host, a file). */
void error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

void error_clear(struct error *err);

#endif
