/// Middleware that sees every request that a server serves, in all revisions and on all transports: for logs,
/// metrics, rate limits and authorization.
///
/// Several are called in the order of `ServerOptions.middleware`, and end in the reverse order. Messages that
/// cannot be served at all, such as one with an unknown method, are answered before any middleware is called.
public protocol ServerMiddleware: Sendable {
    /// Called when a request is about to be served, on the connection's own thread: return at once,
    /// and do not block.
    ///
    /// - Throws: an error to refuse the request. The client receives an `MCPError` as it is, and -32603 for
    ///   any other error; the handler is not called.
    func willServe(_ request: IncomingRequest) throws

    /// Called when a request that `willServe` accepted has ended: once for each request, on any
    /// thread. Do not block.
    ///
    /// - Parameter duration: the time since `willServe` was called.
    func didServe(_ request: IncomingRequest, outcome: RequestOutcome, duration: Duration)
}

extension ServerMiddleware {
    /// Accepts the request.
    public func willServe(_ request: IncomingRequest) throws {}

    /// Does nothing.
    public func didServe(_ request: IncomingRequest, outcome: RequestOutcome, duration: Duration) {}
}

/// One request from a client.
public struct IncomingRequest: Sendable {
    /// The JSON-RPC method, such as `tools/call`.
    public let method: String
    /// The number of the connection, or of the session of a revision before 2026-07-28.
    public let connection: UInt64
    private let context: RequestContext

    init(_ request: Dispatcher.Request) {
        method = request.message.method
        connection = request.channelID
        context = RequestContext(request, nil)
    }

    /// The protocol revision that the request uses.
    public var protocolVersion: ProtocolVersion { context.protocolVersion }

    /// The authenticated principal of the request; nil without authorization.
    public var principal: Principal? { context.principal }

    /// The request's `params`, as received.
    public var params: RawJSON? { context.message.params }

    /// The tool, the prompt or the URI of the resource that the request names; nil for other methods.
    public var name: String? { (params?["name"] ?? params?["uri"])?.string }

    /// The identity that the client declares (2026-07-28): for display and logs, never for
    /// decisions (META-12).
    public var clientInfo: Implementation? { context.clientInfo }
}

/// The way in which a request ended.
public enum RequestOutcome: Sendable, Hashable {
    /// With a result; that of a tool may report that the tool failed (`isError`).
    case result
    /// With a JSON-RPC error of this code, including when its deadline passed (504) or the server stopped.
    case error(Int)
    /// Without a response: the client withdrew it, or is gone.
    case cancelled
}

/// The connection between one request and the middleware that accepted it.
final class RequestTrace: Sendable {
    private let request: IncomingRequest
    private let entered: [any ServerMiddleware]
    private let start: MonotonicInstant
    private let clock: any TimeSource

    /// Shows the request to each middleware, up to the first that throws.
    static func begin(
        _ request: IncomingRequest, _ middleware: [any ServerMiddleware], clock: any TimeSource
    ) -> (trace: RequestTrace, refusal: (any Error)?) {
        let start = clock.now
        var count = 0
        var refusal: (any Error)?
        for each in middleware {
            do { try each.willServe(request) } catch {
                refusal = error
                break
            }
            count += 1
        }
        return (RequestTrace(request, Array(middleware.prefix(count)), start, clock), refusal)
    }

    private init(
        _ request: IncomingRequest, _ entered: [any ServerMiddleware], _ start: MonotonicInstant,
        _ clock: any TimeSource
    ) {
        self.request = request
        self.entered = entered
        self.start = start
        self.clock = clock
    }

    /// Reports the end. Called once.
    func end(_ outcome: RequestOutcome) {
        let duration = clock.now - start
        for each in entered.reversed() { each.didServe(request, outcome: outcome, duration: duration) }
    }
}

extension Dispatcher {
    /// Serves a request between the two calls of the middleware.
    @inline(never)
    func serveTraced(
        _ request: Request, _ writer: inout JSONWriter,
        _ route: (Request, inout JSONWriter) -> Disposition
    ) -> Disposition {
        let (trace, refusal) = RequestTrace.begin(
            IncomingRequest(request), options.middleware, clock: clock)
        let start = writer.out.count
        let disposition: Disposition
        if let refusal {
            disposition = fail(request, publicError(refusal, request.message.method), &writer)
        } else {
            var request = request
            request.trace = trace
            disposition = route(request, &writer)
        }
        // Otherwise its `PendingRequest` ends the trace.
        if case .answered = disposition {
            trace.end(unsafe writer.out.withBytes { unsafe RequestOutcome.of($0[start...]) })
        }
        return disposition
    }
}

extension RequestOutcome {
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
