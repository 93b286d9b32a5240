/// How far an event stream was read, and how long its server wants to be left alone before it is taken up
/// again.
struct HTTPStreamPosition: Sendable, Equatable {
    /// What `retry` may ask for at most; it only keeps the arithmetic in range.
    private static let maxRetry = Duration.seconds(86_400)
    /// A longer id does not fit a header field that servers take.
    private static let maxIDBytes = 4_096

    /// The last event id; empty when the stream cannot be taken up again (LEG-18, LEG-19).
    private(set) var lastEventID = ""
    /// What `retry` asked for (LEG-08).
    private(set) var retry: Duration?

    /// Takes over what the decoder has read.
    mutating func reach(_ id: String, retryMilliseconds: Int?) {
        if let retryMilliseconds { retry = min(.milliseconds(retryMilliseconds), Self.maxRetry) }
        lastEventID = id.utf8.count <= Self.maxIDBytes ? id : ""
    }
}

/// Takes the events of a GET instead of the inbox. Confined to the loop.
protocol HTTPStreamListener: AnyObject {
    /// The server sends an event stream.
    func streamBegan()

    /// An event came, or only an id of one without data.
    func receive(_ event: SSEEvent)

    /// The decoder has read on.
    func reached(_ position: HTTPStreamPosition)

    /// There is nothing more to come: the end of the stream, for which `error` is nil, or no stream at all.
    func streamEnded(_ error: ClientError?)
}
