/* What the rows of the option table are written with: fields, flags, factors and scopes by short names. */
#ifndef SPEC_ROWS_H
#define SPEC_ROWS_H

#include "spec/option.h"
#include "spec/spec.h"

#define WIRE     OPTION_WIRE
#define AUTO     OPTION_AUTO
#define TEST     OPTION_TEST
#define FIELD(f) .offset = offsetof(struct request, f), .size = sizeof(((struct request *)0)->f)

#define KI 1024.0
#define MI (1024.0 * KI)
#define GI (1024.0 * MI)
#define MS 1e6 /* ns */
#define S  1e9

#define BIT(n)    (1u << (n))
#define IBV       .scope.drivers = VERBS, .scope.transports = RDMA_TRANSPORTS
#define VERBED    .scope.drivers = VERBS | BIT(DRIVER_OFI), .scope.transports = RDMA_TRANSPORTS | OFI_TRANSPORTS
#define IBV_ONLY  .scope.drivers = BIT(DRIVER_IBV), .scope.transports = RDMA_TRANSPORTS
#define DV        .scope.drivers = BIT(DRIVER_DV)
#define NULL_ONLY .scope.drivers = BIT(DRIVER_NULL)
#define SOCKETS   .scope.transports = BIT(TRANSPORT_TCP) | BIT(TRANSPORT_UDP)
#define RDMA      .scope.transports = RDMA_TRANSPORTS
#define CLASSES                                                                                                        \
	.scope.drivers = VERBS | BIT(DRIVER_SOCK),                                                                     \
	.scope.transports = RDMA_TRANSPORTS | BIT(TRANSPORT_TCP) | BIT(TRANSPORT_UDP)
#define QUEUES    .scope.transports = RDMA_TRANSPORTS | OFI_TRANSPORTS
#define DEVICES   .scope.drivers = VERBS | BIT(DRIVER_SOCK) | BIT(DRIVER_OFI)
#define RELIABLE  .scope.drivers = VERBS, .scope.transports = RELIABLE_TRANSPORTS
#define RC_ONLY   .scope.drivers = BIT(DRIVER_IBV), .scope.transports = BIT(TRANSPORT_RC)
#define BW        .scope.metrics = BIT(METRIC_BW)
#define LAT       .scope.metrics = BIT(METRIC_LAT)
#define CLIENT    .scope.sides = SIDE_CLIENT
#define SERVER    .scope.sides = SIDE_SERVER
#define ASKER     .scope.sides = SIDE_CLIENT | SIDE_MANY
#define TWO_HOSTS .scope.sides = SIDE_CLIENT | SIDE_SERVER
#define MANY      .scope.sides = SIDE_MANY

#define VERBS               (BIT(DRIVER_IBV) | BIT(DRIVER_DV))
#define RELIABLE_TRANSPORTS (BIT(TRANSPORT_RC) | BIT(TRANSPORT_XRC) | BIT(TRANSPORT_DC))
#define RDMA_TRANSPORTS     (RELIABLE_TRANSPORTS | BIT(TRANSPORT_UC) | BIT(TRANSPORT_UD))
#define OFI_TRANSPORTS      (BIT(TRANSPORT_RDM) | BIT(TRANSPORT_MSG) | BIT(TRANSPORT_DGRAM))
#define TWO_SIDED           (BIT(VERB_WRITE_IMM) | BIT(VERB_SEND))
#define ATOMICS             (BIT(VERB_ATOMIC_FA) | BIT(VERB_ATOMIC_CS))

#endif
