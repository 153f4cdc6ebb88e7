/* Stands in for DOCA's common library: its version, and names of errors. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *doca_version_runtime(void)
{
	return "0.0.1-stand-in";
}

EXPORT const char *doca_error_get_name(int code)
{
	static const char *const names[] = {
		"DOCA_SUCCESS",
		"DOCA_ERROR_UNKNOWN",
		"DOCA_ERROR_NOT_PERMITTED",
		"DOCA_ERROR_IN_USE",
		"DOCA_ERROR_NOT_SUPPORTED",
		"DOCA_ERROR_AGAIN",
		"DOCA_ERROR_INVALID_VALUE",
		"DOCA_ERROR_NO_MEMORY",
	};

	if (code == 21)
		return "DOCA_ERROR_DRIVER";
	return code >= 0 && code < (int)(sizeof(names) / sizeof(*names)) ? names[code] : "unrecognized error code";
}
