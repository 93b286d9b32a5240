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
/// It should end with its input. One that does not would keep its provider from connecting again, so it gets
/// SIGTERM after a while, and SIGKILL after another.
final class ProviderProgram: EventHandler, @unchecked Sendable {
    private let counted = Counted(.providerProgram)

    // SAFETY: the descriptor and the child never change, and are used from any thread; the registration is
    // touched on the loop's thread only.
    private let socket: FileDescriptor
    private let child: ChildProcess
    private let loop: EventLoop
    private let grace: Duration
    private var registration: Registration?

    /// Starts the program.
    ///
    /// - Parameter grace: how long it has to end after its input, and how long after SIGTERM.
    /// - Throws: `ClientError` `.cannotStart`.
    init(
        _ launch: ProcessLaunch, on socket: consuming FileDescriptor, loop: EventLoop, grace: Duration
    ) throws(ClientError) {
        // Programs do not expect that their input has nothing yet.
        let flags = fcntl(socket.rawValue, F_GETFL)
        _ = fcntl(socket.rawValue, F_SETFL, flags & ~O_NONBLOCK)
        var launch = launch
        launch.input = .descriptor(socket.rawValue)
        launch.output = .descriptor(socket.rawValue)
        launch.errors = .inherit
        do {
            child = try ChildProcess(launch)
        } catch {
            throw ClientError(.cannotStart, "\(error)")
        }
        self.socket = socket
        self.loop = loop
        self.grace = grace
    }

    /// Waits until the program has ended, and makes it end when the connection has, or when the task is
    /// cancelled.
    ///
    /// Returns how it ended while the connection was there; nil: the connection ended first.
    @discardableResult
    func run() async -> ProcessExit? {
        loop.execute { self.watch() }
        let status = await withTaskCancellationHandler {
            await child.wait()
        } onCancel: {
            // The end of its input, for one that reads on while the daemon is there.
            shutdown(socket.rawValue, Int32(SHUT_RD))
            self.end()
        }
        loop.execute { self.forget() }
        return isLinkOver ? nil : status
    }

    private func end() { child.startTermination(inputGrace: grace, signalGrace: grace) }

    /// Whether the other side has ended the connection, or we have. This side still holds it, so its end is
    /// none of the program's doing.
    private var isLinkOver: Bool {
        #if os(Linux)
        // POLLRDHUP, which has the same value and is hidden from Swift.
        let events = Int16(truncatingIfNeeded: MCP_EPOLLRDHUP)
        #else
        let events = Int16(POLLHUP)
        #endif
        var entries = [pollfd(fd: socket.rawValue, events: events, revents: 0)]
        return (try? Syscalls.poll(&entries, timeoutMilliseconds: 0)) ?? 1 > 0
    }

    private func watch() {
        // What comes is the program's to read.
        registration = try? loop.register(socket.rawValue, .readClosed, self)
    }

    private func forget() {
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    override func ready(_ events: Readiness) {
        guard !events.isDisjoint(with: [.readClosed, .hangup]) else { return }
        // It would be reported without end.
        forget()
        end()
    }

    override func loopStopped() { registration = nil }
}
