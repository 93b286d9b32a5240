/// One server-sent event.
struct SSEEvent: Sendable, Hashable {
    /// The event's type; `message` if the stream named none.
    var type: String
    /// The data lines, joined by line feeds.
    var data: ByteSlice
    /// The last event id that the stream set up to here; empty if none.
    var id: String
}
