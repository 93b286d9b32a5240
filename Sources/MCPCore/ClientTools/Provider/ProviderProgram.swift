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

/// A program that is the MCP server on a connection, which is its standard input and output.
///
/// It should end with its input. One that does not would keep its provider from reconnecting, so it receives
/// SIGTERM after a while, and SIGKILL later.
final class ProviderProgram: EventHandler, @unchecked Sendable {
    private let counted = Counted(.providerProgram)

    // SAFETY: the descriptor and the child never change, and are used from any thread; the registration and
    // the errors are touched on the loop's thread only.
    private let socket: FileDescriptor
    private let child: ChildProcess
    private let loop: EventLoop
    private let grace: Duration
    private var registration: Registration?
    private let errors: ProgramErrors?

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - grace: the time that it has to end after its input has ended, and again after SIGTERM.
    ///   - onStderr: receives the lines of its standard error, on the loop's thread; if nil, they are in that
    ///     of this process.
    /// - Throws: `ClientError` `.cannotStart`.
    init(
        _ launch: ProcessLaunch, on socket: consuming FileDescriptor, loop: EventLoop, grace: Duration,
        onStderr: (@Sendable (String) -> Void)? = nil
    ) throws(ClientError) {
        // Programs do not expect a non-blocking input.
        let flags = fcntl(socket.rawValue, F_GETFL)
        _ = fcntl(socket.rawValue, F_SETFL, flags & ~O_NONBLOCK)
        var launch = launch
        launch.input = .descriptor(socket.rawValue)
        launch.output = .descriptor(socket.rawValue)
        launch.errors = onStderr == nil ? .inherit : .pipe
        do {
            child = try ChildProcess(launch)
        } catch {
            throw ClientError(.cannotStart, "\(error)")
        }
        self.socket = socket
        self.loop = loop
        self.grace = grace
        errors = onStderr.map { ProgramErrors(onLine: $0) }
    }

    /// Waits until the program has ended, and terminates it when the connection has ended or the task is
    /// cancelled.
    ///
    /// Returns the exit status of a program that ended before the connection did; nil if the connection ended
    /// first.
    @discardableResult
    func run() async -> ProcessExit? {
        loop.execute { self.watch() }
        let status = await withTaskCancellationHandler {
            await child.wait()
        } onCancel: {
            // Closes its input, for a program that keeps reading while the daemon is running.
            shutdown(socket.rawValue, Int32(SHUT_RD))
            self.end()
        }
        await withCheckedContinuation { continuation in
            loop.execute {
                self.forget()
                self.errors?.end()
                continuation.resume()
            }
        }
        return isLinkOver ? nil : status
    }

    /// Whether the program has read everything that was sent to it.
    var hasReadAll: Bool { Syscalls.unreadBytes(socket.rawValue) ?? 0 == 0 }

    private func end() { child.startTermination(inputGrace: grace, signalGrace: grace) }

    /// Whether the other side or this side has ended the connection. This side still holds the connection, so
    /// its end is not caused by the program.
    private var isLinkOver: Bool {
        #if os(Linux)
        // POLLRDHUP, which has the same value but is not visible in Swift.
        let events = Int16(truncatingIfNeeded: MCP_EPOLLRDHUP)
        #else
        let events = Int16(POLLHUP)
        #endif
        var entries = [pollfd(fd: socket.rawValue, events: events, revents: 0)]
        return (try? Syscalls.poll(&entries, timeoutMilliseconds: 0)) ?? 1 > 0
    }

    private func watch() {
        // Incoming data is left for the program to read.
        registration = try? loop.register(socket.rawValue, .readClosed, self)
        errors?.start(child.takeErrors(), loop)
    }

    private func forget() {
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    override func ready(_ events: Readiness) {
        guard !events.isDisjoint(with: [.readClosed, .hangup]) else { return }
        // It would be reported endlessly.
        forget()
        end()
    }

    override func loopStopped() { registration = nil }
}
