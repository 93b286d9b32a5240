import Dispatch

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

/// A runner of commands to completion, for tools that are programs.
///
/// It blocks its thread, so it should have one of its own. When it returns, the process has been reaped and
/// its whole process group has been killed.
package enum ProcessRunner {
    package struct Limits: Sendable, Hashable {
        /// The maximum running time. Nil: no limit.
        package var timeout: Duration?
        /// The maximum number of bytes of standard output; `excess` decides about more.
        package var maxOutputBytes: Int
        /// What happens to more output.
        package var excess = Excess.ends
        /// The maximum number of bytes of standard error; one more ends the process.
        package var maxErrorBytes: Int
        /// The time between SIGTERM and SIGKILL.
        package var terminationGrace: Duration

        package init(
            timeout: Duration? = .seconds(30), maxOutputBytes: Int = 1_048_576, maxErrorBytes: Int = 65_536,
            terminationGrace: Duration = .seconds(2)
        ) {
            self.timeout = timeout
            self.maxOutputBytes = maxOutputBytes
            self.maxErrorBytes = maxErrorBytes
            self.terminationGrace = terminationGrace
        }
    }

    /// The reason why the run ended.
    package enum End: Sendable, Hashable {
        /// The process ended on its own.
        case exited
        case timedOut
        case cancelled
        /// It wrote more to stdout than the limit allows.
        case outputLimit
        /// It wrote more to stderr than the limit allows.
        case errorLimit
        /// Its output cannot be read; the part that was read is incomplete.
        case unreadable(IOError)
    }

    package struct Result: Sendable, Hashable {
        package let end: End
        package let status: ProcessExit
        /// Standard output, at most `maxOutputBytes`.
        package let output: [UInt8]
        /// The number of bytes of standard output, including those that were dropped.
        package let outputCount: Int
        /// Standard error, at most `maxErrorBytes`.
        package let errors: [UInt8]
        package let duration: Duration
    }

    /// A handle that ends a run early, from any thread.
    package final class Cancellation: Sendable {
        private let counted = Counted(.runCancellation)
        fileprivate let reader: FileDescriptor
        /// Nil: `reader` is written, too.
        private let writer: FileDescriptor?

        package init() throws(IOError) {
            #if os(Linux)
            // One descriptor costs every command less than the two of a pipe.
            reader = FileDescriptor(
                owning: Int32(
                    truncatingIfNeeded: try Syscalls.require("eventfd") {
                        Int(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
                    }))
            writer = nil
            #else
            let (reader, writer) = try Syscalls.pipe(nonBlocking: true)
            self.reader = FileDescriptor(owning: reader)
            self.writer = FileDescriptor(owning: writer)
            #endif
        }

        /// Ends the runs that use this cancellation, including those that begin later.
        package func cancel() {
            // An eventfd takes eight bytes.
            var one: UInt64 = 1
            let open = FileDescriptor.rawValue(of: writer)
            let descriptor = open >= 0 ? open : reader.rawValue
            // Fails only where nothing is lost: a full pipe means that it has been cancelled already.
            _ = unsafe withUnsafeBytes(of: &one) { unsafe try? Syscalls.write(descriptor, $0) }
        }
    }

    /// Starts a command, feeds it `input`, collects its output and waits for it to end.
    ///
    /// The command runs in a session of its own with pipes, whatever `launch` specifies for streams and
    /// group.
    ///
    /// - Parameters:
    ///   - supervisor: the supervisor that ends the command if this process ends first.
    ///   - observer: sees the output while the command runs.
    package static func run(
        _ launch: ProcessLaunch, input: [UInt8] = [], limits: Limits = Limits(),
        cancellation: Cancellation? = nil, supervisor: ProcessSupervisor? = nil,
        observer: (any ProcessObserver)? = nil
    ) throws(SpawnError) -> Result {
        var launch = launch
        launch.group = .session
        launch.input = input.isEmpty ? .null : .pipe
        launch.output = .pipe
        launch.errors = .pipe
        #if os(Linux)
        let mask = ChildSignal.unblock()
        defer { ChildSignal.restore(mask) }
        #endif
        let process: SpawnedProcess
        if let supervisor {
            process = try supervisor.spawn(launch)
        } else {
            process = try SpawnedProcess(launch)
        }
        var run = ProcessRun(
            process, input: input, limits: limits, supervisor: supervisor, observer: observer)
        return run.toItsEnd(cancelledBy: cancellation?.reader.rawValue ?? -1)
    }
}

#if os(Linux)
/// SIGCHLD of the calling thread.
///
/// The kernel drops this signal when the thread that started the process does not block it and nobody
/// handles it. Dispatch's threads block all signals; the signal then wakes another thread of the process, the
/// main one, for nothing, at the end of each command.
private enum ChildSignal {
    static func unblock() -> sigset_t {
        var (signals, mask) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGCHLD)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, &mask)
        return mask
    }

    static func restore(_ mask: sigset_t) {
        var mask = mask
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}
#endif

/// A single run: a poll loop over the pipes, the process's end, the cancellation and the clock.
private struct ProcessRun: ~Copyable {
    private enum Slot { static let input = 0, output = 1, errors = 2, exit = 3, cancel = 4 }

    /// The time for which the pipes are still read after the process has ended: any process that still holds
    /// them has left the process group.
    private static let drainTime = Duration.milliseconds(200)
    /// The time that a killed process may take to die; one that hangs in the kernel is left to a queue.
    private static let killPatience = Duration.seconds(5)

    private let pid: Int32
    private var input: FileDescriptor?
    private var output: Capture
    private var errors: Capture
    private var exitWatch: FileDescriptor?
    private let inputBytes: [UInt8]
    private var written = 0
    private let limits: ProcessRunner.Limits
    private let supervisor: ProcessSupervisor?
    private let observer: (any ProcessObserver)?
    private let started = SystemClock().now

    private var end: ProcessRunner.End?
    private var status: ProcessExit?
    /// The time at which the next step is due: time-out, SIGKILL, giving up.
    private var deadline: MonotonicInstant
    private var isKilled = false

    init(
        _ process: consuming SpawnedProcess, input: [UInt8], limits: ProcessRunner.Limits,
        supervisor: ProcessSupervisor?, observer: (any ProcessObserver)?
    ) {
        self.supervisor = supervisor
        self.observer = observer
        pid = process.pid
        self.input = process.input.take()
        output = Capture(process.output.take(), .output, limit: limits.maxOutputBytes, limits.excess)
        errors = Capture(process.errors.take(), .errors, limit: limits.maxErrorBytes, .ends)
        inputBytes = input
        self.limits = limits
        deadline = limits.timeout.map { [started] in started + $0 } ?? .never
        #if os(Linux)
        let pidfd = mcp_pidfd_open(pid)
        exitWatch = pidfd >= 0 ? FileDescriptor(owning: pidfd) : nil
        #endif
        // The write end belongs to this process alone: the child has the other open file description. For an
        // open pipe this cannot fail.
        if self.input != nil { try? Syscalls.setNonBlocking(FileDescriptor.rawValue(of: self.input)) }
    }

    mutating func toItsEnd(cancelledBy cancelFD: Int32) -> ProcessRunner.Result {
        while status == nil {
            var entries = pollEntries(cancelFD)
            let now = SystemClock().now
            let wakeTime = observer?.wakeTime ?? .never
            var timeout = SystemClock().pollTimeout(until: min(deadline, wakeTime), now: now)
            // Without a pidfd, the end is not reported and has to be polled for.
            if exitWatch == nil { timeout = timeout < 0 ? 20 : min(timeout, 20) }
            var isBlind = exitWatch == nil
            do throws(IOError) {
                _ = try Syscalls.poll(&entries, timeoutMilliseconds: timeout)
            } catch {
                // No memory for poll: the process is stopped, and its end is checked for.
                isBlind = true
                stop(because: .unreadable(error))
                usleep(20_000)
            }
            movePipes(entries)
            if entries[Slot.cancel].revents != 0 { stop(because: .cancelled) }
            let later = SystemClock().now
            if later >= deadline { deadlinePassed() }
            if let observer, later >= observer.wakeTime { observer.wake(at: later) }
            if isBlind || entries[Slot.exit].revents != 0 { collectExit() }
        }
        drain()
        if let observer {
            if output.keep(observer.end(of: .output)) { end = end ?? .outputLimit }
            if errors.keep(observer.end(of: .errors)) { end = end ?? .errorLimit }
        }
        return ProcessRunner.Result(
            end: end ?? .exited, status: status ?? .unknown, output: output.bytes,
            outputCount: output.count, errors: errors.bytes, duration: SystemClock().now - started)
    }

    private func pollEntries(_ cancelFD: Int32) -> [pollfd] {
        [
            // poll ignores negative descriptors.
            pollfd(fd: FileDescriptor.rawValue(of: input), events: Int16(POLLOUT), revents: 0),
            pollfd(fd: output.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: errors.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: FileDescriptor.rawValue(of: exitWatch), events: Int16(POLLIN), revents: 0),
            pollfd(fd: end == nil ? cancelFD : -1, events: Int16(POLLIN), revents: 0),
        ]
    }

    private mutating func movePipes(_ entries: [pollfd]) {
        if entries[Slot.input].revents != 0 { writeInput() }
        if entries[Slot.output].revents != 0, let end = output.readOnce(.outputLimit, observer) {
            abandon(end)
        }
        if entries[Slot.errors].revents != 0, let end = errors.readOnce(.errorLimit, observer) {
            abandon(end)
        }
    }

    private mutating func writeInput() {
        let fd = FileDescriptor.rawValue(of: input)
        let rest = inputBytes[written...]
        let count = unsafe rest.withUnsafeBytes { bytes -> Int? in
            // A child that does not read all of its input is not an error.
            do { return unsafe try Syscalls.write(fd, bytes) ?? 0 } catch { return nil }
        }
        written += count ?? rest.count
        if written == inputBytes.count { _ = input.take() }
    }

    /// Signals the process to end, and sets the time for the next step.
    private mutating func stop(because reason: ProcessRunner.End) {
        if end != nil { return }
        end = reason
        kill(-pid, SIGTERM)
        deadline = SystemClock().now + limits.terminationGrace
    }

    private mutating func abandon(_ reason: ProcessRunner.End) {
        if end == nil { end = reason }
        // Killed first: if its pipe were closed underneath it, it would die of SIGPIPE or continue without
        // the pipe.
        forceEnd()
        output.close()
        errors.close()
    }

    private mutating func forceEnd() {
        if isKilled { return }
        isKilled = true
        kill(-pid, SIGKILL)
        deadline = SystemClock().now + Self.killPatience
    }

    private mutating func deadlinePassed() {
        if isKilled {
            DispatchQueue.global().async { [pid, supervisor] in
                ProcessExit.waitWithoutReaping(pid)
                supervisor?.release(pid)
                _ = ProcessExit.reap(pid)
            }
            status = .unknown
        } else if end != nil {
            forceEnd()
        } else {
            stop(because: .timedOut)
        }
    }

    private mutating func collectExit() {
        if status != nil || !hasEnded { return }
        // While the leader is a zombie, its number, and therefore the group's, cannot be reused.
        kill(-pid, SIGKILL)
        supervisor?.release(pid)
        status = ProcessExit.reap(pid)
    }

    private var hasEnded: Bool {
        var info = unsafe siginfo_t()
        guard unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0 else {
            return currentErrno() == ECHILD
        }
        return unsafe info.si_signo == SIGCHLD
    }

    /// Reads what is left in the pipes.
    private mutating func drain() {
        deadline = SystemClock().now + Self.drainTime
        while output.isOpen || errors.isOpen {
            let timeout = SystemClock().pollTimeout(until: deadline, now: SystemClock().now)
            if timeout == 0 { return }
            var entries = pollEntries(-1)
            entries[Slot.input].fd = -1
            entries[Slot.exit].fd = -1
            do throws(IOError) {
                _ = try Syscalls.poll(&entries, timeoutMilliseconds: timeout)
            } catch {
                end = end ?? .unreadable(error)
                return
            }
            if entries[Slot.output].revents != 0, let problem = output.readOnce(.outputLimit, observer) {
                end = end ?? problem
            }
            if entries[Slot.errors].revents != 0, let problem = errors.readOnce(.errorLimit, observer) {
                end = end ?? problem
            }
        }
    }
}

/// The data read from one pipe.
private struct Capture: ~Copyable {
    private var descriptor: FileDescriptor?
    private let stream: ProcessRunner.OutputStream
    private let limit: Int
    private let excess: ProcessRunner.Excess
    private(set) var bytes: [UInt8] = []
    /// The number of bytes, including those that were dropped.
    private(set) var count = 0

    init(
        _ descriptor: consuming FileDescriptor?, _ stream: ProcessRunner.OutputStream, limit: Int,
        _ excess: ProcessRunner.Excess
    ) {
        self.descriptor = descriptor
        self.stream = stream
        self.limit = limit
        self.excess = excess
    }

    var rawValue: Int32 { FileDescriptor.rawValue(of: descriptor) }

    var isOpen: Bool { rawValue >= 0 }

    /// Reads from a ready pipe and closes it at end of file.
    ///
    /// - Parameter tooMuch: the value that is returned when there is more data than the limit allows.
    /// - Returns: the reason why the run cannot continue, or nil if it can.
    mutating func readOnce(
        _ tooMuch: ProcessRunner.End, _ observer: (any ProcessObserver)?
    ) -> ProcessRunner.End? {
        let fd = rawValue
        // An observer takes some of it, and what is dropped has no limit.
        let isWhole = observer != nil || excess == .isDropped
        let room = isWhole ? Self.pieceSize : min(Self.pieceSize, limit - bytes.count + 1)
        var got: Int?
        var failure: IOError?
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            do throws(IOError) { got = unsafe try Syscalls.read(fd, into: raw) } catch { failure = error }
            count = got ?? 0
        }
        let isOver =
            if let observer, !piece.isEmpty {
                keep(observer.take(piece, from: stream, at: SystemClock().now))
            } else {
                keep(piece)
            }
        if let failure {
            close()
            return .unreadable(failure)
        }
        // Nil: nothing was available after all.
        if got == 0 { close() }
        return isOver ? tooMuch : nil
    }

    private static let pieceSize = 65_536

    /// Adds data up to the limit. Returns whether the run ends because there was more.
    mutating func keep(_ piece: [UInt8]) -> Bool {
        count += piece.count
        let room = limit - bytes.count
        if piece.count <= room {
            bytes += piece
            return false
        }
        bytes += piece.prefix(max(0, room))
        return excess == .ends
    }

    mutating func close() { _ = descriptor.take() }
}
