/// A provider of encryption for connections: the system's OpenSSL (`OpenSSLProvider`) or one that a program
/// supplies.
public protocol TLSProvider: Sendable {
    /// Loads required resources, such as libraries and trusted certificates.
    ///
    /// This is called before the first connection of each client, on a thread that may block for a moment.
    ///
    /// - Throws: `TLSError` of the kinds `.unavailable` and `.trust`.
    func prepare() throws(TLSError)

    /// Returns a filter for one new connection of a client.
    ///
    /// - Parameter host: the name, or the address without brackets, that the peer's certificate must be for;
    ///   a name is also sent as SNI (RFC 6066 3).
    /// - Throws: `TLSError` if no connection can be encrypted at all.
    func filter(for host: String) throws(TLSError) -> any TLSFilter
}

extension TLSProvider {
    /// Loads nothing.
    public func prepare() throws(TLSError) {}
}

/// A filter that performs TLS for one connection.
///
/// Bytes go in and bytes come out; the filter uses neither sockets nor time. It is used by one thread at a
/// time.
///
/// After a call to any of its methods, `takeOutput(into:)` may have something to send.
public protocol TLSFilter: AnyObject {
    /// Continues the handshake as far as the received bytes allow; returns true when it is complete.
    ///
    /// - Throws: `TLSError` if the handshake has failed; the pending output then notifies the peer of the
    ///   reason.
    func handshake() throws(TLSError) -> Bool

    /// Accepts bytes from the peer, in pieces of any size. The bytes are valid only during the call.
    func receive(_ bytes: RawSpan) throws(TLSError)

    /// Decrypts into `room` and returns the number of decrypted bytes.
    ///
    /// Returns nil if the peer has to send more first, and 0 if the peer has ended its side cleanly (RFC 8446
    /// 6.1 `close_notify`).
    ///
    /// - Throws: `TLSError` if the peer violates the protocol or has sent a fatal alert.
    func read(into room: inout MutableRawSpan) throws(TLSError) -> Int?

    /// Encrypts from the start of `bytes`, which must not be empty, and returns the number of bytes consumed;
    /// 0 means that the peer has to send something first.
    ///
    /// - Throws: `TLSError` if nothing more can be sent.
    func write(_ bytes: RawSpan) throws(TLSError) -> Int

    /// Moves bytes to be sent to the peer into `room` and returns their number; 0 if there are none.
    func takeOutput(into room: inout MutableRawSpan) -> Int

    /// Ends this side cleanly; the pending output then notifies the peer.
    func close()
}
