/// One server-sent event (WHATWG HTML, section 9.2).
public struct SSEEvent: Sendable, Hashable {
    /// The type; `message` if the stream names none.
    public var type: String
    /// The data lines, joined by line feeds.
    public var data: ByteSlice
    /// What a client sends as `Last-Event-ID` when it comes back; empty: none. In a stream that is read, the
    /// last one up to here.
    public var id: String

    /// An event with these parts.
    public init(data: ByteSlice, id: String = "", type: String = "message") {
        self.type = type
        self.data = data
        self.id = id
    }
}
