/// A connection that has left HTTP: a non-blocking stream socket with one owner, closed when the owner
/// releases it.
public struct UpgradedSocket: ~Copyable, Sendable {
    let descriptor: FileDescriptor
    /// The bytes that the client has already sent after its request; they precede those still in the socket.
    public let rest: ByteSlice

    init(descriptor: consuming FileDescriptor, rest: ByteSlice) {
        self.descriptor = descriptor
        self.rest = rest
    }

    /// Transfers ownership of the open descriptor to the caller, which must close it.
    public consuming func release() -> Int32 { descriptor.release() }
}

/// A connection that is leaving HTTP, while the client receives the last bytes of the response.
///
/// Confined to the loop of its connection.
final class PendingUpgrade {
    private let counted = Counted(.pendingUpgrade)
    private var descriptor: FileDescriptor?
    private let take: @Sendable (consuming UpgradedSocket) -> Void

    init(_ descriptor: consuming FileDescriptor, take: @escaping @Sendable (consuming UpgradedSocket) -> Void)
    {
        self.descriptor = consume descriptor
        self.take = take
    }

    /// Hands the socket over, once.
    func complete(rest: ByteSlice) {
        guard let descriptor = descriptor.take() else { return }
        take(UpgradedSocket(descriptor: descriptor, rest: rest))
    }
}
