/// Encrypts connections: the system's OpenSSL (`OpenSSLProvider`), or what a program brings along.
public protocol TLSProvider: Sendable {
    /// Loads what is needed, such as libraries and trusted certificates. Called before the first connection
    /// of each client, on a thread that may wait for a moment.
    ///
    /// - Throws: `TLSError` of the kinds `.unavailable` and `.trust`.
    func prepare() throws(TLSError)

    /// A filter for one new connection of a client.
    ///
    /// - Parameter host: the name, or the address without brackets, that the peer's certificate must be for;
    ///   a name is also sent as SNI (RFC 6066 3).
    /// - Throws: `TLSError` when no connection can be encrypted at all.
    func filter(for host: String) throws(TLSError) -> any TLSFilter
}

extension TLSProvider {
    /// Loads nothing.
    public func prepare() throws(TLSError) {}
}

/// TLS of one connection as a filter: bytes in, bytes out. It knows neither sockets nor time, and is used by
/// one thread at a time.
///
/// Whenever any of its methods was called, `takeOutput(into:)` may have something to send.
public protocol TLSFilter: AnyObject {
    /// Goes on with the handshake as far as what was received allows; true when it is complete.
    ///
    /// - Throws: `TLSError` when it has failed; what there is to send then tells the peer why.
    func handshake() throws(TLSError) -> Bool

    /// Takes what came from the peer, in any pieces. The bytes are valid during the call only.
    func receive(_ bytes: RawSpan) throws(TLSError)

    /// Decrypts into `room` and returns how many bytes that gave. Nil: the peer has to send more first.
    /// 0: the peer has ended its side in good order (RFC 8446 6.1 `close_notify`).
    ///
    /// - Throws: `TLSError` when the peer breaks the protocol or has sent a fatal alert.
    func read(into room: inout MutableRawSpan) throws(TLSError) -> Int?

    /// Encrypts from the start of `bytes`, which are not empty, and returns how many it took. 0: the peer has
    /// to send something first.
    ///
    /// - Throws: `TLSError` when nothing can be sent any more.
    func write(_ bytes: RawSpan) throws(TLSError) -> Int

    /// Moves bytes that are to be sent to the peer into `room` and returns how many; 0 when there are none.
    func takeOutput(into room: inout MutableRawSpan) -> Int

    /// Ends this side in good order; what there is to send then tells the peer.
    func close()
}
