/* The DOCA Verbs driver's row. */
#ifndef DRIVER_DV_H
#define DRIVER_DV_H

#include "driver/driver.h"

extern const struct driver driver_dv;

#endif
