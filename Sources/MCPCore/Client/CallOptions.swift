/// The options of a single call.
public struct CallOptions: Sendable {
    /// The longest time that the server may be silent; each progress report starts it again. Nil uses the
    /// client's `timeout`.
    public var timeout: Duration?
    /// The longest time that the whole call may take, regardless of progress reports; nil for no limit.
    public var deadline: Duration?
    /// Requests progress reports from the server and receives them. It runs on a thread of the client, so it
    /// must return quickly.
    public var onProgress: (@Sendable (ProgressReport) -> Void)?
    /// The minimum severity of the log messages wanted for this call (2026-07-28); nil uses the client's
    /// `logLevel`.
    public var logLevel: LoggingLevel?
    /// Receives the log messages of this call if the transport identifies the call that a message belongs to
    /// (HTTP); otherwise the messages of all calls are passed to the client's `onLog`.
    public var onLog: (@Sendable (LogMessage) -> Void)?
    /// Receives the state of the task that the call became, after each poll.
    public var onTask: (@Sendable (TaskInfo) -> Void)?
    /// Additional members of the request's `_meta`. The response to a request that has any is not cached.
    public var meta: JSONObject
    /// Whether a cached response that is still fresh may be used (2026-07-28); otherwise the server is asked.
    /// The default is true.
    public var usesCache = true

    /// Answers the questions of the server during this call, instead of the client's handlers.
    var onInput: (@Sendable (InputRequest) async throws -> JSONValue)?
    /// The capabilities that this call declares (2026-07-28), instead of the client's.
    var capabilities: ClientCapabilities?
    /// Receives the notifications of a subscription, which ends neither by silence nor by a time limit.
    var onNotification: (@Sendable (String, RawJSON?) -> Void)?

    /// Receives a sentence about each entry of a list that is left out because it cannot be read.
    package var onOmission: (@Sendable (String) -> Void)?
    /// Receives the places of the entries, from 0, that are left out of a list.
    package var onOmittedPlaces: (@Sendable ([Int]) -> Void)?

    /// Creates options; every parameter may be omitted.
    public init(
        timeout: Duration? = nil, deadline: Duration? = nil, meta: JSONObject = [:],
        onProgress: (@Sendable (ProgressReport) -> Void)? = nil
    ) {
        self.timeout = timeout
        self.deadline = deadline
        self.meta = meta
        self.onProgress = onProgress
    }
}
