/// How much of one HTTP message is accepted.
///
/// All limits are on by default. Each has one outcome, named at the member; the connection is closed
/// afterwards.
public struct HTTPLimits: Sendable, Hashable {
    /// Longest request line (or status line, for a client) in bytes, without its line end: 414.
    public var maxRequestLineBytes: Int
    /// All field lines of a head, or of a trailer section, together, in bytes: 431.
    public var maxHeaderBytes: Int
    /// Field lines of a head or of a trailer section: 431.
    public var maxFields: Int
    /// Bytes of a body, whether announced by `Content-Length` or sent in chunks: 413.
    public var maxBodyBytes: Int
    /// Bytes of all chunk extensions of one body: 400.
    public var maxChunkExtensionBytes: Int
    /// Bytes of one server-sent event, for a client; a longer one ends the stream with an error.
    public var maxEventBytes: Int

    /// Limits that fit an MCP endpoint; change the ones you need.
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
