/// A connection that has left HTTP: a non-blocking stream socket with one owner, closed when the owner lets
/// go of it.
public struct UpgradedSocket: ~Copyable, Sendable {
    let descriptor: FileDescriptor
    /// What the client has sent behind its request already; it comes before what the socket has.
    public let rest: ByteSlice

    init(descriptor: consuming FileDescriptor, rest: ByteSlice) {
        self.descriptor = descriptor
        self.rest = rest
    }

    /// Gives the open descriptor to the caller, who must close it.
    public consuming func release() -> Int32 { descriptor.release() }
}

/// A connection on its way out of HTTP, while the client takes the last bytes of the answer.
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
