import MCPCore
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One TCP connection to a server, in bytes.
final class WireConnection {
    private var socket: FileDescriptor?
    private var received: [UInt8] = []
    /// How much of it is taken already.
    private var taken = 0
    private(set) var ended = false
    /// The server has reset the connection.
    private(set) var wasReset = false
    let port: UInt16

    /// Connects to the loopback address.
    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        self.port = port
        let socket = try TCP.connect(port, receiveBuffer: receiveBuffer) { socket in
            _ = try Deadline(.seconds(10)).wait(for: [(socket, Int32(POLLOUT))])
        }
        self.socket = consume socket
    }

    private var descriptor: Int32 { FileDescriptor.rawValue(of: socket) }

    // MARK: Writing

    /// Writes everything, unless the server closes first; takes what comes meanwhile.
    func send(_ bytes: [UInt8], within limit: Duration = .seconds(20)) throws {
        let deadline = Deadline(limit)
        var rest = bytes[...]
        while !rest.isEmpty, !ended {
            let ready = try deadline.wait(for: [(descriptor, Int32(POLLOUT) | Int32(POLLIN))])[0]
            if ready & ~Int32(POLLOUT) != 0 { receive() }
            guard ready & Int32(POLLOUT) != 0, !ended else { continue }
            do {
                rest = rest.dropFirst(try TCP.send(descriptor, rest) ?? 0)
            } catch {
                // The answer may have come before the reset.
                receive()
                ended = true
            }
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Writes `bytes` again and again and reads nothing, until no more fits for `quiet`, or so many are
    /// written; returns the count.
    func sendUntilBlocked(_ bytes: [UInt8], quiet: Duration, atMost most: Int = .max) throws -> Int {
        var sent = 0
        while sent < most, (try? Deadline(quiet).wait(for: [(descriptor, Int32(POLLOUT))])) != nil {
            let offset = sent % bytes.count
            sent += try TCP.send(descriptor, bytes[offset...]) ?? 0
        }
        return sent
    }

    /// Half-close: no more comes from here.
    func finishWriting() throws {
        do {
            try TCP.shutdownWriting(descriptor)
        } catch {
            // The server may have been faster.
            guard error.errno == ENOTCONN else { throw error }
        }
    }

    /// Closes with FIN, or with RST when bytes are unread.
    func close() { socket = nil }

    /// Closes with RST.
    func reset() throws {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        socket = nil
    }

    // MARK: Reading

    private func receive() {
        do {
            let piece = try TCP.receive(descriptor)
            if piece?.isEmpty == true { ended = true }
            received += piece ?? []
        } catch {
            ended = true
            wasReset = true
        }
    }

    /// The next response; nil when the connection ends before one.
    func response(hasBody: Bool = true, within limit: Duration = .seconds(20)) throws -> WireResponse? {
        let deadline = Deadline(limit)
        while true {
            if let (response, end) = try WireResponse.parse(
                received, from: taken, hasBody: hasBody, ended: ended)
            {
                taken = end
                if taken == received.count || taken > 1 << 20 {
                    received.removeFirst(taken)
                    taken = 0
                }
                return response
            }
            if ended { return nil }
            _ = try deadline.wait(for: [(descriptor, Int32(POLLIN))])
            receive()
        }
    }

    /// The head and the first bytes of a body that goes on; for streams.
    func waitForBytes(_ count: Int, within limit: Duration = .seconds(20)) throws {
        let deadline = Deadline(limit)
        while received.count - taken < count, !ended {
            _ = try deadline.wait(for: [(descriptor, Int32(POLLIN))])
            receive()
        }
    }

    /// Waits for the server to close; false when it sends more or keeps the connection open.
    func closes(within limit: Duration = .seconds(20)) -> Bool {
        let deadline = Deadline(limit)
        while !ended {
            guard (try? deadline.wait(for: [(descriptor, Int32(POLLIN))])) != nil else { return false }
            receive()
        }
        return received.count == taken
    }

    /// Waits, without reading, until the connection is gone in both directions.
    func isCut(within limit: Duration) -> Bool {
        (try? Deadline(limit).wait(for: [(descriptor, 0)])) != nil
    }

    // MARK: Requests

    /// Sends a request and takes its response.
    func ask(_ post: Post) throws -> WireResponse {
        try send(post.bytes(port: port))
        guard let response = try response() else { throw FaultTestError("closed instead of answered") }
        return response
    }

    /// Sends a valid request on this connection and takes its answer.
    func expectAlive(_ location: SourceLocation = #_sourceLocation) throws {
        let response = try ask(Post(Message.echo(id: "\"alive\"", "still here"), name: "echo"))
        #expect(response.status == 200, sourceLocation: location)
        #expect(response.message?["id"] == "alive", sourceLocation: location)
        #expect(response.message?.text == "still here", sourceLocation: location)
    }
}
