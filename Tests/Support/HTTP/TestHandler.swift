package import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Responds at one path in each of the possible ways, and routes to further servers.
package final class TestHandler: HTTPRequestHandler, MCPServerRouter {
    package let servers: [String: MCPServer]
    /// `/door/wait` was asked, may answer, was cancelled.
    package let asked = Gate()
    package let release = Gate()
    package let cancelled = Gate()
    /// The stream of `/door/events` has begun, was terminated.
    package let begun = Gate()
    package let terminated = Gate()
    /// A socket of `/door/upgrade` has come to its end.
    package let ended = Gate()

    private let requests = Mutex<[HTTPRequest]>([])
    private let continuation = Mutex<AsyncStream<SSEEvent>.Continuation?>(nil)

    package init(servers: [String: MCPServer] = [:]) { self.servers = servers }

    /// What it was asked.
    package var seen: [HTTPRequest] { requests.withLock { $0 } }

    package func send(_ text: String, id: String? = nil) {
        continuation.withLock { _ = $0?.yield(SSEEvent(data: ByteSlice(text), id: id ?? "")) }
    }

    package func finish() { continuation.withLock { $0?.finish() } }

    package func server(atPath path: String) -> MCPServer? { servers[path] }

    package func handles(path: String) -> Bool { path.hasPrefix("/door/") }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        requests.withLock { $0.append(request) }
        switch request.path {
        case "/door/wait":
            asked.open()
            if await !release.wait() { cancelled.open() }
            return HTTPResponse(status: 200, body: .bytes(Array("released".utf8)))
        case "/door/events": return .events(events())
        case "/door/late-events":
            asked.open()
            await release.wait()
            return .events(events())
        case "/door/upgrade":
            return .upgrade(to: "mcp") { [ended] socket in
                let rest = socket.rest
                let descriptor = socket.release()
                TestThread.run { Self.echo(descriptor, rest, ended) }
            }
        default: return Self.response(to: request)
        }
    }

    private static func response(to request: HTTPRequest) -> HTTPResponse {
        switch request.path {
        case "/door/secret":
            HTTPResponse(status: 401, headers: fields(["WWW-Authenticate": "Bearer"]))
        case "/door/empty": HTTPResponse(status: 204)
        case "/door/odd":
            // What frames a message is not the handler's.
            HTTPResponse(
                status: 99, headers: fields(["Content-Length": "7", "Transfer-Encoding": "gzip"]),
                body: .bytes(Array("odd".utf8)))
        case "/door/last":
            HTTPResponse(status: 200, headers: fields(["Connection": "close"]))
        case "/door/parts":
            HTTPResponse(
                status: 200, headers: fields(["Content-Type": "text/plain"]),
                body: .stream(
                    AsyncStream { continuation in
                        for part in ["one ", "", "two ", "three"] { continuation.yield(Array(part.utf8)) }
                        continuation.finish()
                    }))
        case "/door/upgrade-by-hand":
            HTTPResponse(status: 426, headers: fields(["Upgrade": "mcp"]))
        default: echo(request)
        }
    }

    private static func echo(_ request: HTTPRequest) -> HTTPResponse {
        let text: JSONValue = [
            "method": .string(request.method), "path": .string(request.path),
            "query": .string(request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")),
            "body": .string(String(request.body)), "own": .bool(request.isFromOwnUser),
            "field": .string(request.headers["X-Field"] ?? ""),
        ]
        return HTTPResponse(
            status: 200, headers: fields(["Content-Type": "application/json"]),
            body: .bytes(Array(text.serialized().utf8)))
    }

    private static func fields(_ pairs: KeyValuePairs<String, String>) -> HeaderFields {
        (try? HeaderFields(pairs)) ?? HeaderFields()
    }

    private func events() -> AsyncStream<SSEEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: SSEEvent.self)
        continuation.onTermination = { [terminated] _ in terminated.open() }
        self.continuation.withLock { $0 = continuation }
        begun.open()
        return stream
    }

    /// Sends back what comes, first what had come already.
    private static func echo(_ descriptor: Int32, _ rest: ByteSlice, _ ended: Gate) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        var piece = rest.array
        while true {
            _ = unsafe piece.withUnsafeBytes { unsafe sendBytes(descriptor, $0.baseAddress, $0.count) }
            piece = [UInt8](repeating: 0, count: 4_096)
            let count = uninterrupted {
                unsafe piece.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            }
            guard count > 0 else { break }
            piece.removeLast(piece.count - count)
        }
        close(descriptor)
        ended.open()
    }
}

// Inside the class its own name means its member.
private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe send(descriptor, bytes, count, 0)
}
