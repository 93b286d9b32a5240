public import MCPCore
import Synchronization

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// HTTP for authorization by `URLSession`: metadata, registrations and tokens, for `OAuthAuthorizer(http:)`.
///
/// A request takes at most 15 s, a body has at most 256 KiB, and no redirect is followed. Only https is used,
/// and http on this machine. Unlike `HTTPFetcher`, it does not see the addresses that names lead to, so that
/// it cannot refuse those of a local network.
public final class URLSessionOAuth: OAuthHTTP {
    /// The time for a request.
    static let timeout = Duration.seconds(15)
    /// The greatest size of a body.
    static let maxBodyBytes = 256 << 10

    private let session: URLSession
    private let tasks = URLSessionTasks()
    private let timeout: Duration

    /// Creates one with a session of its own; see `URLSessionCarrier`.
    public convenience init(configuration: URLSessionConfiguration = .ephemeral) {
        self.init(configuration, timeout: Self.timeout)
    }

    init(_ configuration: URLSessionConfiguration, timeout: Duration) {
        self.timeout = timeout
        session = URLSession(
            configuration: URLSessionCarrier.prepared(configuration), delegate: tasks, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Throws: `AuthorizationError`: `.malformed` for a URL or a response that is unusable, `.unreachable`
    ///   when there is no response in time, `.cancelled`.
    public func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
        guard let url = URL(string: request.url), let host = url.host, !host.isEmpty else {
            throw AuthorizationError(.malformed, "the request has no usable URL; nothing was sent")
        }
        let isLocal = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host.lowercased())
        guard url.scheme?.lowercased() == "https" || (url.scheme?.lowercased() == "http" && isLocal) else {
            throw AuthorizationError(
                .unreachable, "\(host) is not reached over https; nothing was sent",
                hint: "http is only used on this machine")
        }
        let body = request.isPost ? Data(request.body) : nil
        let outgoing = URLRequest(url, request.isPost ? "POST" : "GET", request.fields, body)
        let exchange = OAuthExchange(host: host, limit: Self.maxBodyBytes)
        let task = tasks.start(outgoing, in: session, exchange.sink)
        let timeout = timeout
        let late = Task {
            try await Task.sleep(for: timeout)
            exchange.end(.failure(AuthorizationError(.unreachable, "\(host) did not answer in time")))
        }
        let result = await withTaskCancellationHandler {
            await exchange.result()
        } onCancel: {
            exchange.end(.failure(AuthorizationError(.cancelled, "the request to \(host) was cancelled")))
        }
        late.cancel()
        // Nothing more is read of a response that is too large or too late.
        task.cancel()
        return try result.get()
    }
}

/// One request of authorization and what has arrived of its response.
private final class OAuthExchange: Sendable {
    typealias Outcome = Result<OAuthHTTPResponse, AuthorizationError>

    private struct State {
        var status = 0
        var fields = HeaderFields()
        var body: [UInt8] = []
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
    }

    private let host: String
    private let limit: Int
    private let state = Mutex(State())

    init(host: String, limit: Int) {
        self.host = host
        self.limit = limit
    }

    var sink: URLSessionTasks.Sink {
        URLSessionTasks.Sink(
            begin: { [self] status, found in
                var fields = HeaderFields()
                // A value that no field can have is not one of the response.
                for field in found { try? fields.append(field.name, field.value) }
                let known = fields
                state.withLock {
                    $0.status = status
                    $0.fields = known
                }
            },
            receive: { [self] bytes in
                let isTooLarge = state.withLock { state in
                    state.body += bytes
                    return state.body.count > limit
                }
                if isTooLarge {
                    end(
                        .failure(
                            AuthorizationError(.malformed, "the response of \(host) has more than 256 KiB")))
                }
            },
            end: { [self] failure in
                if let failure {
                    return end(
                        .failure(
                            AuthorizationError(.unreachable, "cannot reach \(host): \(failure.reason)")))
                }
                let (status, fields, body) = state.withLock { ($0.status, $0.fields, $0.body) }
                end(.success(OAuthHTTPResponse(status: status, fields: fields, body: body)))
            })
    }

    /// Ends the exchange; only the first outcome counts.
    func end(_ outcome: Outcome) {
        let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: outcome)
    }

    func result() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> Outcome? in
                if state.outcome == nil { state.waiting = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}
