package import MCPCore
import Synchronization
import Testing

/// An event stream that is read in the background, with the ids of its events.
package final class WireStream: Sendable {
    package struct Event: Sendable {
        package var id: String?
        package var retry: Int?
        /// Empty for an event without a message.
        package var data = ""
        package var json: RawJSON? { try? RawJSON(validating: data) }
        package var method: String? { json?["method"]?.string }
    }

    private struct State {
        var head: WireResponse?
        var events: [Event] = []
        var comments = 0
        /// The response came to its end in good order.
        var isComplete = false
        /// Nothing more comes, for whatever reason.
        var isOver = false
    }

    private let state = Mutex(State())
    private let socket: WireSocket
    private let recorder: MessageRecorder?

    package init(port: UInt16, _ request: String, _ recorder: MessageRecorder? = nil) throws {
        socket = try WireSocket(port: port, isRecorded: false)
        self.recorder = recorder
        socket.send(request)
        TestThread.run { self.read() }
    }

    package var status: Int? { state.withLock { $0.head?.status } }
    package var headers: [String: String] { state.withLock { $0.head?.headers ?? [:] } }
    package var events: [Event] { state.withLock { $0.events } }
    /// What holds a message.
    package var messages: [Event] { events.filter { !$0.data.isEmpty } }
    package var methods: [String] { messages.compactMap(\.method) }
    package var comments: Int { state.withLock { $0.comments } }
    package var isComplete: Bool { state.withLock { $0.isComplete } }
    package var isOver: Bool { state.withLock { $0.isOver } }
    package var lastID: String? { events.last { $0.id != nil }?.id }

    /// Waits for 10 seconds at most.
    package func until(_ fits: @Sendable (WireStream) -> Bool) async -> Bool {
        await comesTrue { fits(self) }
    }

    package func opened() async -> Bool { await until { $0.status != nil || $0.isOver } && status == 200 }

    /// The first event with this method, once it has come.
    package func heard(_ method: String) async -> Event? {
        _ = await until { $0.messages.contains { $0.method == method } }
        return messages.first { $0.method == method }
    }

    package func close() { socket.shutdown() }

    private func read() {
        var buffer: [UInt8] = []
        var text: [UInt8] = []
        while let piece = socket.receive() {
            buffer += piece
            if status == nil, !takeHead(&buffer) { continue }
            let isComplete = takeChunks(&buffer, &text)
            takeEvents(&text)
            if isComplete { state.withLock { $0.isComplete = true } }
        }
        state.withLock { $0.isOver = true }
    }

    private func takeHead(_ buffer: inout [UInt8]) -> Bool {
        guard let end = Self.find("\r\n\r\n", in: buffer) else { return false }
        let lines = String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\r\n")
        buffer.removeFirst(end + 4)
        var head = WireResponse(status: Int(lines[0].split(separator: " ")[1]) ?? 0)
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 {
                head.headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
            }
        }
        state.withLock { $0.head = head }
        return true
    }

    /// True when the last chunk has come.
    private func takeChunks(_ buffer: inout [UInt8], _ text: inout [UInt8]) -> Bool {
        guard headers["transfer-encoding"] == "chunked" else { return false }
        var isComplete = false
        while let line = Self.find("\r\n", in: buffer),
            let size = Int(String(decoding: buffer[..<line], as: UTF8.self), radix: 16),
            buffer.count >= line + 2 + size + 2
        {
            text += buffer[(line + 2) ..< (line + 2 + size)]
            buffer.removeFirst(line + 2 + size + 2)
            if size == 0 { isComplete = true }
        }
        return isComplete
    }

    private func takeEvents(_ text: inout [UInt8]) {
        while let end = Self.find("\n\n", in: text) {
            let lines = String(decoding: text[..<end], as: UTF8.self).split(separator: "\n")
            text.removeFirst(end + 2)
            if lines.allSatisfy({ $0.hasPrefix(":") }) {
                state.withLock { $0.comments += 1 }
                continue
            }
            var event = Event()
            for line in lines {
                if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                if line.hasPrefix("retry: ") { event.retry = Int(line.dropFirst(7)) }
                if line.hasPrefix("data: ") { event.data += line.dropFirst(6) }
            }
            if !event.data.isEmpty { recorder?.saw(event.data, from: .server) }
            state.withLock { $0.events.append(event) }
        }
    }

    private static func find(_ mark: String, in bytes: [UInt8]) -> Int? {
        let mark = Array(mark.utf8)
        guard bytes.count >= mark.count else { return nil }
        return (0 ... bytes.count - mark.count).first { bytes[$0 ..< $0 + mark.count].elementsEqual(mark) }
    }
}
