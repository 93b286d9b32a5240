package import Dispatch
import Synchronization

#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A running child: a server that a client has started.
///
/// Whoever starts it ends it with `terminate`. However it ends, it is reaped, and with a group or session of
/// its own everything that is left in its process group is killed (what moved to another group is not found).
package final class ChildProcess: Sendable {
    private let counted = Counted(.childProcess)

    private struct State: ~Copyable {
        var input: FileDescriptor?
        var output: FileDescriptor?
        var errors: FileDescriptor?
        var status: ProcessExit?
        var isTerminating = false
        var waiters: [@Sendable (ProcessExit) -> Void] = []
    }

    package let pid: Int32
    private let hasGroup: Bool
    private let queue: DispatchQueue
    private let state: Mutex<State>

    /// Starts a process; its end is reported on `queue`.
    package init(_ launch: ProcessLaunch, queue: DispatchQueue = .global()) throws(SpawnError) {
        var spawned = try SpawnedProcess(launch)
        pid = spawned.pid
        hasGroup = launch.group != .parent
        self.queue = queue
        state = Mutex(
            State(input: spawned.input.take(), output: spawned.output.take(), errors: spawned.errors.take()))
        watchExit()
    }

    // MARK: Pipes. Each can be taken once; what is not taken is closed when the process has ended.

    /// The writing end of the child's standard input.
    package func takeInput() -> FileDescriptor? { state.withLock { $0.input.take() } }

    /// The reading end of the child's standard output.
    package func takeOutput() -> FileDescriptor? { state.withLock { $0.output.take() } }

    /// The reading end of the child's standard error.
    package func takeErrors() -> FileDescriptor? { state.withLock { $0.errors.take() } }

    // MARK: The end

    /// How it ended, or nil while it runs.
    package var status: ProcessExit? { state.withLock { $0.status } }

    /// Calls `handler` once when the process has ended and is reaped.
    package func onExit(_ handler: @escaping @Sendable (ProcessExit) -> Void) {
        let status = state.withLock { state -> ProcessExit? in
            if state.status == nil { state.waiters.append(handler) }
            return state.status
        }
        if let status { queue.async { handler(status) } }
    }

    /// Waits until the process has ended.
    package func wait() async -> ProcessExit {
        await withCheckedContinuation { continuation in onExit { continuation.resume(returning: $0) } }
    }

    /// Sends a signal to the process's group, or to the process where it shares ours. False: it has ended.
    @discardableResult
    package func signal(_ number: Int32) -> Bool {
        // Under the lock, so that the process is not reaped and its number given away between look and
        // signal.
        state.withLock { state in
            if state.status != nil { return false }
            return kill(hasGroup ? -pid : pid, number) == 0
        }
    }

    /// Ends the process: closes its input, sends SIGTERM after `inputGrace`, SIGKILL after another
    /// `signalGrace`.
    ///
    /// If the input was taken, its owner closes it before. Later calls only wait for the end.
    @discardableResult
    package func terminate(
        inputGrace: Duration = .seconds(2), signalGrace: Duration = .seconds(2)
    ) async -> ProcessExit {
        startTermination(inputGrace: inputGrace, signalGrace: signalGrace)
        return await wait()
    }

    /// Begins what `terminate` does without waiting for it.
    package func startTermination(inputGrace: Duration = .seconds(2), signalGrace: Duration = .seconds(2)) {
        let isFirst = state.withLock { state -> Bool in
            _ = state.input.take()
            defer { state.isTerminating = true }
            return !state.isTerminating
        }
        guard isFirst else { return }
        let queue = queue
        queue.asyncAfter(deadline: .now() + inputGrace.dispatchInterval) { [weak self] in
            guard let self, self.signal(SIGTERM) else { return }
            queue.asyncAfter(deadline: .now() + signalGrace.dispatchInterval) { [weak self] in
                self?.signal(SIGKILL)
            }
        }
    }

    private func watchExit() {
        #if os(Linux)
        let pidfd = mcp_pidfd_open(pid)
        if pidfd >= 0 {
            // The source keeps this object until the process has ended, so it is reaped whatever the owner
            // does.
            _ = WatchSource.once(readable: FileDescriptor(owning: pidfd), on: queue) { self.reap() }
        } else {
            DispatchQueue.global().async {
                ProcessExit.waitWithoutReaping(self.pid)
                self.reap()
            }
        }
        #else
        _ = WatchSource.exit(of: pid, on: queue) { self.reap() }
        #endif
    }

    private func reap() {
        let (status, waiters) = state.withLock { state -> (ProcessExit, [@Sendable (ProcessExit) -> Void]) in
            if let status = state.status { return (status, []) }
            // While the leader is a zombie its number, and so the group's, cannot belong to anybody else.
            if hasGroup { kill(-pid, SIGKILL) }
            let status = ProcessExit.reap(pid)
            state.status = status
            _ = state.input.take()
            defer { state.waiters = [] }
            return (status, state.waiters)
        }
        for waiter in waiters { waiter(status) }
    }
}

extension ProcessExit {
    /// Collects the status of a process that has ended, or waits for its end.
    static func reap(_ pid: Int32) -> ProcessExit {
        var raw: Int32 = 0
        while true {
            let result = unsafe waitpid(pid, &raw, 0)
            if result == pid { return ProcessExit(waitStatus: raw) }
            if result < 0, currentErrno() != EINTR { return .unknown }
        }
    }

    /// Waits for the end of a child and leaves it a zombie.
    static func waitWithoutReaping(_ pid: Int32) {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) < 0, currentErrno() == EINTR {}
    }
}

extension Duration {
    /// For deadlines of Dispatch; negative durations count as 0.
    var dispatchInterval: DispatchTimeInterval { .nanoseconds(Int(clamping: Swift.max(0, wholeNanoseconds))) }
}
