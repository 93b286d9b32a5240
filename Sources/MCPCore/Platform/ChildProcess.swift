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

/// A running child process: a server that a client has started.
///
/// The code that starts it ends it with `terminate`. However it ends, it is reaped. If it has a process group
/// or session of its own, everything left in its process group is killed; processes that have moved to
/// another group are not found.
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
    /// The supervisor that ends the process if this one ends first.
    private let supervisor: ProcessSupervisor?
    private let queue: DispatchQueue
    private let state: Mutex<State>

    /// Starts a process, whose end is reported on `queue`: by default a serial one, which does not wait for
    /// the threads of the global pool.
    ///
    /// - Parameter supervisor: ends the process, which needs a process group of its own, if this process ends
    ///   first.
    package init(
        _ launch: ProcessLaunch, queue: DispatchQueue = DispatchQueue(label: "mcp.child"),
        supervisor: ProcessSupervisor? = nil
    ) throws(SpawnError) {
        self.supervisor = supervisor
        var spawned: SpawnedProcess
        if let supervisor {
            spawned = try supervisor.spawn(launch)
        } else {
            spawned = try SpawnedProcess(launch)
        }
        pid = spawned.pid
        hasGroup = launch.group != .parent
        self.queue = queue
        state = Mutex(
            State(input: spawned.input.take(), output: spawned.output.take(), errors: spawned.errors.take()))
        watchExit()
    }

    // MARK: Pipes. Each can be taken once; those not taken are closed when the process has ended.

    /// Takes the write end of the child's standard input.
    package func takeInput() -> FileDescriptor? { state.withLock { $0.input.take() } }

    /// Takes the read end of the child's standard output.
    package func takeOutput() -> FileDescriptor? { state.withLock { $0.output.take() } }

    /// Takes the read end of the child's standard error.
    package func takeErrors() -> FileDescriptor? { state.withLock { $0.errors.take() } }

    // MARK: Termination

    /// The way the process ended, or nil while it is running.
    package var status: ProcessExit? { state.withLock { $0.status } }

    /// Calls `handler` once, when the process has ended and been reaped.
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

    /// Sends a signal to the process's group, or to the process alone if it shares our group. Returns false
    /// if it has ended.
    @discardableResult
    package func signal(_ number: Int32) -> Bool {
        // Under the lock, so that the process cannot be reaped and its number reused between the check and
        // the signal.
        state.withLock { state in
            if state.status != nil { return false }
            return kill(hasGroup ? -pid : pid, number) == 0
        }
    }

    /// Ends the process: closes its input, sends SIGTERM after `inputGrace`, and SIGKILL after another
    /// `signalGrace`.
    ///
    /// If the input was taken, its owner must close it first. Later calls only wait for the process to end.
    @discardableResult
    package func terminate(
        inputGrace: Duration = .seconds(2), signalGrace: Duration = .seconds(2)
    ) async -> ProcessExit {
        startTermination(inputGrace: inputGrace, signalGrace: signalGrace)
        return await wait()
    }

    /// Starts the termination that `terminate` performs, without waiting for it to complete.
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
            // The source keeps this object alive until the process has ended, so the process is reaped
            // whatever the owner does.
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
            // While the leader is a zombie, its number, and therefore the group's, cannot be reused.
            if hasGroup { kill(-pid, SIGKILL) }
            supervisor?.release(pid)
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
    /// Collects the status of a process, waiting for it to end if necessary.
    static func reap(_ pid: Int32) -> ProcessExit {
        var raw: Int32 = 0
        while true {
            let result = unsafe waitpid(pid, &raw, 0)
            if result == pid { return ProcessExit(waitStatus: raw) }
            if result < 0, currentErrno() != EINTR { return .unknown }
        }
    }

    /// Waits for a child to end and leaves it as a zombie.
    static func waitWithoutReaping(_ pid: Int32) {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) < 0, currentErrno() == EINTR {}
    }
}

extension Duration {
    /// The duration for use in Dispatch deadlines; negative durations count as 0.
    package var dispatchInterval: DispatchTimeInterval {
        .nanoseconds(Int(clamping: Swift.max(0, wholeNanoseconds)))
    }
}
