/* Checks numbers as qperf prints them: scales, significant digits, commas, binary sizes, and what rounding carries over. */
#include "qperf/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))

struct shown {
	double value;
	const char *text; /* value, unit and note as they stand in a row */
};

static void check(enum qperf_unit unit, const struct qperf_format *format, const struct shown *row, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		char value[QPERF_NUMBER], note[QPERF_NUMBER], all[3 * QPERF_NUMBER];
		const char *name;

		qperf_number_format(row[i].value, unit, format, value, &name, note);
		snprintf(all, sizeof(all), "%s %s%s%s%s", value, name, note[0] ? " (" : "", note, note[0] ? ")" : "");
		if (strcmp(all, row[i].text))
			fail_msg("%.17g, unit %d: '%s' instead of '%s'", row[i].value, unit, all, row[i].text);
	}
}

static void bandwidths(void **state)
{
	static const struct qperf_format plain = { .precision = 3 }, bits = { .precision = 3, .bits = true },
					 unified = { .precision = 3, .unify = true },
					 both = { .precision = 3, .unify = true, .bits = true };
	static const struct shown bytes[] = {
		{ 0, "0 bytes/sec" },           { 1, "1 bytes/sec" },      { 999, "999 bytes/sec" },
		{ 1000, "1 KB/sec" },           { 1500, "1.5 KB/sec" },    { 12345, "12.3 KB/sec" },
		{ 1926889472, "1.93 GB/sec" },  { 1e12, "1 TB/sec" },      { 1.5e15, "1,500 TB/sec" },
		{ 1.5e18, "1,500,000 TB/sec" }, { 999.4e6, "999 MB/sec" },
	};
	static const struct shown in_bits[] = { { 0.125, "1 bits/sec" },
						{ 125, "1 Kb/sec" },
						{ 1.9875e9, "15.9 Gb/sec" } };
	static const struct shown raw[] = { { 1926889472, "1926889472 bytes/sec" }, { 0.5, "0.5 bytes/sec" } };
	static const struct shown raw_bits[] = { { 2366898176, "18935185408 bits/sec" } };

	(void)state;
	check(UNIT_BANDWIDTH, &plain, bytes, LENGTH(bytes));
	check(UNIT_BANDWIDTH, &bits, in_bits, LENGTH(in_bits));
	check(UNIT_BANDWIDTH, &unified, raw, LENGTH(raw));
	check(UNIT_BANDWIDTH, &both, raw_bits, LENGTH(raw_bits));
}

/* The unit is chosen before the value is rounded, as qperf does it: 1,000 us, not 1 ms. */
static void times_and_what_rounding_carries(void **state)
{
	static const struct qperf_format plain = { .precision = 3 }, unified = { .precision = 3, .unify = true };
	static const struct shown rows[] = {
		{ 0, "0 ns" },
		{ 9.05e-6, "9.05 us" },
		{ 6.13e-6, "6.13 us" },
		{ 9.4e-6, "9.4 us" },
		{ 5e-10, "0.5 ns" },
		{ 999.4e-9, "999 ns" },
		{ 999.6e-9, "1,000 ns" },
		{ 999.9996e-6, "1,000 us" },
		{ 1e-3, "1 ms" },
		{ 9.996e-6, "10 us" },
		{ 99.96e-6, "100 us" },
		{ 2, "2 sec" },
		{ 4.01, "4.01 sec" },
		{ 29999999, "29,999,999 sec" },
	};
	static const struct shown raw[] = { { 9.05e-6, "9050 ns" }, { 2, "2000000000 ns" }, { 4.67e-9, "4.67 ns" } };

	(void)state;
	check(UNIT_TIME, &plain, rows, LENGTH(rows));
	check(UNIT_TIME, &unified, raw, LENGTH(raw));
}

static void precisions(void **state)
{
	static const struct {
		uint32_t precision;
		struct shown row;
	} rows[] = {
		{ 0, { 2.46e9, "2 GB/sec" } },          { 1, { 2.46e9, "2 GB/sec" } },
		{ 2, { 2.46e9, "2.5 GB/sec" } },        { 5, { 2.46e9, "2.46 GB/sec" } },
		{ 6, { 1.46899e9, "1.46899 GB/sec" } }, { 4, { 84569, "84.57 KB/sec" } },
		{ 1, { 999.96e6, "1,000 MB/sec" } },    { 20, { 0.5, "0.5 bytes/sec" } },
		{ 3, { 0.5, "0.5 bytes/sec" } },        { 1, { 0.5, "0 bytes/sec" } },
		{ 3, { 9.999e9, "10 GB/sec" } },        { 3, { 9.994e9, "10 GB/sec" } },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct qperf_format format = { .precision = rows[i].precision };

		check(UNIT_BANDWIDTH, &format, &rows[i].row, 1);
	}
}

static void sizes(void **state)
{
	static const struct qperf_format plain = { .precision = 3 }, unified = { .precision = 3, .unify = true };
	static const struct shown rows[] = {
		{ 1, "1 bytes" },
		{ 1023, "1.02 KB" },
		{ 1024, "1 KiB (1,024)" },
		{ 1536, "1.54 KB" },
		{ 3072, "3 KiB (3,072)" },
		{ 65536, "64 KiB (65,536)" },
		{ 336.0 * 1024, "336 KiB (344,064)" },
		{ 1e9, "1 GB" },
		{ 1048576, "1 MiB (1,048,576)" },
		{ 1073741824, "1 GiB (1,073,741,824)" },
		{ 4294967295.0, "4.29 GB" },
		{ 5.54e9, "5.54 GB" },
		{ 1000.0 * 1024, "1,000 KiB (1,024,000)" },
		{ 1025.0 * 1024, "1.05 MB" },
	};
	static const struct shown raw[] = { { 65536, "65536 bytes" }, { 1929904128, "1929904128 bytes" } };

	(void)state;
	check(UNIT_SIZE, &plain, rows, LENGTH(rows));
	check(UNIT_SIZE, &unified, raw, LENGTH(raw));
}

static void counts(void **state)
{
	static const struct qperf_format plain = { .precision = 3 }, unified = { .precision = 3, .unify = true };
	static const struct shown rows[] = {
		{ 0, "0 " },
		{ 5, "5 " },
		{ 999, "999 " },
		{ 1000, "1,000 " },
		{ 84569, "84,569 " },
		{ 999999, "999,999 " },
		{ 1e6, "1 million" },
		{ 1234567, "1.23 million" },
		{ 1e9, "1 billion" },
		{ 2.5e12, "2.5 trillion" },
		{ 2.5e15, "2,500 trillion" },
	};
	static const struct shown raw[] = { { 1234567, "1234567 " }, { 84569, "84569 " } };

	(void)state;
	check(UNIT_NONE, &plain, rows, LENGTH(rows));
	check(UNIT_NONE, &unified, raw, LENGTH(raw));
}

static void rates_costs_and_cpus(void **state)
{
	static const struct qperf_format plain = { .precision = 3 }, six = { .precision = 6 },
					 unified = { .precision = 3, .unify = true };
	static const struct shown rates[] = { { 110e3, "110 K/sec" }, { 214e6, "214 M/sec" }, { 999.7, "1,000 /sec" } };
	static const struct shown costs[] = { { 734e-12, "734 ms/GB" }, { 29999999e-9, "29,999,999 sec/GB" } };
	static const struct shown exact[] = { { 1.36027e-9, "1.36027 sec/GB" } };
	static const struct shown raw[] = { { 734e-12, "734000000 ns/GB" } };
	static const struct shown cpus[] = { { 2, "200 % cpus" }, { 0.055, "5.5 % cpus" }, { 64, "6,400 % cpus" } };

	(void)state;
	check(UNIT_RATE, &plain, rates, LENGTH(rates));
	check(UNIT_COST, &plain, costs, LENGTH(costs));
	check(UNIT_COST, &six, exact, LENGTH(exact));
	check(UNIT_COST, &unified, raw, LENGTH(raw));
	check(UNIT_CPUS, &plain, cpus, LENGTH(cpus));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bandwidths), cmocka_unit_test(times_and_what_rounding_carries),
		cmocka_unit_test(precisions), cmocka_unit_test(sizes),
		cmocka_unit_test(counts),     cmocka_unit_test(rates_costs_and_cpus),
	};

	return cmocka_run_group_tests_name("qperf_number", tests, NULL, NULL);
}
