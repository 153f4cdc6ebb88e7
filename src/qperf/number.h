/* Numbers as qperf prints them: scaled by thousands, a few significant digits, commas. */
#ifndef QPERF_NUMBER_H
#define QPERF_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#define QPERF_NUMBER 64 /* bytes of a number's text */

enum qperf_unit { UNIT_NONE, UNIT_BANDWIDTH, UNIT_TIME, UNIT_RATE, UNIT_SIZE, UNIT_COST, UNIT_CPUS };

struct qperf_format {
	uint32_t precision; /* significant digits */
	bool unify; /* the smallest unit, no commas */
	bool bits; /* bandwidths in bits */
};

/*
 * The text of a value and its unit. Values are in bytes/s, s, messages/s, bytes, s/byte, CPUs (1 = one of them busy).
 * ret_note is the raw value of a size that was scaled by 1024s, else empty.
 */
void qperf_number_format(double value, enum qperf_unit unit, const struct qperf_format *format, char ret[QPERF_NUMBER],
			 const char **ret_unit, char ret_note[QPERF_NUMBER]);

#endif
