#!/bin/sh
# Two nodes in network namespaces of this machine, as root: what follows runs on both by mpirun over TCP.
#   two_nodes.sh COMMAND...      e.g. build-cluster/talus run dam-break-bodies -o out
set -e
agent=$(mktemp) && chmod +x "$agent"
end() { ip netns del talus-a 2>/dev/null || true; ip netns del talus-b 2>/dev/null || true; rm -f "$agent"; }
trap end EXIT
end_first() { ip netns del talus-a 2>/dev/null || true; ip netns del talus-b 2>/dev/null || true; }
end_first
ip netns add talus-a && ip netns add talus-b
ip link add talus-a0 netns talus-a type veth peer name talus-b0 netns talus-b
ip -n talus-a addr add 10.77.0.1/24 dev talus-a0 && ip -n talus-b addr add 10.77.0.2/24 dev talus-b0
for n in a b; do ip -n talus-$n link set lo up; ip -n talus-$n link set talus-${n}0 up; done
cat > "$agent" <<'A'
#!/bin/sh
shift # the host: there is one other
exec ip netns exec talus-b unshare --uts sh -c "hostname talus-b; $*"
A
ip netns exec talus-a unshare --uts sh -c 'hostname talus-a; exec "$@"' sh \
    mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --mca plm_rsh_agent "$agent" \
    --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
    -H 10.77.0.1:2,10.77.0.2:2 -n "${PROCESSES:-2}" --map-by node "$@"
