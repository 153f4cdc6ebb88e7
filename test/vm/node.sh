# Run by bash in an emulated machine with a wire: makes it node1 or node2 with soft-RoCE on the wire; node1 runs a command.
#
# node.sh NUMBER KEYS [COMMAND]: KEYS is a directory with the keys of host and user; in COMMAND $SSH is how to log in to
# node2, which waits until it is told to end.
set -e
number=$1 keys=$2 own=/run/node
modprobe -a virtio_net rdma_rxe rdma_ucm ib_uverbs
until [ -e /sys/class/net/eth0 ]; do sleep 0.1; done
hostname "node$number"
ip addr add "10.2.0.$number/24" dev eth0
ip link set eth0 up
rdma link add rxe0 type rxe netdev eth0
printf '127.0.0.1 localhost\n10.2.0.1 node1\n10.2.0.2 node2\n' > /etc/hosts
# Else the start-up files of this machine's root would run there.
sed -i 's|^root:.*|root:x:0:0:root:/run/node:/bin/bash|' /etc/passwd
printf 'root:*:19000:0:99999:7:::\nsshd:!:19000::::::\n' > /etc/shadow
mkdir -p /run/sshd $own
cp "$keys"/{host,user,user.pub} $own
chmod 600 $own/*
if [ "$number" = 2 ]; then
	/usr/sbin/sshd -h $own/host -o AuthorizedKeysFile=$own/user.pub -o StrictModes=no -o UsePAM=no -o UseDNS=no \
		-o PidFile=none
	until [ -e $own/over ]; do sleep 0.2; done
	exit 0
fi
# One login for all: the machines are slow, and so is each exchange of keys.
export SSH="ssh -i $own/user -oUserKnownHostsFile=$own/known -oStrictHostKeyChecking=no -oLogLevel=ERROR -oBatchMode=yes"
SSH+=" -oControlMaster=auto -oControlPath=$own/login -oControlPersist=yes -oKexAlgorithms=curve25519-sha256"
until $SSH -oConnectTimeout=10 node2 true; do sleep 0.5; done
status=0
bash -c "$3" || status=$?
$SSH node2 touch $own/over
exit $status
