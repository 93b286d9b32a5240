/// The size limits for one HTTP message.
///
/// All limits are on by default. A message that exceeds one is refused with the status given for that limit,
/// and the connection is then closed.
public struct HTTPLimits: Sendable, Hashable {
    /// The maximum length of a request line (or status line, for a client) in bytes, without its line ending:
    /// 414.
    public var maxRequestLineBytes: Int
    /// The maximum total length of the field lines of a head or of a trailer section, in bytes: 431.
    public var maxHeaderBytes: Int
    /// The maximum number of field lines in a head or in a trailer section: 431.
    public var maxFields: Int
    /// The maximum length of a body in bytes, whether announced by `Content-Length` or sent in chunks: 413.
    public var maxBodyBytes: Int
    /// The maximum total length of the chunk extensions of one body, in bytes: 400.
    public var maxChunkExtensionBytes: Int
    /// The maximum length of one server-sent event in bytes, for a client; a longer event ends the stream
    /// with an error.
    public var maxEventBytes: Int

    /// Creates limits; the defaults are suitable for an MCP endpoint.
    public init(
        maxRequestLineBytes: Int = 8 << 10, maxHeaderBytes: Int = 32 << 10, maxFields: Int = 100,
        maxBodyBytes: Int = 4 << 20, maxChunkExtensionBytes: Int = 4 << 10, maxEventBytes: Int = 4 << 20
    ) {
        self.maxRequestLineBytes = maxRequestLineBytes
        self.maxHeaderBytes = maxHeaderBytes
        self.maxFields = maxFields
        self.maxBodyBytes = maxBodyBytes
        self.maxChunkExtensionBytes = maxChunkExtensionBytes
        self.maxEventBytes = maxEventBytes
    }
}
