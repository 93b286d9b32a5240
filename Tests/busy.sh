#!/usr/bin/env bash
# Runs the tests of the faults of processes, signals, descriptors and files with four busy loops beside them: what
# depends on who is faster fails there first. The test programs must be built.
#
#   Tests/busy.sh SWIFT-TEST-OPTION...
set -euo pipefail

loops=()
end() { kill ${loops[@]+"${loops[@]}"} 2>/dev/null || true; }
trap end EXIT
for _ in 1 2 3 4; do
    # Each ends with this process, however that ends.
    (trap 'exit 0' TERM; while kill -0 $$ 2>/dev/null; do for _ in {1..10000}; do :; done; done) &
    loops+=($!)
done

"$(dirname "${BASH_SOURCE[0]}")/run.sh" "$@" -- \
    'DaemonTests\.(Program|ToolEnd|Reload|AdminProgram|CommandTool|UpstreamProgram|AuditLog)Tests' \
    'MCPCoreTests\.(Syscalls|ChildProcess|ProcessRunner|Log|RootDirectory|LoopTimer|RunningServer)Tests' \
    'MCPCoreTests\.(StdioClientTransport|Files|NonBlockingStream|SharedStreams|SharedTasks)Tests' \
    'FaultTests\.HTTPReadingFaults'
