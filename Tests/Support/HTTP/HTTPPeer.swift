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

    private let listener: Int32
    private let script: @Sendable (Heard) -> Answer
    private let state = Mutex<(heard: [Heard], connections: Int, ended: Int, open: [Int: Int32])>(
        ([], 0, 0, [:]))
    package let endpoint: String
    package let target: ClientTarget

    package init(unixPath: String? = nil, _ script: @escaping @Sendable (Heard) -> Answer) throws {
        self.script = script
        let address = try present(
            unixPath.map { SocketAddress(unixPath: $0) } ?? SocketAddress(numeric: "127.0.0.1", port: 0))
        let socket = try Syscalls.streamSocket(address.domain)
        try Syscalls.bind(socket.rawValue, to: address)
        try Syscalls.listen(socket.rawValue, backlog: 64)
        let port = try Syscalls.localAddress(socket.rawValue)?.port ?? 0
        endpoint = unixPath ?? "127.0.0.1:\(port)"
        let target: ClientTarget =
            unixPath.map { .unix(path: $0, endpoint: "/mcp") } ?? .http("http://127.0.0.1:\(port)/mcp")
        self.target = target.recorded()
        listener = socket.release()
        let flags = fcntl(listener, F_GETFL)
        _ = fcntl(listener, F_SETFL, flags & ~O_NONBLOCK)
        TestThread.run { self.accept() }
    }

    package var heard: [Heard] { state.withLock { $0.heard } }
    package var connections: Int { state.withLock { $0.connections } }
    /// Connections that the client closed.
    package var ended: Int { state.withLock { $0.ended } }

    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        for fd in state.withLock({ $0.open.values }) { shutdown(fd, Int32(SHUT_RDWR)) }
    }

    /// Says more on a connection that hangs.
    package func say(_ text: String, on connection: Int) {
        state.withLock { state in if let fd = state.open[connection] { _ = write(fd, text) } }
    }

    /// Ends a connection that hangs.
    package func end(_ connection: Int) {
        state.withLock { state in if let fd = state.open[connection] { shutdown(fd, Int32(SHUT_RDWR)) } }
    }

    private func accept() {
        while true {
            #if canImport(Darwin)
            let fd = unsafe Darwin.accept(listener, nil, nil)
            #elseif canImport(Musl)
            let fd = unsafe Musl.accept(listener, nil, nil)
            #else
            let fd = Glibc.accept(listener, nil, nil)
            #endif
            guard fd >= 0 else { break }
            let number = state.withLock { state in
                state.connections += 1
                state.open[state.connections] = fd
                return state.connections
            }
            TestThread.run { self.serve(fd, number) }
        }
        close(listener)
    }

    private func serve(_ fd: Int32, _ connection: Int) {
        defer {
            state.withLock { $0.open[connection] = nil }
            close(fd)
        }
        var buffer: [UInt8] = []
        var number = 0
        while let heard = read(fd, &buffer, connection, &number) {
            state.withLock { $0.heard.append(heard) }
            let answer = script(heard)
            for piece in answer.pieces where !write(fd, piece) { break }
            switch answer.then {
            case .keep: continue
            case .close: return
            case .reset:
                var linger = linger(l_onoff: 1, l_linger: 0)
                _ = unsafe setsockopt(
                    fd, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
                return
            case .hang, .halfClose:
                if case .halfClose = answer.then { shutdown(fd, Int32(SHUT_WR)) }
                while receive(fd, &buffer) {}
                state.withLock { $0.ended += 1 }
                return
            }
        }
        state.withLock { $0.ended += 1 }
    }

    private func write(_ fd: Int32, _ piece: String) -> Bool {
        var bytes = Array(piece.utf8)[...]
        while !bytes.isEmpty {
            let sent = unsafe bytes.withUnsafeBytes {
                unsafe send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            bytes = bytes.dropFirst(sent)
        }
        return true
    }

    private func receive(_ fd: Int32, _ buffer: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe piece.withUnsafeMutableBytes { unsafe recv(fd, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }

    private func read(_ fd: Int32, _ buffer: inout [UInt8], _ connection: Int, _ number: inout Int) -> Heard?
    {
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

private struct NoAddress: Error {}

private func present<T>(_ value: T?) throws -> T {
    guard let value else { throw NoAddress() }
    return value
}
