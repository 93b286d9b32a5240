#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The bytes of a socket through a TLS filter. Confined to the loop.
///
/// It keeps what the filter wants to be sent until the socket takes it, and plaintext is encrypted in pieces
/// and only when the socket has taken the one before.
final class TLSStream {
    private static let socketBytes = 64 << 10
    private static let pieceBytes = 64 << 10
    private static let readsPerTurn = 16
    /// Answers of TLS itself that wait for the peer to take them: a peer that asks for more and reads none is
    /// left.
    private static let maxBacklogBytes = 1 << 20

    /// What one look at the socket brought.
    enum Pull { case some, dry, ended }

    private let filter: any TLSFilter
    private var incoming = ByteBuffer()
    private var outgoing = ByteBuffer()
    /// The socket takes nothing any more; what was received before that can still be read.
    private var isSendingOver = false

    init(_ filter: any TLSFilter) { self.filter = filter }

    /// Anything has come since `expectAnswer()`, which may be a part of an answer that nobody can read.
    private(set) var hasReceived = false

    /// A request begins.
    func expectAnswer() { hasReceived = false }

    /// Something waits until the socket takes more.
    var hasOutput: Bool { !outgoing.isEmpty }

    // MARK: Handshake

    /// Goes on with the handshake; true when it is complete.
    func handshake(_ fd: Int32) throws(TLSError) -> Bool {
        for _ in 0 ..< Self.readsPerTurn {
            let isComplete: Bool
            do { isComplete = try filter.handshake() } catch {
                // The alert says why.
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

    /// Decrypts into `room`. Nil: more has to come first. 0: the peer ended its side in good order.
    func receive(into room: UnsafeMutableBufferPointer<UInt8>) throws(TLSError) -> Int? {
        var span = unsafe UnsafeMutableRawBufferPointer(room).mutableBytes
        return try filter.read(into: &span)
    }

    // MARK: Sending

    /// Takes plaintext from the start of `bytes`. Nil: nothing now; either the socket is full, and
    /// `hasOutput`, or the peer has to speak first.
    func send(_ bytes: ByteSlice, _ fd: Int32) throws(TLSError) -> Int? {
        guard try flush(fd) else { return nil }
        let piece = bytes[0 ..< min(bytes.count, Self.pieceBytes)]
        let taken = unsafe try piece.withBytes { (bytes) throws(TLSError) in
            try filter.write(unsafe UnsafeRawBufferPointer(bytes).bytes)
        }
        _ = try flush(fd)
        return taken == 0 ? nil : taken
    }

    /// Sends what waits; false when the socket takes no more for now.
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
                // An answer may have come before the end of the request; reading finds it, or the end.
                isSendingOver = true
                collect()
                return true
            }
            guard let sent else {
                if outgoing.count <= Self.maxBacklogBytes { return false }
                throw TLSError(.connection, "the server asks for TLS answers and takes none")
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

    /// Ends this side in good order, as far as the socket takes that.
    func close(_ fd: Int32) {
        filter.close()
        // The connection is closed whether the peer hears of it or not.
        _ = try? flush(fd)
    }
}
