import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The running commands, and the helper process that ends them when this process cannot.
///
/// The helper is another instance of this program (`SupervisorProgram`), in a session of its own, with the
/// read end of a pipe and nothing else. This process notifies it of each command's group when the command
/// begins and ends. However this process ends, even by SIGKILL, the pipe closes, and the helper kills what is
/// left: by group, and by the mark that all descendants of a command have (`ProcessSweep.Mark`). A cgroup or
/// a pid namespace would need privileges. PR_SET_PDEATHSIG reaches neither grandchildren nor the commands of
/// a thread that has already ended; a subreaper has only its own descendants, and this process starts them.
package final class ProcessSupervisor: Sendable {
    private struct State: ~Copyable {
        /// The process groups of commands that were started and not yet reaped.
        var groups: Set<Int32> = []
        /// The number of commands that are being started.
        var starting = 0
        /// Whether a command was ever started.
        var hasStarted = false
        var isEnding = false
        var helper: Helper?
        var helperStarted = MonotonicInstant.never
        var waiters: [@Sendable () -> Void] = []
    }

    private struct Helper: ~Copyable {
        let process: ChildProcess
        let output: FileDescriptor
    }

    /// The minimum lifetime of a helper; one that ends sooner is not replaced immediately.
    private static let shortLife = Duration.seconds(1)
    /// The time that the search for what is left of commands takes at most; then it is the helper's.
    private static let longestSweep = Duration.seconds(1)
    /// The time that killed processes have to die: on a busy machine, it takes until it is their turn.
    private static let longestDeath = Duration.seconds(1)
    /// The time that `endNow` waits for other threads, in milliseconds.
    private static let patience = 500

    private let counted = Counted(.processSupervisor)
    private let ownsProcess: Bool
    private let mark = ProcessSweep.Mark.random()
    private let launch: ProcessLaunch
    private let log: Log
    private let queue = DispatchQueue(label: "mcp.supervisor")
    private let state = Mutex(State())

    /// - Parameters:
    ///   - program: the path of a program that runs `SupervisorProgram` when started with these arguments.
    ///   - ownsProcess: whether everything that this process starts from now on ends with it, also what has
    ///     cleared its environment (Linux).
    package init(program: String, arguments: [String], ownsProcess: Bool = false, log: Log) {
        // Almost nothing of the environment: it may contain secrets, and the marks of another supervisor.
        let kept = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"]
        let environment = kept.compactMap { name in Environment.value(name).map { (name, $0) } }
        var launch = ProcessLaunch(
            program, arguments, environment: Dictionary(uniqueKeysWithValues: environment), directory: "/")
        // Not the name of this program: a user who kills the program by name wants its commands to end, not
        // to stay.
        launch.name = SupervisorProgram.name
        launch.group = .session
        launch.output = .null
        launch.errors = .null
        self.launch = launch
        self.log = log
        self.ownsProcess = ownsProcess
        #if os(Linux)
        if ownsProcess { mark.setLimit() }
        #endif
    }

    deinit {
        guard ownsProcess else { return }
        // The helper takes the end of the pipe for the end of this process, and kills what is left of it:
        // also this process, while it still returns from its main function. So the kernel closes the pipe.
        if let helper = state.withLock({ $0.helper.take() }) { _ = helper.output.release() }
    }

    /// The process number of the helper, or nil if there is none.
    package var helper: Int32? {
        state.withLock { state -> Int32? in
            guard let helper = state.helper?.process else { return nil }
            return helper.pid
        }
    }

    /// The variable of the environment by which commands are found.
    package static let variable = ProcessSweep.Mark.variable

    /// The number of commands that are running.
    package var runningCommands: Int { state.withLock { $0.groups.count } }

    // MARK: Commands

    /// Starts a command of this process; the code that reaps it calls `release` immediately before doing so.
    func spawn(_ launch: ProcessLaunch) throws(SpawnError) -> SpawnedProcess {
        var launch = launch
        launch.environment = launch.environment ?? Environment.all
        launch.environment?[ProcessSweep.Mark.variable] = mark.value
        let isAllowed = state.withLock { state -> Bool in
            if state.isEnding { return false }
            state.starting += 1
            state.hasStarted = true
            if state.helper == nil { startHelper(&state) }
            return true
        }
        guard isAllowed else {
            throw .invalid("the server is shutting down; no more commands can be started")
        }
        do {
            let process = try SpawnedProcess(launch)
            add(process.pid)
            return process
        } catch {
            add(nil)
            throw error
        }
    }

    private func add(_ group: Int32?) {
        state.withLock { state in
            state.starting -= 1
            guard let group else { return }
            state.groups.insert(group)
            if state.isEnding { ProcessSweep.killGroup(group) }
            tell(group, &state)
        }
    }

    /// Forgets a command that has ended, while its process number is still its own.
    func release(_ group: Int32) {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            guard state.groups.remove(group) != nil else { return [] }
            tell(-group, &state)
            guard state.groups.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter() }
    }

    // MARK: Termination

    /// Waits until no command is running, for at most `timeout`.
    package func waitUntilIdle(timeout: Duration) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let once = Once { continuation.resume() }
            let resume: @Sendable () -> Void = { once.call() }
            let isIdle = state.withLock { state -> Bool in
                if !state.groups.isEmpty { state.waiters.append(resume) }
                return state.groups.isEmpty
            }
            if isIdle { return resume() }
            queue.asyncAfter(deadline: .now() + timeout.dispatchInterval, execute: resume)
        }
    }

    /// Whether `endNow` was called: running commands are killed by it, so how they end says nothing about
    /// them.
    package var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Kills all commands and the helper immediately and waits for them to die; no further command can start.
    ///
    /// For the last moments of a process: it can be called from any thread, uses no queue, and takes 2.5 s at
    /// most.
    package func endNow() {
        var groups: [Int32] = []
        var helper: ChildProcess?
        var hasStarted = true
        for _ in 0 ..< Self.patience {
            // The wait is limited: another thread may hang while it starts a command.
            let isQuiet = state.withLockIfAvailable { state -> Bool in
                state.isEnding = true
                hasStarted = state.hasStarted
                groups = Array(state.groups)
                if let process = state.helper?.process { helper = process }
                return state.starting == 0
            }
            if isQuiet == true { break }
            ProcessSweep.wait(milliseconds: 1)
        }
        // The search goes through all processes of the system.
        let isDone =
            !hasStarted
            || ProcessSweep.kill(
                groups: groups, mark: mark, within: Self.longestSweep, except: helper?.pid)
        // Its work is done, otherwise it continues. It is killed last, in case this process is killed in the
        // meantime.
        if isDone { helper?.signal(SIGKILL) }
        let end = SystemClock().now + Self.longestDeath
        for process in groups + (isDone ? [helper?.pid].compactMap { $0 } : []) {
            waitForDeath(process, until: end)
        }
    }

    /// Waits until a process has died. Zombies are left to the code that waits for them, or to init.
    private func waitForDeath(_ process: Int32, until end: MonotonicInstant) {
        repeat {
            var info = unsafe siginfo_t()
            let result = unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT | WNOHANG)
            let isRunning = unsafe result == 0 && info.si_signo != SIGCHLD
            if !isRunning { return }
            ProcessSweep.wait(milliseconds: 1)
        } while SystemClock().now < end
    }

    // MARK: The helper

    private func startHelper(_ state: inout State) {
        do throws(SpawnError) {
            // What the helper must know is in the pipe before there is a helper: this process may be killed
            // at any moment.
            let (input, output) = try pipe(state.groups)
            defer { Syscalls.close(input) }
            let owned = FileDescriptor(owning: output)
            var launch = launch
            launch.input = .descriptor(input)
            let process = try ChildProcess(launch, queue: queue)
            state.helper = Helper(process: process, output: owned)
            state.helperStarted = SystemClock().now
            process.onExit { [weak self] status in self?.helperEnded(process.pid, status) }
        } catch {
            log.warning(
                "supervisor missing",
                ["error": error, "text": "commands would outlive a server that is killed"])
        }
    }

    /// Returns the ends of a pipe that contains the mark and the groups.
    private func pipe(_ groups: Set<Int32>) throws(SpawnError) -> (input: Int32, output: Int32) {
        do throws(IOError) {
            let (input, output) = try Syscalls.pipe()
            do throws(IOError) {
                try Syscalls.setNonBlocking(output)
                let message = groups.reduce(into: mark.bytes) { $0 += SupervisorProgram.record($1) }
                try Self.write(message, output)
            } catch {
                Syscalls.close(input)
                Syscalls.close(output)
                throw error
            }
            return (input, output)
        } catch {
            throw .failed(error)
        }
    }

    /// Notifies the helper that a command has begun (the group) or ended (its negative).
    private func tell(_ group: Int32, _ state: inout State) {
        guard let output = state.helper?.output.rawValue else { return }
        // A command may have stopped it.
        state.helper?.process.signal(SIGCONT)
        do throws(IOError) {
            try Self.write(SupervisorProgram.record(group), output)
        } catch {
            // The helper is dead, or has not read for thousands of calls. It is killed before its pipe
            // closes: at the end of the pipe it would kill the commands.
            replaceHelper(&state, because: "\(error)")
        }
    }

    private func replaceHelper(_ state: inout State, because reason: String) {
        guard let helper = state.helper.take() else { return }
        helper.process.signal(SIGKILL)
        if state.isEnding { return }
        log.warning("supervisor replaced", ["reason": reason])
        startHelper(&state)
    }

    private func helperEnded(_ process: Int32, _ status: ProcessExit) {
        state.withLock { state in
            guard let helper = state.helper?.process, helper.pid == process else { return }
            if SystemClock().now - state.helperStarted < Self.shortLife {
                // A helper that cannot stay alive is not restarted in a tight loop.
                queue.asyncAfter(deadline: .now() + Self.shortLife.dispatchInterval) { [weak self] in
                    self?.replace(process, status)
                }
            } else {
                replaceHelper(&state, because: "it \(status)")
            }
        }
    }

    private func replace(_ process: Int32, _ status: ProcessExit) {
        state.withLock { state in
            guard let helper = state.helper?.process, helper.pid == process else { return }
            replaceHelper(&state, because: "it \(status)")
        }
    }

    private static func write(_ bytes: [UInt8], _ fd: Int32) throws(IOError) {
        let count = try unsafe bytes.withUnsafeBufferPointer { bytes throws(IOError) in
            unsafe try Syscalls.write(fd, UnsafeRawBufferPointer(bytes))
        }
        // A record is far smaller than what a pipe accepts atomically.
        if count != bytes.count { throw IOError(errno: EAGAIN, function: "write") }
    }
}
