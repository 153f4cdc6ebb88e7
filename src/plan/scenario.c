/* Frees a scenario. */
#include "plan/scenario.h"

#include <stdlib.h>

void scenario_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->tests; i++) {
		struct scenario_test *const test = &scenario->test[i];

		for (uint32_t k = 0; k < test->nodes; k++) {
			free(test->node[k].hosts);
			free(test->node[k].devices);
			free(test->node[k].gpus);
		}
		free(test->node);
		sweep_release(&test->sweep);
	}
	free(scenario->test);
	*scenario = (struct scenario){ 0 };
}
