/* The MPI plug-in: what comm_mpi.c asks for, in MPI's calls, none of which waits. */
#include "orch/mpi_link.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message that was found, or a request under way: MPI's handles are values, ours are pointers. */
union handle {
	MPI_Message message;
	MPI_Request request;
};

static int answer(int code, char *text)
{
	char words[MPI_MAX_ERROR_STRING] = "";
	int len = 0;

	if (code == MPI_SUCCESS)
		return 0;
	MPI_Error_string(code, words, &len);
	snprintf(text, MPI_LINK_TEXT, "%s", words);
	return -1;
}

static int no_memory(char *text)
{
	snprintf(text, MPI_LINK_TEXT, "no memory, or a message of more than 2 GiB");
	return -1;
}

static int link_init(int *rank, int *size, char *text)
{
	int level, code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);

	if (code == MPI_SUCCESS)
		code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (code == MPI_SUCCESS)
		code = MPI_Comm_rank(MPI_COMM_WORLD, rank);
	if (code == MPI_SUCCESS)
		code = MPI_Comm_size(MPI_COMM_WORLD, size);
	return answer(code, text);
}

static int link_send(int to, int tag, const void *data, size_t len, void **ret, char *text)
{
	union handle *handle = len <= INT_MAX ? malloc(sizeof(*handle)) : NULL;
	int code;

	if (!handle)
		return no_memory(text);
	code = MPI_Isend(data, (int)len, MPI_BYTE, to, tag, MPI_COMM_WORLD, &handle->request);
	if (code == MPI_SUCCESS)
		*ret = handle;
	else
		free(handle);
	return answer(code, text);
}

static int link_probe(int from, int tag, int *ret_from, size_t *ret_len, void **ret, char *text)
{
	union handle *handle;
	MPI_Message message;
	MPI_Status status;
	int found = 0, count = 0, code;

	code = MPI_Improbe(from == MPI_LINK_ANY ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD, &found, &message,
			   &status);
	if (code != MPI_SUCCESS || !found)
		return answer(code, text);
	code = MPI_Get_count(&status, MPI_BYTE, &count);
	handle = malloc(sizeof(*handle));
	if (!handle || code != MPI_SUCCESS || count < 0) {
		free(handle);
		return no_memory(text);
	}
	handle->message = message;
	*ret_from = status.MPI_SOURCE;
	*ret_len = (size_t)count;
	*ret = handle;
	return 1;
}

static int link_receive(void *message, void *data, size_t len, void **ret, char *text)
{
	union handle *handle = message;
	MPI_Message found = handle->message;
	int code = MPI_Imrecv(data, (int)len, MPI_BYTE, &found, &handle->request);

	if (code == MPI_SUCCESS)
		*ret = handle;
	else
		free(handle);
	return answer(code, text);
}

static int link_done(void *request, char *text)
{
	union handle *handle = request;
	int flag = 0;
	const int code = MPI_Test(&handle->request, &flag, MPI_STATUS_IGNORE);

	if (code != MPI_SUCCESS || flag)
		free(handle);
	return code == MPI_SUCCESS ? flag : answer(code, text);
}

static int link_finalize(char *text)
{
	return answer(MPI_Finalize(), text);
}

static void link_end_all(void)
{
	MPI_Abort(MPI_COMM_WORLD, 1);
}

extern const struct mpi_link fabperf_mpi_link;
__attribute__((visibility("default"))) const struct mpi_link fabperf_mpi_link = {
	.version = MPI_LINK_VERSION,
	.init = link_init,
	.send = link_send,
	.probe = link_probe,
	.receive = link_receive,
	.done = link_done,
	.finalize = link_finalize,
	.end_all = link_end_all,
};
