/// How one call is made.
public struct CallOptions: Sendable {
    /// How long the server may be silent; every progress report starts it anew. Nil: the client's `timeout`.
    public var timeout: Duration?
    /// How long the call may take in all, whatever is reported. Nil: no limit.
    public var deadline: Duration?
    /// Asks the server for progress reports, and takes them: on a thread of the client, so be quick.
    public var onProgress: (@Sendable (Progress) -> Void)?
    /// The least grave log messages of this call that are wanted (2026-07-28); nil: the client's `logLevel`.
    public var logLevel: LoggingLevel?
    /// Takes the log messages of this call, where the transport tells whose they are (HTTP); otherwise
    /// those of all calls go to the client's `onLog`.
    public var onLog: (@Sendable (LogMessage) -> Void)?
    /// Tells how far the task has come that the call became, each time it was asked for.
    public var onTask: (@Sendable (TaskInfo) -> Void)?
    /// Further members of the request's `_meta`. An answer to a request with some is not kept.
    public var meta: JSONObject
    /// Whether an answer will do that was kept and is still fresh (2026-07-28); else the server is asked:
    /// true.
    public var usesCache = true

    /// A subscription: neither silence nor time ends it.
    var onNotification: (@Sendable (String, RawJSON?) -> Void)?

    /// Options of which each may be left out.
    public init(
        timeout: Duration? = nil, deadline: Duration? = nil, meta: JSONObject = [:],
        onProgress: (@Sendable (Progress) -> Void)? = nil
    ) {
        self.timeout = timeout
        self.deadline = deadline
        self.meta = meta
        self.onProgress = onProgress
    }
}
