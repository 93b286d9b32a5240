import Dispatch
import Synchronization

/// The HTTP of authorization: one small request on a connection of its own.
///
/// Connecting takes at most 10 s and everything 15 s; bodies have at most 256 KiB. A GET follows up to three
/// redirects within its origin, a POST none. A redirect that is not followed is the response; a stream of
/// events is one without a body. The address of each connection must be one that the server may refer to
/// (AUTH-48): a public server to public addresses, one in a local network also to local ones, one on this
/// machine to any of these; never to link-local ones. Plain http is only used on this machine.
public final class HTTPFetcher: OAuthHTTP {
    /// The time until a connection is open.
    static let connectTimeout = Duration.seconds(10)
    /// The time for a request with all its redirects.
    static let timeout = Duration.seconds(15)
    /// The greatest size of a body.
    static let maxBodyBytes = 256 << 10
    /// The number of redirects that a GET follows.
    static let maxRedirects = 3

    private let server: String
    private let allowedHosts: Set<String>
    private let tls: any TLSProvider
    private let connectTimeout: Duration
    private let resolver: AddressLookup.Resolver
    private let loop: EventLoop?
    /// The scope of the server, once it is known.
    private let scope = Mutex<AddressScope?>(nil)

    /// Creates a fetcher for what a server refers to.
    ///
    /// - Parameters:
    ///   - server: the URL of the server whose metadata lead to the requests, or `unix:` and a path.
    ///   - allowedHosts: hosts that may be reached at any address and over plain http.
    ///   - tls: the provider of the encryption.
    public convenience init(
        for server: String, allowedHosts: Set<String> = [], tls: any TLSProvider = OpenSSLProvider.system
    ) {
        self.init(for: server, allowedHosts: allowedHosts, tls: tls, connectTimeout: nil)
    }

    /// Creates a fetcher with another time for connecting; nil for `connectTimeout`.
    package convenience init(
        for server: String, allowedHosts: Set<String>, tls: any TLSProvider, connectTimeout: Duration?
    ) {
        self.init(
            for: server, allowedHosts: allowedHosts, tls: tls,
            connectTimeout: connectTimeout ?? Self.connectTimeout, loop: nil
        ) { (host, port) throws(SocketAddress.ResolveError) in
            try SocketAddress.resolve(host: host, port: port)
        }
    }

    /// Creates a fetcher with a loop and a resolver of its own, which may block.
    init(
        for server: String, allowedHosts: Set<String>, tls: any TLSProvider,
        connectTimeout: Duration = connectTimeout, loop: EventLoop?,
        resolver: @escaping AddressLookup.Resolver
    ) {
        self.server = server
        self.allowedHosts = Set(allowedHosts.map { $0.lowercased() })
        self.tls = tls
        self.connectTimeout = connectTimeout
        self.loop = loop
        self.resolver = resolver
    }

    /// Sends a request.
    ///
    /// - Throws: `AuthorizationError`: `.unreachable` when there is no response in time or the address is not
    ///   allowed, `.malformed` when the response cannot be read or is too large.
    public func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
        let loop = try eventLoop()
        guard var url = WebURL(request.url) else {
            throw AuthorizationError(
                .malformed, "\(Self.shortened(request.url)) is not an http or https URL; nothing was sent")
        }
        let deadline = loop.clock.now + Self.timeout
        let rule = AddressRule(server: try await serverScope(), allowedHosts: allowedHosts)
        var redirects = 0
        while true {
            let response = try await exchange(request, at: url, rule, loop, deadline)
            guard !request.isPost, [301, 302, 303, 307, 308].contains(response.status),
                redirects < Self.maxRedirects, let place = response.fields["Location"],
                let next = url.resolving(place), next.hasSameOrigin(as: url)
            else { return response }
            redirects += 1
            url = next
        }
    }

    private func eventLoop() throws(AuthorizationError) -> EventLoop {
        if let loop { return loop }
        do throws(IOError) { return try SharedLoops.next() } catch {
            throw AuthorizationError(.unreachable, "cannot create an event loop: \(error)")
        }
    }

    private func exchange(
        _ request: OAuthHTTPRequest, at url: WebURL, _ rule: AddressRule, _ loop: EventLoop,
        _ deadline: MonotonicInstant
    ) async throws(AuthorizationError) -> OAuthHTTPResponse {
        guard url.isConfidential || rule.allowedHosts.contains(url.host) else {
            throw AuthorizationError(
                .unreachable, "\(Self.shortened(url.description)) is not https; nothing was sent",
                hint: "http is only used on this machine, and for hosts that are explicitly allowed",
                remedy: .allowedHost(url.host))
        }
        do throws(ClientError) {
            var fetch = HTTPFetch(
                try HTTPEndpoint(url: url.origin + url.target),
                connectTimeout: min(connectTimeout, Self.timeout),
                timeout: deadline - loop.clock.now, maxBodyBytes: Self.maxBodyBytes)
            fetch.leavesEvents = true
            fetch.tls = tls
            fetch.loop = loop
            fetch.addresses = AddressLookup(find: resolver) { (found) throws(TLSError) in
                try rule.admit(found, of: url)
            }
            let response = try await fetch.send(request.fields, body: request.isPost ? request.body : nil)
            return OAuthHTTPResponse(
                status: response.status, fields: response.fields, body: response.body)
        } catch {
            let kind: AuthorizationError.Kind =
                switch error.kind {
                case .cancelled: .cancelled
                case .protocolViolation, .invalidRequest: .malformed
                default: .unreachable
                }
            throw AuthorizationError(kind, error.message, details: error.details, hint: error.hint)
        }
    }

    // MARK: The server

    /// Returns where the server is. If its name has several addresses, the most public one counts.
    private func serverScope() async throws(AuthorizationError) -> AddressScope {
        if let known = scope.withLock({ $0 }) { return known }
        guard let url = WebURL(server), url.host != "localhost" else { return .loopback }
        let resolver = resolver
        let found = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(SocketAddress.ResolveError) in
                        try resolver(url.host, url.port)
                    })
            }
        }
        do throws(SocketAddress.ResolveError) {
            let widest = try found.get().map { AddressScope($0) }.max() ?? .global
            // A name is not allowed to change what its server may refer to.
            return scope.withLock { scope in
                let widest = min(max(scope ?? widest, widest), .global)
                scope = widest
                return widest
            }
        } catch {
            throw AuthorizationError(.unreachable, "\(error)")
        }
    }

    static func shortened(_ text: String) -> String {
        let printable = String(
            decoding: text.utf8.filter { $0 >= 0x20 && $0 < 0x7F }.prefix(200), as: UTF8.self)
        return text.utf8.count > 200 ? printable + "…" : printable
    }
}
