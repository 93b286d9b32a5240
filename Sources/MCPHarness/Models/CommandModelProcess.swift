import Dispatch
import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The running program. It is written to and read from on one queue, and can be ended from any thread.
final class CommandModelProcess: Sendable {
    private let counted = Counted(.commandModel)

    /// An error thrown when the program has closed its output.
    struct Ended: Error {}

    /// The maximum length of a line: 16 MiB. A longer line is not an event.
    private static let maxLineBytes = 16 << 20
    /// The maximum amount of JSON that the program may write for one answer: 100 MiB.
    private static let maxAnswerBytes = 100 << 20

    private struct Pipes: ~Copyable {
        var input: FileDescriptor?
        let output: FileDescriptor
        var framer = LineFramer(maxBytes: CommandModelProcess.maxLineBytes)
        /// The part of the request that has not been written yet.
        var request: ArraySlice<UInt8> = []
        var answerBytes = 0
    }

    private let child: ChildProcess
    private let name: String
    private let pipes: Mutex<Pipes>

    init(_ launch: ProcessLaunch) throws {
        SignalWatch.ignoreBrokenPipes()
        // A queue of its own: where work of the program blocks the threads of the global queue, the end of a
        // process is noticed there only a second later for each of them.
        child = try ChildProcess(launch, queue: DispatchQueue(label: "mcp.model.end"))
        name = launch.program
        // A process that has already exited no longer has an input, but may have written an answer.
        let input = child.takeInput()
        guard let output = child.takeOutput() else {
            throw HarnessError.model("\(launch.program) has no pipes")
        }
        // Both are our ends of the pipes; the program's ends are not affected.
        if input != nil { try Syscalls.setNonBlocking(FileDescriptor.rawValue(of: input)) }
        try Syscalls.setNonBlocking(output.rawValue)
        pipes = Mutex(Pipes(input: input, output: output))
    }

    // MARK: Termination

    var hasEnded: Bool { child.status != nil }

    /// Says how the program ended before its answer was complete. Waits briefly for its status.
    ///
    /// - Parameter hasBegun: whether a part of the answer was read.
    func endedEarly(hasBegun: Bool) -> String {
        let part = hasBegun ? "in the middle of an answer" : "before it answered"
        for _ in 0 ..< 50 where child.status == nil { usleep(10_000) }
        let end = child.status.map { "\($0)" } ?? "closed its output"
        return "the model \(name) \(end) \(part)"
    }

    /// Begins to end the program: by closing its input if it is waiting for a request, otherwise with
    /// SIGTERM.
    func end() {
        let isIdle: Void? = pipes.withLockIfAvailable { $0.input = nil }
        child.startTermination(
            inputGrace: isIdle == nil ? .zero : .milliseconds(500), signalGrace: .seconds(1))
    }

    func wait() async { _ = await child.wait() }

    // MARK: Answering

    /// Returns false if the program has exited, or has written something that was not requested.
    func isReady() -> Bool {
        guard !hasEnded else { return false }
        return pipes.withLock { pipes in
            guard pipes.input != nil else { return false }
            do {
                while true {
                    switch pipes.framer.next() {
                    case .line(let line): if !line.isEmpty { return false }
                    case .tooLong, .dropped: return false
                    case .needMore:
                        guard pipes.framer.pendingBytes == 0 else { return false }
                        switch try Self.read(&pipes) {
                        case nil: return true
                        case 0: return false
                        default: continue
                        }
                    }
                }
            } catch {
                return false
            }
        }
    }

    /// Whether the program answered a request without reading it to the end.
    var hasUnreadRequest: Bool { pipes.withLock { !$0.request.isEmpty } }

    /// Writes the request while reading events up to `stop`, because a program may write before it has
    /// finished reading.
    ///
    /// - Throws: `Ended`; `HarnessError` when the program writes something that is not an event, too much, or
    ///   nothing.
    func answer(to request: [UInt8], silence: Duration, _ take: (ModelEvent) -> Void) throws {
        try pipes.withLock { pipes in
            pipes.request = request[...]
            pipes.answerBytes = 0
            while true {
                switch pipes.framer.next() {
                case .line(let line):
                    if line.isEmpty { continue }
                    let event = try CommandModelWire.event(line, name)
                    take(event)
                    if case .stop = event { return }
                case .tooLong, .dropped:
                    throw HarnessError.model("\(name) wrote a line of more than \(Self.maxLineBytes) bytes")
                case .needMore: try move(&pipes, silence)
                }
            }
        }
    }

    /// Waits until data can be written or read, and then transfers it.
    private func move(_ pipes: inout Pipes, _ silence: Duration) throws {
        let deadline = ContinuousClock.now + silence
        while true {
            let hasWritten = Self.write(&pipes)
            if let count = try Self.read(&pipes) {
                guard count > 0 else { throw Ended() }
                pipes.answerBytes += count
                guard pipes.answerBytes <= Self.maxAnswerBytes else {
                    throw HarnessError.responseTooLarge(limit: Self.maxAnswerBytes)
                }
                return
            }
            if hasWritten { return }
            let left = deadline - .now
            guard left > .zero else { throw HarnessError.model("\(name) wrote nothing for \(silence)") }
            let isWriting = !pipes.request.isEmpty
            let input = isWriting ? FileDescriptor.rawValue(of: pipes.input) : -1
            var entries = [
                pollfd(fd: pipes.output.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
            ]
            let milliseconds = Int32(clamping: left.milliseconds + 1)
            _ = try Syscalls.poll(&entries, timeoutMilliseconds: milliseconds)
        }
    }

    /// Writes as much as the pipe accepts. A program that has closed its input may still have an answer.
    private static func write(_ pipes: inout Pipes) -> Bool {
        guard !pipes.request.isEmpty else { return false }
        guard pipes.input != nil else {
            pipes.request = []
            return false
        }
        let input = FileDescriptor.rawValue(of: pipes.input)
        let written: Int?
        do {
            written = unsafe try pipes.request.withUnsafeBytes { (bytes) throws(IOError) in
                unsafe try Syscalls.write(input, bytes)
            }
        } catch {
            pipes.input = nil
            pipes.request = []
            return false
        }
        guard let written else { return false }
        pipes.request = pipes.request.dropFirst(written)
        return true
    }

    /// Reads the available data: nil if there is none yet, 0 at the end.
    private static func read(_ pipes: inout Pipes) throws(IOError) -> Int? {
        let output = pipes.output.rawValue
        var isEmpty = false
        let count = unsafe try pipes.framer.fill(reserving: 64 << 10) { (room) throws(IOError) in
            let count = unsafe try Syscalls.read(output, into: UnsafeMutableRawBufferPointer(room))
            isEmpty = count == nil
            return count ?? 0
        }
        return isEmpty ? nil : count
    }
}
