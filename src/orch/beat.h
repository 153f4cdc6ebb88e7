/* Ranks that stop answering: each tells the next one once a second that it is there, and each hears the one before. */
#ifndef ORCH_BEAT_H
#define ORCH_BEAT_H

#include <stdbool.h>
#include <stdint.h>

#define BEAT_NS        1000000000LL
#define BEAT_SILENT_NS 4000000000LL /* nothing heard for so long, while listening: it is stopped, or cut off */

struct beat {
	bool on; /* this rank beats */
	bool armed; /* the one before has said that it does */
	int64_t sent_ns, heard_ns, looked_ns;
};

/* Whether one is to be sent now; it is taken as sent. */
bool beat_due(struct beat *beat, int64_t now_ns);
/* The one before beats, or says that it will not for a while. */
void beat_heard(struct beat *beat, bool on, int64_t now_ns);
/* To be asked again and again: time during which nobody asked is no silence of the other's. */
bool beat_missed(struct beat *beat, int64_t now_ns);

#endif
