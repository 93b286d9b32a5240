@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One HTTP connection over a socket, with everything between its bytes and its responses: what a client reads is
/// one response after another, none more than there were requests, and then an end.
// SAFETY: used by one thread only; the connection itself is confined to its loop.
final class ConnectionTarget: @unchecked Sendable {
    private let context: ConnectionContext
    private let connections: ConnectionSet
    /// How long a connection may take to end when its client has stopped writing, in seconds.
    private static let patience = 5

    init() {
        let server = MCPServer("fuzz", version: "1")
        ServerTarget.fill(server)
        context = ConnectionContext(handler: StreamableEndpoint(server: server), policy: .loopback)
        do {
            let loop = try EventLoop(label: "fuzz")
            loop.start()
            connections = ConnectionSet(loop: loop, counter: ConnectionCounter(limit: 8))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    deinit { connections.loop.stop() }

    func check(_ input: [UInt8]) throws {
        try checkExchange(input)
        // The same as a question about the response: it has no body, whatever the request has.
        if input.starts(with: "POST ".utf8) { try checkExchange(Array("HEAD ".utf8) + input.dropFirst(5)) }
    }

    private func checkExchange(_ input: [UInt8]) throws {
        let output = try exchange(input)
        var rest = output[...]
        for isHead in Self.requests(of: input) {
            if rest.isEmpty { return }
            guard try Self.removeResponse(toHead: isHead, from: &rest) else { return }
        }
        try require(rest.isEmpty, "bytes behind the last response: \(Array(rest.prefix(200)).text)")
    }

    /// For each request that a connection may answer, whether it is HEAD.
    private static func requests(of input: [UInt8]) -> [Bool] {
        var (rest, found) = (input[...], [Bool]())
        while !rest.isEmpty {
            var parser = RequestParser()
            let outcome = unsafe withExactCopy(of: rest) { unsafe parser.parse($0) }
            guard case .head(let head) = outcome else {
                return found + [rest.starts(with: "HEAD ".utf8)]
            }
            found.append(head.method == .head)
            rest = rest.dropFirst(head.byteCount)
            guard head.keepAlive, let count = bodyBytes(of: head, rest) else { break }
            rest = rest.dropFirst(count)
        }
        return found
    }

    /// The number of bytes that the body takes; nil when it is incomplete or malformed.
    private static func bodyBytes(of head: RequestHead, _ rest: ArraySlice<UInt8>) -> Int? {
        guard head.isChunked else {
            let count = head.contentLength ?? 0
            return count <= rest.count ? count : nil
        }
        var decoder = ChunkedDecoder()
        var body = ByteBuffer()
        guard
            case .done(let used) = unsafe withExactCopy(of: rest, { unsafe decoder.decode($0, into: &body) })
        else { return nil }
        return used
    }

    /// Removes the next response. Returns false when nothing can follow it.
    private static func removeResponse(toHead isHead: Bool, from rest: inout ArraySlice<UInt8>) throws -> Bool
    {
        var parser = ResponseParser()
        let outcome = unsafe withExactCopy(of: rest) { unsafe parser.parse($0) }
        guard case .head(let head) = outcome else {
            throw Finding(description: "no response: \(Array(rest.prefix(200)).text)")
        }
        rest = rest.dropFirst(head.byteCount)
        if isHead { return head.keepAlive }
        var decoder = BodyDecoder(head.body)
        var body = ByteBuffer()
        let taken = unsafe withExactCopy(of: rest) { unsafe decoder.decode($0, into: &body) }
        switch taken {
        case .done(let count): rest = rest.dropFirst(count)
        // An event stream ends with its client.
        case .needMore where head.body == .chunked: rest = []
        case .needMore: throw Finding(description: "half a response: \(body.count) bytes of \(head.body)")
        case .failed(let error): throw Finding(description: "a body that cannot be read: \(error)")
        }
        return head.keepAlive
    }

    // MARK: The socket

    /// Returns everything that the connection sends until it ends.
    private func exchange(_ input: [UInt8]) throws -> [UInt8] {
        let (own, other) = try Syscalls.socketPair()
        let socket = FileDescriptor(owning: own)
        let flags = fcntl(own, F_GETFL)
        _ = fcntl(own, F_SETFL, flags & ~O_NONBLOCK)
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        unsafe setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        connections.loop.execute { [connections, context] in
            connections.insert(
                HTTPConnection(
                    FileDescriptor(owning: other), loop: connections.loop, context: context,
                    identifier: ConnectionNumber.next(), siblings: connections))
        }
        // Two pieces: the second one may find the connection in another state.
        let middle = input.count * input.step / 16
        for piece in [input[..<middle], input[middle...]] where !piece.isEmpty {
            // Fails when the connection has ended already.
            _ = unsafe Array(piece).withUnsafeBytes {
                unsafe send(socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }
        shutdown(socket.rawValue, Int32(SHUT_WR))
        var (output, block) = ([UInt8](), [UInt8](repeating: 0, count: 16_384))
        while true {
            let count = unsafe recv(socket.rawValue, &block, block.count, 0)
            if count == 0 { return output }
            if count < 0, errno == EINTR { continue }
            // A reset: the connection ended before it had read everything.
            if count < 0, errno == ECONNRESET { return output }
            try require(count > 0, "no end within \(Self.patience) s, after \(output.text.suffix(200))")
            output += block[..<count]
        }
    }
}
