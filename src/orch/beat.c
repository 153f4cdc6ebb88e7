/* Decides when a rank tells the next one that it is there, and when the one before has been silent for too long. */
#include "orch/beat.h"

bool beat_due(struct beat *beat, int64_t now_ns)
{
	if (!beat->on || (beat->sent_ns && now_ns < beat->sent_ns + BEAT_NS))
		return false;
	beat->sent_ns = now_ns;
	return true;
}

void beat_heard(struct beat *beat, bool on, int64_t now_ns)
{
	beat->armed = on;
	beat->heard_ns = beat->looked_ns = now_ns;
}

bool beat_missed(struct beat *beat, int64_t now_ns)
{
	if (now_ns > beat->looked_ns + BEAT_NS / 2) /* we were away: what came meanwhile is not read yet */
		beat->heard_ns += now_ns - beat->looked_ns;
	beat->looked_ns = now_ns;
	return beat->armed && now_ns > beat->heard_ns + BEAT_SILENT_NS;
}
