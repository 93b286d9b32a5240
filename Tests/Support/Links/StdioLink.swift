import Dispatch
import Synchronization

@testable package import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A server on a pair of pipes in this process, as a child would be.
package final class StdioLink: RawLink {
    private struct State {
        var heard: [RawJSON] = []
        /// By id, the newest last: an id in use is refused at once, so its newest use is answered first.
        var waiting: [RequestID: [CheckedContinuation<RawReply, Never>]] = [:]
        var server: LineServer?
        var input: Int32
        var isAtEnd = false
        var listener: (@Sendable (RawJSON) -> Void)?
    }

    private let state: Mutex<State>
    private let loop: EventLoop

    private let recorder: MessageRecorder

    package init(_ server: MCPServer, _ recorder: MessageRecorder) throws {
        self.recorder = recorder
        SignalWatch.ignoreBrokenPipes()
        let (inReader, inWriter) = try Syscalls.pipe()
        let (outReader, outWriter) = try Syscalls.pipe()
        let null = try Syscalls.open("/dev/null", O_RDWR)
        let streams = try StandardStreams.capture(input: inReader, output: outWriter, errors: null.rawValue)
        // What is left at these two numbers is /dev/null.
        Syscalls.close(inReader)
        Syscalls.close(outWriter)
        let loop = try EventLoop(label: "test.stdio")
        let stdio = LineServer(server, streams: streams, loop: loop)
        self.loop = loop
        state = Mutex(State(server: stdio, input: inWriter))
        loop.start()
        loop.execute { stdio.start() }
        DispatchQueue(label: "test.stdio.reader").async { [weak self] in
            StdioLink.read(outReader) { self?.hear($0) }
            self?.endOfOutput()
        }
    }

    package var heard: [RawJSON] { state.withLock { $0.heard } }

    package func listen(_ listener: @escaping @Sendable (RawJSON) -> Void) {
        state.withLock { $0.listener = listener }
    }
    /// Whether the server has closed its output.
    package var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    /// Reads lines until the server closes its output.
    private static func read(_ fd: Int32, _ take: (ByteSlice) -> Void) {
        let descriptor = FileDescriptor(owning: fd)
        var framer = LineFramer(maxBytes: .max)
        while let piece = try? readOnce(descriptor.rawValue, 65_536), !piece.isEmpty {
            framer.append(ByteSlice(piece))
            while case .line(let line) = framer.next() { take(line) }
        }
    }

    private func hear(_ line: ByteSlice) {
        recorder.saw(line, from: .server)
        let json = (try? RawJSON(validating: line)) ?? RawJSON(JSONValue.string("not JSON: \(String(line))"))
        let id = json["method"] == nil ? json["id"].flatMap(RequestID.init) : nil
        let (waiting, listener) = state.withLock { state in
            state.heard.append(json)
            return (id.flatMap { state.waiting[$0]?.popLast() }, state.listener)
        }
        listener?(json)
        waiting?.resume(returning: RawReply(answer: json))
    }

    private func endOfOutput() {
        let waiting = state.withLock { state in
            state.isAtEnd = true
            let waiting = state.waiting
            state.waiting = [:]
            return waiting
        }
        for continuation in waiting.values.joined() { continuation.resume(returning: RawReply()) }
    }

    package func exchange(_ message: RawMessage) async -> RawReply {
        guard let id = message.id else {
            write(message.text)
            return RawReply()
        }
        return await withCheckedContinuation { continuation in
            state.withLock { $0.waiting[id, default: []].append(continuation) }
            write(message.text)
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(20)) { [weak self] in
                self?.disconnect(id)
            }
        }
    }

    /// Writes one line.
    package func write(_ text: String) {
        for line in text.split(separator: "\n") { recorder.saw(String(line), from: .client) }
        state.withLock { state in
            if state.input >= 0 { try? writeText(state.input, text + "\n") }
        }
    }

    package func disconnect(_ id: RequestID) {
        for continuation in state.withLock({ $0.waiting.removeValue(forKey: id) }) ?? [] {
            continuation.resume(returning: RawReply())
        }
    }

    /// Ends the server's input.
    package func endInput() {
        state.withLock { state in
            if state.input >= 0 { Syscalls.close(state.input) }
            state.input = -1
        }
    }

    /// Returns when the server has ended by itself.
    package func waitUntilEnded() async { await state.withLock { $0.server }?.waitUntilEnded() }

    package func close() async {
        endInput()
        await waitUntilEnded()
        loop.stop()
        state.withLock { $0.server = nil }
    }
}
