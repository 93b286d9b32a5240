import Synchronization
import Testing

@testable import MCPCore

/// An event stream that is read in the background, with the ids of its events.
final class WireStream: Sendable {
    struct Event: Sendable {
        var id: String?
        var retry: Int?
        /// Empty for an event without a message.
        var data = ""
        var json: RawJSON? { try? RawJSON(validating: data) }
        var method: String? { json?["method"]?.string }
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

    init(port: UInt16, _ request: String, _ recorder: MessageRecorder? = nil) throws {
        socket = try WireSocket(port: port, isRecorded: false)
        self.recorder = recorder
        socket.send(request)
        TestThread.run { self.read() }
    }

    var status: Int? { state.withLock { $0.head?.status } }
    var headers: [String: String] { state.withLock { $0.head?.headers ?? [:] } }
    var events: [Event] { state.withLock { $0.events } }
    /// What holds a message.
    var messages: [Event] { events.filter { !$0.data.isEmpty } }
    var methods: [String] { messages.compactMap(\.method) }
    var comments: Int { state.withLock { $0.comments } }
    var isComplete: Bool { state.withLock { $0.isComplete } }
    var isOver: Bool { state.withLock { $0.isOver } }
    var lastID: String? { events.last { $0.id != nil }?.id }

    /// Waits for 10 seconds at most.
    func until(_ fits: @Sendable (WireStream) -> Bool) async -> Bool {
        await comesTrue { fits(self) }
    }

    func opened() async -> Bool { await until { $0.status != nil || $0.isOver } && status == 200 }

    /// The first event with this method, once it has come.
    func heard(_ method: String) async -> Event? {
        _ = await until { $0.messages.contains { $0.method == method } }
        return messages.first { $0.method == method }
    }

    func close() { socket.shutdown() }

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

/// Between two looks at something that happens elsewhere: whoever makes it happen gets the processor.
func pause() async { try? await Task.sleep(for: .milliseconds(1)) }

/// Looks again and again, for 30 seconds at most.
func comesTrue(within seconds: Int = 30, _ fits: () -> Bool) async -> Bool {
    let clock = SystemClock()
    let limit = clock.now + .seconds(seconds)
    while clock.now < limit {
        if fits() { return true }
        await pause()
    }
    return fits()
}

/// A session of the handshake revisions, written by hand.
final class WireSession: Sendable {
    let port: UInt16
    let version: String
    let id: String
    let recorder: MessageRecorder

    init(port: UInt16, version: String, id: String? = nil) async throws {
        self.port = port
        self.version = version
        recorder = MessageRecorder([.server], version: version)
        if let id {
            self.id = id
            return
        }
        let body =
            #"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"\#(version)","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#
        let opened = try await Self.send(port, Self.post(body, []), body, recorder)
        self.id = try #require(opened?.headers["mcp-session-id"])
    }

    private var fields: [String] {
        ["Mcp-Session-Id: \(id)"] + (version >= "2025-06-18" ? ["MCP-Protocol-Version: \(version)"] : [])
    }

    private static func post(_ body: String, _ fields: [String]) -> String {
        let head = [
            "POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json",
            "Accept: application/json, text/event-stream", "Content-Length: \(body.utf8.count)",
        ]
        return (head + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    private static func send(
        _ port: UInt16, _ request: String, _ body: String, _ recorder: MessageRecorder
    ) async throws -> WireResponse? {
        let socket = try WireSocket(port: port, isRecorded: false)
        if !body.isEmpty { recorder.saw(body, from: .client) }
        let response: WireResponse? = await withCheckedContinuation { continuation in
            TestThread.run {
                socket.send(request)
                var reader = WireReader(socket)
                continuation.resume(returning: reader.response { recorder.saw($0, from: .server) })
            }
        }
        if let response, response.headers["content-type"] == "application/json" {
            recorder.saw(response.body, from: .server)
        }
        return response
    }

    /// Sends a message and waits for all of its answer.
    @discardableResult
    func post(_ body: String) async throws -> WireResponse? {
        try await Self.send(port, Self.post(body, fields), body, recorder)
    }

    func request(_ method: String, _ params: String = "{}", id: Int = 1) async throws -> WireResponse? {
        try await post(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
    }

    /// Sends a request whose answer is read as a stream.
    func stream(_ method: String, _ params: String, id: Int) throws -> WireStream {
        let body = #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
        recorder.saw(body, from: .client)
        return try WireStream(port: port, Self.post(body, fields), recorder)
    }

    /// Opens the stream of the server, or takes an earlier one up.
    func get(after lastEventID: String? = nil) throws -> WireStream {
        try WireStream(
            port: port, Self.get(fields + (lastEventID.map { ["Last-Event-ID: \($0)"] } ?? [])), recorder)
    }

    static func get(_ fields: [String], accept: String? = "text/event-stream") -> String {
        let head = ["GET /mcp HTTP/1.1", "Host: 127.0.0.1"] + (accept.map { ["Accept: \($0)"] } ?? [])
        return (head + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    func delete() async throws -> Int? {
        let head = ["DELETE /mcp HTTP/1.1", "Host: 127.0.0.1"] + fields
        return try await Self.send(port, head.joined(separator: "\r\n") + "\r\n\r\n", "", recorder)?.status
    }
}
