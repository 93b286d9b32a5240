import Synchronization

/// Middleware that sees every request that a server serves, in all revisions and on all transports: for logs,
/// metrics, rate limits and authorization.
///
/// Several are called in the order of `ServerOptions.middleware`, and end in the reverse order. Messages that
/// cannot be served at all, such as one with an unknown method or a foreign `Host`, are only reported to
/// `didRefuse`.
public protocol ServerMiddleware: Sendable {
    /// Called when a request is about to be served, on the connection's own thread: return at once,
    /// and do not block.
    ///
    /// - Throws: an error to refuse the request. The client receives an `MCPError` as it is, and -32603 for
    ///   any other error; the handler is not called.
    func willServe(_ request: IncomingRequest) throws

    /// Called when a request that `willServe` accepted has ended: once for each request, on any
    /// thread. Do not block.
    func didServe(_ request: IncomingRequest, _ end: RequestEnd)

    /// Called for each request that was refused before `willServe`, on any thread. Do not block.
    func didRefuse(_ refusal: RefusedRequest)

    /// Called when a task has ended (`io.modelcontextprotocol/tasks`): once for each call that became one, on
    /// any thread. For `didServe`, such a call ended with the id of its task. Do not block.
    func didEndTask(_ end: TaskEnd)

    /// Whether `RequestEnd.response` is needed for requests that succeed, too; asked once for each of them.
    /// It is a copy, so the default is false.
    var wantsResponses: Bool { get }
}

extension ServerMiddleware {
    /// Accepts the request.
    public func willServe(_ request: IncomingRequest) throws {}

    /// Does nothing.
    public func didServe(_ request: IncomingRequest, _ end: RequestEnd) {}

    /// Does nothing.
    public func didRefuse(_ refusal: RefusedRequest) {}

    /// Does nothing.
    public func didEndTask(_ end: TaskEnd) {}

    /// False.
    public var wantsResponses: Bool { false }
}

/// One request from a client.
public struct IncomingRequest: Sendable {
    // Only a reference: a copy of all parts of a request costs as much as the rest of the observation.
    private let trace: RequestTrace

    init(_ trace: RequestTrace) { self.trace = trace }

    private var context: RequestContext { _read { yield trace.context } }

    /// The JSON-RPC method, such as `tools/call`.
    public var method: String { trace.kind.text }

    /// The number of the connection, or of the session of a revision before 2026-07-28.
    public var connection: UInt64 { trace.connection }

    /// The address of the client as its transport gives it: `192.0.2.7:51234`, `unix:uid=1000,pid=4711`,
    /// `stdio`, or without a port the one that a trusted proxy names (`HTTPServerOptions.proxies`); nil for a
    /// client in the same process.
    public var peer: String? { trace.peer }

    /// Whether the request is a call of a tool.
    package var isToolCall: Bool { trace.kind == .toolsCall }

    /// The protocol revision that the request uses.
    public var protocolVersion: ProtocolVersion { context.protocolVersion }

    /// The number of the method, for tables.
    package var methodIndex: Int { Int(trace.kind.rawValue) }

    /// The number of the revision, for tables.
    package var revisionIndex: Int { context.revision.index }

    /// The same object for all requests of a caller with the same token; nil without authorization.
    package var callerIdentity: (any AnyObject & Sendable)? { context.caller?.identity }

    /// The authenticated principal of the request; nil without authorization.
    public var principal: Principal? { context.principal }

    /// The request's `params`, as received.
    public var params: RawJSON? { context.message.params }

    /// The request's `_meta`, as received.
    public var meta: RawJSON? { context.meta }

    /// The `arguments` of a call or a prompt, as received.
    public var arguments: RawJSON? { context.message.raw(context.message.head.arguments) }

    /// The JSON-RPC id: a string or a number.
    public var id: RawJSON? { context.message.raw(context.message.head.id) }

    /// The size of the message in bytes.
    public var size: Int { context.message.bytes.count }

    /// The message, as received. A copy must be made of what is kept: it shares memory with the connection.
    public var message: ByteSlice { context.message.bytes }

    /// The tool, the prompt or the URI of the resource that the request names; nil for other methods.
    public var name: String? { rawName?.string }

    /// The same as JSON text, which may be something other than a string.
    public var rawName: RawJSON? {
        context.message.raw(context.message.head.name) ?? context.message.raw(context.message.head.uri)
    }

    /// The identity that the client declares (2026-07-28): for display and logs, never for
    /// decisions (META-12).
    public var clientInfo: Implementation? { context.clientInfo }

    /// The trace that the request belongs to: `traceparent` of its `_meta`, or else of its HTTP head; nil if
    /// there is none, or it is not valid.
    public var traceContext: TraceContext? { context.traceContext }

    /// The trace of the HTTP head alone, which takes no look into `_meta`.
    package var headTraceContext: TraceContext? { context.header }
}

/// The end of one request.
public struct RequestEnd: Sendable {
    /// The way in which it ended.
    public let outcome: RequestOutcome
    /// Whether the request failed because its caller may not use what it names. The error itself may say that
    /// the name is unknown, so that it does not reveal what exists.
    public let isDenied: Bool
    /// The time since `willServe` was called.
    public var duration: Duration { .nanoseconds(nanoseconds) }
    /// The same in nanoseconds, which costs less.
    package let nanoseconds: Int64
    /// The size of the response in bytes; 0 without one.
    public let responseSize: Int
    /// The response, as it was sent: of a request that failed, and of all requests for middleware that
    /// `wantsResponses`. Nil otherwise, and without a response.
    public let response: RawJSON?
}

/// The way in which a request ended.
public enum RequestOutcome: Sendable, Hashable {
    /// With a result, including one that asks for input.
    case result
    /// With a result that reports that the tool failed (`isError`).
    case toolError
    /// With a JSON-RPC error of this code, including when its deadline passed (504) or the server stopped.
    case error(Int)
    /// Without a response: the client withdrew it, or is gone.
    case cancelled
}

/// The connection between one request and the middleware that accepted it.
final class RequestTrace: @unchecked Sendable {
    let kind: Method
    let connection: UInt64
    let peer: String?
    let context: RequestContext
    // SAFETY: written by `begin`, before another thread knows the object, and by `end`, which is called once.
    /// All middleware, of which the first `entered` accepted the request; none after its end, so that
    /// middleware may keep requests.
    private var middleware: [any ServerMiddleware] = []
    private var entered = 0
    private var wantsResponse = false
    private let start: MonotonicInstant
    private let clock: any TimeSource
    private let isToolError = Atomic<Bool>(false)
    private let isDenied = Atomic<Bool>(false)

    init(_ request: __shared Dispatcher.Request, from channel: __shared ServerChannel, clock: any TimeSource)
    {
        kind = request.verdict.entry.method
        connection = request.channelID
        peer = channel.peer?.address
        context = RequestContext(request, nil, header: channel.claims?.traceContext)
        start = clock.now
        self.clock = clock
    }

    /// Shows the request to each middleware, up to the first that throws; returns its error.
    func begin(_ all: [any ServerMiddleware]) -> (any Error)? {
        let request = IncomingRequest(self)
        middleware = all
        for each in all {
            do { try each.willServe(request) } catch { return error }
            entered += 1
            if each.wantsResponses { wantsResponse = true }
        }
        return nil
    }

    /// The trace context of the HTTP head.
    var header: TraceContext? { context.header }

    /// Records that the result of the tool reports a failure.
    func toolFailed() { isToolError.store(true, ordering: .relaxed) }

    /// Records that the response asks for input, whatever the tool has returned.
    func asksForInput() { isToolError.store(false, ordering: .relaxed) }

    /// Records that the caller has no right to what the request names.
    func wasDenied() { isDenied.store(true, ordering: .relaxed) }

    /// Reports the end with a response. Called once, as is `endWithoutResponse`.
    func end(with response: ByteSlice) {
        var outcome = RequestOutcome.of(response, to: context.message.raw(context.message.head.id))
        if outcome == .result, isToolError.load(ordering: .relaxed) { outcome = .toolError }
        let isWanted = outcome != .result || wantsResponse
        end(outcome, response.count, isWanted ? RawJSON(unchecked: response.copy()) : nil)
    }

    func endWithoutResponse() { end(.cancelled, 0, nil) }

    private func end(_ outcome: RequestOutcome, _ size: Int, _ response: RawJSON?) {
        let isDenied =
            switch outcome {
            case .error(MCPError.insufficientScopeCode): true
            case .error: isDenied.load(ordering: .relaxed)
            case .result, .toolError, .cancelled: false
            }
        let end = RequestEnd(
            outcome: outcome, isDenied: isDenied, nanoseconds: clock.now.nanoseconds &- start.nanoseconds,
            responseSize: size,
            response: response)
        let request = IncomingRequest(self)
        var all: [any ServerMiddleware] = []
        swap(&all, &middleware)
        var place = entered
        while place > 0 {
            place -= 1
            all[place].didServe(request, end)
        }
    }
}

extension Dispatcher {
    /// Serves a request between the two calls of the middleware.
    @inline(never)
    func serveTraced(
        _ request: consuming Request, _ channel: inout ServerChannel, _ writer: inout JSONWriter,
        _ route: (Request, inout ServerChannel, inout JSONWriter) -> Disposition
    ) -> Disposition {
        let trace = RequestTrace(request, from: channel, clock: clock)
        let refusal = trace.begin(options.middleware)
        let start = writer.out.count
        let disposition: Disposition
        if let refusal {
            disposition = fail(request, publicError(refusal, request.message.method), &writer)
        } else {
            request.trace = trace
            // Moved: a variable would be copied for the call, with all its references.
            let traced = consume request
            disposition = route(traced, &channel, &writer)
        }
        // Otherwise its `PendingRequest` ends the trace.
        if case .answered = disposition { trace.end(with: writer.out.slice(start ..< writer.out.count)) }
        return disposition
    }
}

extension RequestOutcome {
    /// Returns how one of our responses ends the request with this id.
    static func of(_ answer: ByteSlice, to id: RawJSON?) -> RequestOutcome {
        // Nearly all are results, and begin with the bytes of the id.
        if let id, isResult(answer, id.bytes) { return .result }
        return of(answer)
    }

    private static func isResult(_ answer: ByteSlice, _ id: ByteSlice) -> Bool {
        let (before, after) = (#"{"jsonrpc":"2.0","id":"# as StaticString, #","result":"# as StaticString)
        let end = before.utf8CodeUnitCount + id.count
        guard answer.count > end + after.utf8CodeUnitCount else { return false }
        return unsafe memoryEquals(answer.base, before.utf8Start, before.utf8CodeUnitCount)
            && memoryEquals(answer.base + before.utf8CodeUnitCount, id.base, id.count)
            && memoryEquals(answer.base + end, after.utf8Start, after.utf8CodeUnitCount)
    }

    /// Returns how one of our responses ends its request.
    static func of(_ answer: some Collection<UInt8>) -> RequestOutcome {
        errorCode(in: answer).map { .error($0) } ?? .result
    }

    private static func errorCode(in answer: some Collection<UInt8>) -> Int? {
        var rest = answer.dropFirst(#"{"jsonrpc":"2.0""#.utf8.count)
        if rest.starts(with: #","id":"#.utf8) {
            rest = rest.dropFirst(#","id":"#.utf8.count)
            var isText = false
            var isEscaped = false
            rest = rest.drop { byte in
                if isEscaped {
                    isEscaped = false
                } else if byte == ASCII.quote {
                    isText.toggle()
                } else {
                    isEscaped = isText && byte == UInt8(ascii: "\\")
                }
                return isText || isEscaped || byte != UInt8(ascii: ",")
            }
        }
        guard rest.starts(with: #","error":{"code":"#.utf8) else { return nil }
        let digits = rest.dropFirst(#","error":{"code":"#.utf8.count).prefix {
            ASCII.isDigit($0) || $0 == UInt8(ascii: "-")
        }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
