public import Foundation
public import MCPCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Carries the requests of a client by `URLSession`: with the proxies of the platform, its trust, its VPNs
/// and the policies of its administrator.
///
/// ```swift
/// let client = try await MCPClient.connect(.http("https://mcp.example.com/mcp", carrier: URLSessionCarrier()))
/// ```
///
/// Everything above HTTP is the same as without it: sessions, event streams and their resumption,
/// credentials, limits and time-outs are those of the client. Cookies, caches and stored passwords of the
/// session are not used, and no redirect is followed.
public final class URLSessionCarrier: HTTPCarrier {
    /// The connections to one server at the same time: event streams need one each over HTTP/1.1.
    static let connectionsPerHost = 64

    private let session: URLSession
    private let tasks = URLSessionTasks()

    /// Creates a carrier with a session of its own.
    ///
    /// - Parameter configuration: proxies, the lowest version of TLS and the like. What concerns cookies,
    ///   caches, passwords and time-outs is replaced: a stream may be silent for as long as its client waits.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
        session = URLSession(
            configuration: Self.prepared(configuration), delegate: tasks, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Returns a copy without what would come between the client and the server.
    static func prepared(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        let copy = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        copy.httpCookieStorage = nil
        copy.httpShouldSetCookies = false
        copy.httpCookieAcceptPolicy = .never
        copy.urlCache = nil
        copy.requestCachePolicy = .reloadIgnoringLocalCacheData
        copy.urlCredentialStorage = nil
        copy.timeoutIntervalForRequest = 7 * 24 * 3_600
        copy.timeoutIntervalForResource = 7 * 24 * 3_600
        copy.httpMaximumConnectionsPerHost = connectionsPerHost
        return copy
    }

    /// Sends a request with the session; the receiver is called on a queue of the session.
    public func start(_ request: HTTPCarrierRequest, _ receiver: HTTPCarrierReceiver) -> any HTTPCarrierTask {
        guard let url = URL(string: request.url) else {
            receiver.fail("its address is not a URL of Foundation", wasConnected: false)
            return NoTask()
        }
        let body = request.method == "POST" ? Data(request.body) : nil
        return tasks.start(
            URLRequest(url, request.method, request.fields, body), in: session,
            URLSessionTasks.Sink(
                begin: { receiver.begin(status: $0, fields: $1) }, receive: { receiver.receive($0) },
                end: { failure in
                    if let failure {
                        receiver.fail(failure.reason, wasConnected: failure.wasConnected)
                    } else {
                        receiver.finish()
                    }
                }))
    }

    private struct NoTask: HTTPCarrierTask {
        func cancel() {}
    }
}

extension URLRequest {
    /// Creates a request with exactly these fields, and a body for a POST.
    init(_ url: URL, _ method: String, _ fields: HeaderFields, _ body: Data?) {
        self.init(url: url)
        httpMethod = method
        httpBody = body
        httpShouldHandleCookies = false
        for field in fields { addValue(field.value, forHTTPHeaderField: field.name) }
        // Events must arrive as they are sent, not when a block has been compressed.
        setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    }
}

extension ClientTarget {
    /// Returns the target for a Streamable HTTP endpoint, reached by `URLSession`.
    ///
    /// - Parameters:
    ///   - url: `http://` or `https://`.
    ///   - configuration: proxies, the lowest version of TLS and the like; see `URLSessionCarrier`.
    public static func http(_ url: URL, configuration: URLSessionConfiguration = .ephemeral) -> ClientTarget {
        .http(url.absoluteString, carrier: URLSessionCarrier(configuration: configuration))
    }
}
