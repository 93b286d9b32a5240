import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A transport that starts a server as a child and communicates with it over its stdin and stdout
/// (basic/transports/stdio).
///
/// A server that ended on its own can be started again: the next child replaces the last one, which
/// is reaped first.
final class StdioClientTransport: LineClientTransport {
    private struct State {
        var child: ChildProcess
        var isClosed = false
    }

    private static let abortGrace = DispatchTimeInterval.milliseconds(200)
    /// The time that a program has to end after SIGTERM before it is started afresh.
    private static let restartGrace = Duration.milliseconds(500)

    private let launch: ProcessLaunch
    private let options: ClientOptions
    private let supervisor: ProcessSupervisor?
    private let errors: RecentLines
    let loop: EventLoop
    let line: LoopBound<CurrentLine>
    private let state: Mutex<State>

    init(
        _ launch: ProcessLaunch, options: ClientOptions, supervisor: ProcessSupervisor? = nil
    ) throws(ClientError) {
        self.launch = launch
        self.supervisor = supervisor
        let errors = RecentLines()
        self.errors = errors
        var options = options
        let isTold = options.onServerStderr
        options.onServerStderr = { line in
            errors.take(line)
            isTold?(line)
        }
        self.options = options
        do {
            loop = try SharedLoops.next()
        } catch {
            throw ClientError(.cannotStart, "cannot create an event loop: \(error)")
        }
        state = Mutex(State(child: try Self.start(launch, supervisor)))
        line = LoopBound(CurrentLine(), loop: loop)
    }

    private static func start(
        _ launch: ProcessLaunch, _ supervisor: ProcessSupervisor?
    ) throws(ClientError) -> ChildProcess {
        do {
            return try ChildProcess(launch, supervisor: supervisor)
        } catch {
            throw ClientError(.cannotStart, "\(error)")
        }
    }

    /// The key of the server. Arguments may be secret, so only a digest of them is kept.
    var serverKey: ServerKey? {
        let directory = launch.directory ?? Files.currentDirectory ?? ""
        let words = [directory, launch.program] + launch.arguments
        let digest = SHA256.hash(words.joined(separator: "\0").utf8)
        var key = ServerKey(place: "command \(Hex.encode(digest.bytes.prefix(16)))", isCommand: true)
        key.stamp = ProgramStamp.text(launch)
        return key
    }

    var lastErrors: [String]? { errors.lines }

    var address: String? { launch.program.cleaned(maxBytes: 200) }

    func hasBeenRead() async -> Bool {
        let (line, loop) = (line, loop)
        return await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: line.value.hasBeenRead) }
        }
    }

    func start(_ inbox: any ClientInbox) {
        let line = line
        loop.execute { line.value.inbox = inbox }
        connect(state.withLock { $0.child })
    }

    private func connect(_ child: ChildProcess) {
        let line = line
        let channel = LoopBound(
            LineChannel(child, name: launch.program, loop: loop, options: options), loop: loop)
        loop.execute { line.value.connect(channel.value) }
        child.onExit { [loop] status in loop.execute { channel.value.ended(status) } }
    }

    // MARK: Ending and restarting

    var canRestart: Bool { true }

    func startAfresh() async throws(ClientError) {
        await endIfConnected()
        errors.forget()
        try await restart()
    }

    func restart() async throws(ClientError) {
        // An attempt can fail although its child runs: it was silent, or refused the handshake.
        await endIfConnected()
        // The child was told to end; until it has ended, it may hold what the next one needs.
        _ = await state.withLock { $0.child }.wait()
        // Under the lock, so that a concurrent close finds the new child, or prevents it.
        let child = try state.withLock { (state) throws(ClientError) in
            if state.isClosed { throw ClientError(.connectionClosed, "the client was closed") }
            state.child = try Self.start(launch, supervisor)
            return state.child
        }
        connect(child)
    }

    /// Tells the child to end, unless its end was reported.
    private func endIfConnected() async {
        let (line, loop) = (line, loop)
        // Done before the child ends: its pipes may report the end in the same turn of the loop.
        let wasConnected = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: line.value.letGoIfConnected()) }
        }
        guard wasConnected else { return }
        state.withLock { $0.child }.startTermination(inputGrace: .zero, signalGrace: Self.restartGrace)
    }

    /// Closes the child's input, then sends SIGTERM, then SIGKILL (STDIO-13); returns when the
    /// child is reaped.
    func close() async { _ = await end().wait() }

    func shutDown() { _ = end() }

    /// Sends SIGTERM now and SIGKILL soon after: nothing was agreed that would need a more orderly end.
    func abort() async {
        let child = end()
        child.signal(SIGTERM)
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.abortGrace) { child.signal(SIGKILL) }
        _ = await child.wait()
    }

    private func end() -> ChildProcess {
        let child = state.withLock { state in
            state.isClosed = true
            return state.child
        }
        let line = line
        loop.execute { line.value.close() }
        child.startTermination()
        return child
    }
}

/// The last lines that a program wrote to stderr, for any thread.
private final class RecentLines: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func forget() { kept.withLock { $0 = [] } }

    func take(_ line: String) {
        kept.withLock { lines in
            if lines.count == StderrTail.maxLines { lines.removeFirst() }
            lines.append(line)
        }
    }
}

/// The channel to the child that is running, or ran last. Confined to the loop.
final class CurrentLine {
    private var channel: LineChannel?
    private var isClosing = false
    weak var inbox: (any ClientInbox)?

    func connect(_ channel: LineChannel) {
        self.channel = channel
        if isClosing { return channel.close() }
        if let inbox { channel.start(inbox) }
    }

    func send(_ bytes: ByteSlice, _ id: Int64?) {
        if let id, var end = channel?.end {
            end.isUnsent = true
            inbox?.fail(id, end)
        } else {
            channel?.write(bytes)
        }
    }

    /// Whether the other side has read everything that was sent.
    var hasBeenRead: Bool { channel?.hasBeenRead ?? false }

    /// Ends the connection to the current child without notice; false if its end was reported already.
    func letGoIfConnected() -> Bool {
        guard let channel, channel.end == nil else { return false }
        channel.letGo()
        return true
    }

    func close() {
        isClosing = true
        channel?.close()
    }
}
