/* Facts: what was used or found, as key, label and value, in the order in which they were added. */
#include "spec/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The place of a key: where it already stands, else a new one; NULL when the table is full. */
static struct fact *place(struct facts *facts, const char *key)
{
	for (unsigned i = 0; i < facts->count; i++)
		if (strcmp(facts->fact[i].key, key) == 0)
			return &facts->fact[i];
	return facts->count < RESULT_FACTS ? &facts->fact[facts->count++] : NULL;
}

static struct fact *begin(struct facts *facts, const char *key, const char *label, bool number)
{
	struct fact *fact = place(facts, key);

	if (!fact)
		return NULL;
	snprintf(fact->key, sizeof(fact->key), "%s", key);
	snprintf(fact->label, sizeof(fact->label), "%s", label);
	fact->number = number;
	return fact;
}

void facts_add(struct facts *facts, const char *key, const char *label, const char *format, ...)
{
	struct fact *fact = begin(facts, key, label, false);
	va_list args;

	if (!fact)
		return;
	va_start(args, format);
	vsnprintf(fact->value, sizeof(fact->value), format, args);
	va_end(args);
}

void facts_add_number(struct facts *facts, const char *key, const char *label, long long value)
{
	struct fact *fact = begin(facts, key, label, true);

	if (fact)
		snprintf(fact->value, sizeof(fact->value), "%lld", value);
}

void facts_add_real(struct facts *facts, const char *key, const char *label, double value)
{
	struct fact *fact = begin(facts, key, label, true);

	if (fact)
		snprintf(fact->value, sizeof(fact->value), "%.6g", value);
}

const char *facts_get(const struct facts *facts, const char *key)
{
	for (unsigned i = 0; i < facts->count; i++)
		if (strcmp(facts->fact[i].key, key) == 0)
			return facts->fact[i].value;
	return NULL;
}
