import Synchronization

@testable package import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A raw HTTP server on 127.0.0.1 or a unix socket: it says exactly the bytes that a script gives, in the
/// pieces that the script wants, and remembers what it heard.
package final class HTTPPeer: Sendable {
    package struct Heard: Sendable {
        /// Which connection it came on, from 1.
        package let connection: Int
        /// Which request of the connection it is, from 1.
        package let number: Int
        package let method: String
        package let head: String
        package let body: RawJSON?
        /// The body, also if it is no JSON.
        package let text: String
        /// When it was read.
        package let at: ContinuousClock.Instant

        package var rpcMethod: String { body?["method"]?.string ?? "" }
        package var id: String { body?["id"].map { "\($0)" } ?? "null" }

        package func header(_ name: String) -> String? {
            for line in head.split(separator: "\r\n").dropFirst()
            where line.lowercased().hasPrefix(name + ":") {
                return line.dropFirst(name.count + 1).trimmingPrefix(while: { $0 == " " }).description
            }
            return nil
        }
    }

    package enum Then: Sendable { case keep, close, halfClose, reset, hang }

    package struct Answer: Sendable {
        package var pieces: [String]
        package var then = Then.keep

        package init(pieces: [String], then: Then = .keep) {
            self.pieces = pieces
            self.then = then
        }

        /// A whole answer with a JSON body.
        package static func json(_ body: String, status: Int = 200, headers: String = "", then: Then = .keep)
            -> Answer
        {
            Answer(
                pieces: [
                    "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n\(headers)"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                ], then: then)
        }

        package static func result(_ heard: Heard, _ result: String, headers: String = "") -> Answer {
            json(#"{"jsonrpc":"2.0","id":\#(heard.id),"result":\#(result)}"#, headers: headers)
        }

        package static func raw(_ pieces: String..., then: Then = .keep) -> Answer {
            Answer(pieces: pieces, then: then)
        }

        /// An event stream. Unless it ends here, it stays open and silent, or the connection breaks.
        package static func events(_ events: String, end: Bool = true, then: Then = .keep) -> Answer {
            var pieces = [
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            ]
            if !events.isEmpty { pieces.append("\(String(events.utf8.count, radix: 16))\r\n\(events)\r\n") }
            if end { pieces.append("0\r\n\r\n") }
            return Answer(pieces: pieces, then: then)
        }

        package static func status(_ status: Int, headers: String = "") -> Answer {
            raw("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\(headers)\r\n")
        }
    }

    private let listener: BareListener
    private let told: Told
    package let endpoint: String
    package let target: ClientTarget

    private final class Told: Sendable {
        let state = Mutex<(heard: [Heard], ended: Int)>(([], 0))
    }

    package init(unixPath: String? = nil, _ script: @escaping @Sendable (Heard) -> Answer) throws {
        let told = Told()
        self.told = told
        listener = try BareListener(unixPath: unixPath, waitingAtMost: nil) { connection, number in
            Self.serve(connection, number, script, told)
        }
        endpoint = unixPath ?? "127.0.0.1:\(listener.port)"
        let target: ClientTarget =
            unixPath.map { .unix(path: $0, endpoint: "/mcp") } ?? .http("http://\(endpoint)/mcp")
        self.target = target.recorded()
    }

    package var heard: [Heard] { told.state.withLock { $0.heard } }
    package var connections: Int { listener.accepted }
    /// Connections that the client closed.
    package var ended: Int { told.state.withLock { $0.ended } }

    package func stop() { listener.stop() }

    /// Says more on a connection that hangs.
    package func say(_ text: String, on connection: Int) {
        listener.withConnection(connection) { _ = BlockingSocket.send($0, text.utf8) }
    }

    /// Ends a connection that hangs. The client's system has heard of it when this returns.
    package func end(_ connection: Int) {
        listener.withConnection(connection) { descriptor in
            BlockingSocket.shutDown(descriptor)
            BlockingSocket.waitUntilHeard(descriptor)
        }
    }

    private static func serve(
        _ fd: Int32, _ connection: Int, _ script: (Heard) -> Answer, _ told: Told
    ) {
        var buffer: [UInt8] = []
        var number = 0
        while let heard = read(fd, &buffer, connection, &number) {
            told.state.withLock { $0.heard.append(heard) }
            let answer = script(heard)
            for piece in answer.pieces where !BlockingSocket.send(fd, piece.utf8) { break }
            switch answer.then {
            case .keep: continue
            case .close: return
            case .reset: return BareListener.reset(fd)
            case .hang, .halfClose:
                if case .halfClose = answer.then { shutdown(fd, Int32(SHUT_WR)) }
                while receive(fd, &buffer) {}
                told.state.withLock { $0.ended += 1 }
                return
            }
        }
        told.state.withLock { $0.ended += 1 }
    }

    private static func receive(_ fd: Int32, _ buffer: inout [UInt8]) -> Bool {
        guard let piece = BlockingSocket.receive(fd), !piece.isEmpty else { return false }
        buffer += piece
        return true
    }

    private static func read(
        _ fd: Int32, _ buffer: inout [UInt8], _ connection: Int, _ number: inout Int
    ) -> Heard? {
        let mark: [UInt8] = [13, 10, 13, 10]
        while true {
            if let end = (0 ..< max(0, buffer.count - 3)).first(where: {
                Array(buffer[$0 ..< $0 + 4]) == mark
            }) {
                let head = String(decoding: buffer[..<end], as: UTF8.self)
                let length =
                    head.lowercased().split(separator: "content-length: ").dropFirst().first
                    .flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
                while buffer.count < end + 4 + length { guard receive(fd, &buffer) else { return nil } }
                let body = Array(buffer[end + 4 ..< end + 4 + length])
                buffer.removeFirst(end + 4 + length)
                number += 1
                return Heard(
                    connection: connection, number: number, method: String(head.prefix { $0 != " " }),
                    head: head,
                    body: try? RawJSON(validating: ByteSlice(body)),
                    text: String(decoding: body, as: UTF8.self), at: .now)
            }
            guard receive(fd, &buffer) else { return nil }
        }
    }
}
