#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The bytes of a socket, passed through a TLS filter. Confined to the loop.
///
/// It keeps the filter's output until the socket accepts it. Plaintext is encrypted in pieces, each only
/// after the socket has accepted the previous one.
final class TLSStream {
    private static let socketBytes = 64 << 10
    private static let pieceBytes = 64 << 10
    private static let readsPerTurn = 16
    /// The maximum size of TLS's own replies that wait for the peer to read them: the connection to a peer
    /// that requests more and reads none is abandoned.
    private static let maxBacklogBytes = 1 << 20

    /// The outcome of one read from the socket.
    enum Pull { case some, dry, ended }

    private let filter: any TLSFilter
    private var incoming = ByteBuffer()
    private var outgoing = ByteBuffer()
    /// Whether the socket accepts no more data; data that was received before that can still be read.
    private var isSendingOver = false

    init(_ filter: any TLSFilter) { self.filter = filter }

    /// Whether anything has arrived since `expectAnswer()`, which may be part of a response
    /// that cannot be read.
    private(set) var hasReceived = false

    /// Begins a request.
    func expectAnswer() { hasReceived = false }

    /// Whether output waits until the socket accepts more.
    var hasOutput: Bool { !outgoing.isEmpty }

    // MARK: Handshake

    /// Continues the handshake; returns true when it is complete.
    func handshake(_ fd: Int32) throws(TLSError) -> Bool {
        for _ in 0 ..< Self.readsPerTurn {
            let isComplete: Bool
            do { isComplete = try filter.handshake() } catch {
                // The alert contains the reason.
                _ = try? flush(fd)
                throw error
            }
            _ = try flush(fd)
            if isComplete { return true }
            switch try pull(fd) {
            case .some: continue
            case .dry: return false
            case .ended:
                throw TLSError(
                    .connection, "the server closed the connection during the TLS handshake",
                    details: ["nothing was sent"], hint: "does it speak TLS on this port?")
            }
        }
        return false
    }

    // MARK: Receiving

    /// Reads once from the socket into the filter.
    func pull(_ fd: Int32) throws(TLSError) -> Pull {
        incoming.reserve(Self.socketBytes)
        var isDry = false
        let count: Int
        do {
            count = unsafe try incoming.fill { (room) throws(IOError) in
                let read = unsafe try Syscalls.receive(fd, into: UnsafeMutableRawBufferPointer(room))
                isDry = read == nil
                return read ?? 0
            }
        } catch {
            throw TLSError(.connection, error.reason)
        }
        if isDry { return .dry }
        if count == 0 { return .ended }
        hasReceived = true
        try unsafe incoming.withBytes { (bytes) throws(TLSError) in
            try filter.receive(unsafe UnsafeRawBufferPointer(bytes).bytes)
        }
        incoming.consume(incoming.count)
        return .some
    }

    /// Decrypts into `room`. Returns nil when more data has to arrive first, and 0 when the peer ended its
    /// side in an orderly way.
    func receive(into room: UnsafeMutableBufferPointer<UInt8>) throws(TLSError) -> Int? {
        var span = unsafe UnsafeMutableRawBufferPointer(room).mutableBytes
        return try filter.read(into: &span)
    }

    // MARK: Sending

    /// Encrypts and sends plaintext from the start of `bytes`. Returns nil when nothing can be accepted now:
    /// either the socket is full, and `hasOutput` is true, or the peer has to send first.
    func send(_ bytes: ByteSlice, _ fd: Int32) throws(TLSError) -> Int? {
        guard try flush(fd) else { return nil }
        let piece = bytes[0 ..< min(bytes.count, Self.pieceBytes)]
        let taken = unsafe try piece.withBytes { (bytes) throws(TLSError) in
            try filter.write(unsafe UnsafeRawBufferPointer(bytes).bytes)
        }
        _ = try flush(fd)
        return taken == 0 ? nil : taken
    }

    /// Sends the output that waits; returns false when the socket accepts no more for now.
    @discardableResult
    func flush(_ fd: Int32) throws(TLSError) -> Bool {
        collect()
        while !outgoing.isEmpty {
            let sent: Int?
            do {
                sent = unsafe try outgoing.withBytes { (bytes) throws(IOError) in
                    unsafe try Syscalls.send(fd, UnsafeRawBufferPointer(bytes))
                }
            } catch {
                guard error.errno == EPIPE || error.errno == ECONNRESET else {
                    throw TLSError(.connection, error.reason)
                }
                // A response may have arrived before the end of the request; reading finds it, or the end.
                isSendingOver = true
                collect()
                return true
            }
            guard let sent else {
                if outgoing.count <= Self.maxBacklogBytes { return false }
                throw TLSError(.connection, "the server requests TLS replies but does not read them")
            }
            outgoing.consume(sent)
        }
        return true
    }

    private func collect() {
        while true {
            outgoing.reserve(Self.pieceBytes / 4)
            let count = unsafe outgoing.fill { room in
                var span = unsafe UnsafeMutableRawBufferPointer(room).mutableBytes
                return filter.takeOutput(into: &span)
            }
            if count == 0 { break }
        }
        if isSendingOver { outgoing.consume(outgoing.count) }
    }

    /// Ends this side in an orderly way, as far as the socket accepts that.
    func close(_ fd: Int32) {
        filter.close()
        // The connection is closed whether the peer is notified or not.
        _ = try? flush(fd)
    }
}
