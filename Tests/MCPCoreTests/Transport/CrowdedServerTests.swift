import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// A server all of whose connections are in use, or more than half of them.
@Suite(.timeLimit(.minutes(5))) struct CrowdedServerTests {
    private static let question = HTTPServerTests.post(HTTPServerTests.body("server/discover"))

    /// Connects until the server serves the connection.
    private static func served(_ port: UInt16) throws -> WireSocket {
        while true {
            let socket = try WireSocket(port: port, isRecorded: false)
            socket.send(question)
            var reader = WireReader(socket)
            switch reader.response()?.status {
            case 200: return socket
            case 503: continue
            case let status: throw UnexpectedStatus(status: status)
            }
        }
    }

    /// Writes down the callers who were refused.
    private final class Refusals: ServerMiddleware {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func didRefuse(_ refusal: RefusedRequest) {
            lines.withLock { $0.append("\(refusal.reason.rawValue) \(refusal.principal ?? "-")") }
        }
    }

    private struct UnexpectedStatus: Error { let status: Int? }

    // Clients that have connected and ask for nothing, before or after a request, make room; a client in the
    // middle of a message does not
    @Test func clientsWithoutARequestMakeRoom() async throws {
        var options = HTTPServerOptions()
        options.maxConnections = 3
        options.loops = 1
        try await TestServer().server.withPort(options) { port in
            try await onThread {
                let silent = try WireSocket(port: port, isRecorded: false)
                silent.send("POST /mcp HT")
                let idle = try Self.served(port)
                let busy = try Self.served(port)
                busy.send(String(Self.question.dropLast(5)))
                _ = try Self.served(port)
                var first = WireReader(silent)
                #expect(first.response() == nil)
                _ = try Self.served(port)
                var second = WireReader(idle)
                #expect(second.response() == nil)
                busy.send(String(Self.question.suffix(5)))
                var reader = WireReader(busy)
                #expect(reader.response()?.status == 200)
            }
        }
    }

    // Invented tokens take the places of their address, and none of a caller whose token was good
    @Test func strangersLeaveRoomForCallers() async throws {
        let server = try TestServer().server
        let verifier = TestVerifier(TestVerifier.people)
        try await Protected.serve(server, try Protected.authorization(verifier), connections: 8) { port in
            #expect(try await Protected.answer(port, Protected.post("server/discover")).status == 200)
            // From here on nobody is known any more.
            verifier.changeGeneration()
            try await onThread {
                let idle = try (0 ..< 3).map { _ in try WireSocket(port: port, isRecorded: false) }
                let strangers = try ["x1", "x2", "x3"].map { token in
                    let socket = try WireSocket(port: port, isRecorded: false)
                    socket.send(
                        Protected.post("server/discover", token: token).replacing(
                            /Content-Length: \d+/, with: "Content-Length: 9999"))
                    return socket
                }
                var reader = WireReader(strangers[2])
                #expect(reader.response()?.status == 503)
                let caller = try WireSocket(port: port, isRecorded: false)
                let request = Protected.post("server/discover")
                caller.send(String(request.dropLast(5)))
                caller.send(String(request.suffix(5)))
                reader = WireReader(caller)
                #expect(reader.response()?.status == 200)
                _ = idle.count
            }
        }
    }

    // A body that is too large names its caller, whether its length or its chunks say so
    @Test func bodiesThatAreTooLarge() async throws {
        let refusals = Refusals()
        var options = ServerOptions()
        options.middleware = [refusals]
        let server = MCPServer("crowded", version: "1", options: options)
        let verifier = TestVerifier(TestVerifier.people)
        try await Protected.serve(server, try Protected.authorization(verifier), connections: 8) { port in
            let request = Protected.post("server/discover")
            #expect(try await Protected.answer(port, request).status == 200)
            let head = String(try #require(request.firstMatch(of: /^[^{]*/)).0)
            for (framing, body) in [
                ("Content-Length: 999999999", ""), ("Transfer-Encoding: chunked", "7fffffff\r\n"),
            ] {
                let sent = head.replacing(/Content-Length: \d+/, with: framing) + body
                #expect(try await Protected.answer(port, sent).status == 413)
            }
        }
        #expect(refusals.all == ["too_large oauth:alice", "too_large oauth:alice"])
    }

    // The streams and calls of one caller take a quarter of the connections once half of them are in use,
    // however many tokens it has; others are served
    @Test func oneCallerLeavesRoomForOthers() async throws {
        let refusals = Refusals()
        var options = ServerOptions()
        options.middleware = [refusals]
        let server = MCPServer("crowded", version: "1", options: options)
        server.addTool("good", "Good") { "x" }
        let verifier = TestVerifier(TestVerifier.people)
        try await Protected.serve(server, try Protected.authorization(verifier), connections: 8) { port in
            func listen(_ token: String) throws -> WireStream {
                try WireStream(
                    port: port,
                    Protected.post(
                        "subscriptions/listen", #""notifications":{"toolsListChanged":true}"#, token: token))
            }
            var streams: [WireStream] = []
            for token in ["alice", "alice-new", "alice", "alice-new"] {
                streams.append(try listen(token))
                #expect(await streams.last?.opened() == true)
            }
            for token in ["alice", "alice-new"] {
                let refused = try listen(token)
                #expect(await refused.until { $0.status != nil })
                #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
                refused.close()
            }
            // Nor may it send a body that takes its time.
            let request = Protected.post("server/discover")
            let slow = try WireStream(
                port: port, request.replacing(/Content-Length: \d+/, with: "Content-Length: 9999"))
            #expect(await slow.until { $0.status != nil })
            #expect(slow.status == 503 && slow.headers["retry-after"] != nil)
            slow.close()
            // What was refused before it was a request names the caller, too.
            #expect(refusals.all == ["overloaded oauth:alice"])
            // What does not wait is served, such as the end of one of the calls.
            #expect(try await Protected.answer(port, Protected.post("server/discover")).status == 200)
            let other = try listen("bob")
            #expect(await other.opened())
            other.close()
            streams.removeLast().close()
            streams.removeLast().close()
            streams.removeLast().close()
            var again = try listen("alice")
            while await again.opened() == false {
                again.close()
                again = try listen("alice")
            }
            for stream in streams + [again] { stream.close() }
        }
    }
}
