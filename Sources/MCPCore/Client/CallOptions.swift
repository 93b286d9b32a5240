/// How one call is made.
public struct CallOptions: Sendable {
    /// How long the server may be silent; every progress report starts it anew. Nil: the client's `timeout`.
    public var timeout: Duration?
    /// How long the call may take in all, whatever is reported. Nil: no limit.
    public var deadline: Duration?
    /// Asks the server for progress reports, and takes them: on a thread of the client, so be quick.
    public var onProgress: (@Sendable (Progress) -> Void)?
    /// Further members of the request's `_meta`.
    public var meta: JSONObject

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
