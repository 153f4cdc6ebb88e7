# Sourced inside the emulated machine: makes rxe0, soft-RoCE on a dummy interface with 10.1.0.1/24 and fd00:10:1::1/64.
set -e
modprobe -a dummy rdma_rxe rdma_ucm ib_uverbs
ip link add roce0 mtu 4200 type dummy
ip addr add 10.1.0.1/24 dev roce0
ip addr add fd00:10:1::1/64 dev roce0 nodad
ip link set roce0 up
rdma link add rxe0 type rxe netdev roce0
for device in infiniband/uverbs0 infiniband/rdma_cm; do
	[ -c /dev/$device ] || { echo "guest.sh: no /dev/$device" >&2; exit 1; }
done
set +e
