import Synchronization
import Testing

@testable package import MCPCore

/// A session of the handshake revisions, written by hand.
package final class WireSession: Sendable {
    package let port: UInt16
    package let version: String
    package let id: String
    package let recorder: MessageRecorder
    /// Fields that each request carries.
    private let more: [String]

    package init(port: UInt16, version: String, id: String? = nil, more: [String] = []) async throws {
        self.port = port
        self.more = more
        self.version = version
        recorder = MessageRecorder([.server], version: version)
        if let id {
            self.id = id
            return
        }
        let body =
            #"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"\#(version)","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#
        let opened = try await Self.send(port, Self.post(body, more), body, recorder)
        self.id = try #require(opened?.headers["mcp-session-id"])
    }

    private var fields: [String] {
        more + ["Mcp-Session-Id: \(id)"]
            + (version >= "2025-06-18" ? ["MCP-Protocol-Version: \(version)"] : [])
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
    package func post(_ body: String) async throws -> WireResponse? {
        try await Self.send(port, Self.post(body, fields), body, recorder)
    }

    package func request(_ method: String, _ params: String = "{}", id: Int = 1) async throws -> WireResponse?
    {
        try await post(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
    }

    /// Sends a request whose answer is read as a stream.
    package func stream(_ method: String, _ params: String, id: Int) throws -> WireStream {
        let body = #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
        recorder.saw(body, from: .client)
        return try WireStream(port: port, Self.post(body, fields), recorder)
    }

    /// Opens the stream of the server, or takes an earlier one up.
    package func get(after lastEventID: String? = nil) throws -> WireStream {
        try WireStream(
            port: port, Self.get(fields + (lastEventID.map { ["Last-Event-ID: \($0)"] } ?? [])), recorder)
    }

    package static func get(_ fields: [String], accept: String? = "text/event-stream") -> String {
        let head = ["GET /mcp HTTP/1.1", "Host: 127.0.0.1"] + (accept.map { ["Accept: \($0)"] } ?? [])
        return (head + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    package func delete() async throws -> Int? {
        let head = ["DELETE /mcp HTTP/1.1", "Host: 127.0.0.1"] + fields
        return try await Self.send(port, head.joined(separator: "\r\n") + "\r\n\r\n", "", recorder)?.status
    }
}

extension WireSession {
    /// How many streams of the server are read in this session.
    package func liveStreams(_ server: MCPServer) -> Int {
        let opened = try? LegacySessions(keys: server.stateKeys).open(
            ByteSlice(id), principal: "", now: SystemClock().wallTime.nanosecondsSinceEpoch / 1_000_000_000,
            uptime: 0)
        return opened.map { server.dispatcher.subscriptions.sessions.streamCount($0.channelID) } ?? -1
    }
}
