/// The position up to which an event stream was read, and the time that its server requests before the
/// stream is resumed.
struct HTTPStreamPosition: Sendable, Equatable {
    /// The maximum time that `retry` may request; it only keeps the arithmetic in range.
    private static let maxRetry = Duration.seconds(86_400)
    /// The maximum length of an id; a longer one does not fit into a header field that servers accept.
    private static let maxIDBytes = 4_096

    /// The last event id; empty when the stream cannot be resumed (LEG-18, LEG-19).
    private(set) var lastEventID = ""
    /// The time that `retry` requested (LEG-08).
    private(set) var retry: Duration?

    /// Adopts the position that the decoder has reached.
    mutating func reach(_ id: String, retryMilliseconds: Int?) {
        if let retryMilliseconds { retry = min(.milliseconds(retryMilliseconds), Self.maxRetry) }
        // One that is too long, or has a control character, cannot be sent in a header field.
        let isUsable = id.utf8.count <= Self.maxIDBytes && HeaderFields.isValue(id)
        lastEventID = isUsable ? id : ""
    }
}

/// A listener that receives the events of a GET in place of the inbox. Confined to the loop.
protocol HTTPStreamListener: AnyObject {
    /// Called when the request begins or ends to wait for its credentials.
    func awaitsCredentials(_ isWaiting: Bool)

    /// Called when the server sends an event stream.
    func streamBegan()

    /// Called when an event arrives, or only the id of one without data.
    func receive(_ event: SSEEvent)

    /// Called when the decoder has read further.
    func reached(_ position: HTTPStreamPosition)

    /// Called when nothing more will arrive: at the end of the stream, for which `error` is nil, or when
    /// there was no stream at all.
    func streamEnded(_ error: ClientError?)
}

extension HTTPStreamListener {
    func awaitsCredentials(_ isWaiting: Bool) {}
}
