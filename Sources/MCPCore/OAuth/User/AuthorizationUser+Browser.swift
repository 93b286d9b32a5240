import Dispatch

extension AuthorizationUser {
    /// Shows a page, given the redirect URI at which the browser will end.
    public typealias Show = @Sendable (Page, _ redirectURI: String) async throws(AuthorizationError) -> Void
    /// Reads a line that the user entered; nil at the end of the input, or when the task is cancelled.
    public typealias LineReader = @Sendable () async -> String?

    /// Returns a user with a browser on this machine, which a listener on the loopback address waits for.
    ///
    /// - Parameters:
    ///   - host: the host of the redirect URI.
    ///   - port: the port of the redirect URI; 0 for any that is free. One that is in use is an error.
    ///   - readLine: reads the address at which the browser ended, for a browser on another machine. The
    ///     first of the redirect and a line counts. Nil for the redirect alone.
    ///   - notice: receives a sentence for a line that is not the address.
    ///   - show: opens the page; the listener is already waiting.
    public static func browser(
        host: CallbackHost = .ipv4, port: UInt16 = 0, readLine: LineReader? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }, show: @escaping Show
    ) -> AuthorizationUser {
        browser(host: host, ports: [port], readLine: readLine, notice: notice, show: show)
    }

    /// Returns a user like `browser(host:port:readLine:notice:show:)`, with the first port that is free.
    ///
    /// It is for a client that is registered with several redirect URIs, such as by a client id metadata
    /// document.
    ///
    /// - Parameter ports: the ports in the order in which they are tried. If all are in use, that is an
    ///   error; an empty list stands for any port that is free.
    public static func browser(
        host: CallbackHost = .ipv4, ports: [UInt16], readLine: LineReader? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }, show: @escaping Show
    ) -> AuthorizationUser {
        browser(
            (ports.isEmpty ? [0] : ports).map { RedirectAddress(host: host, port: $0) }, readLine: readLine,
            notice: notice, show: show, clock: SystemClock())
    }

    static func browser(
        _ addresses: [RedirectAddress], readLine: LineReader?, notice: @escaping @Sendable (String) -> Void,
        show: @escaping Show, clock: any TimeSource
    ) -> AuthorizationUser {
        AuthorizationUser { redirectURI throws(AuthorizationError) in
            var wanted = addresses
            if let redirectURI {
                wanted = addresses.compactMap {
                    RedirectAddress(registered: redirectURI, wanted: $0)
                }
                if wanted.isEmpty {
                    throw AuthorizationError(
                        .usage, "cannot listen at the registered redirect URI \(redirectURI)",
                        hint: "use http://127.0.0.1:PORT/callback")
                }
            }
            let listener = try RedirectListener.first(of: wanted, clock: clock)
            return UserVisit(
                redirectURI: listener.address.uri, listener: listener, readLine: readLine, notice: notice,
                show: show, clock: clock)
        }
    }

    /// Returns a user who enters the address at which the browser ended; nothing listens.
    ///
    /// - Parameters:
    ///   - redirectURI: the redirect URI for clients without a registered one.
    ///   - readLine: reads the address; at the end of the input, the login is cancelled.
    ///   - notice: receives a sentence for a line that is not the address.
    ///   - show: shows the page.
    public static func paste(
        redirectURI: String, readLine: @escaping LineReader,
        notice: @escaping @Sendable (String) -> Void = { _ in }, show: @escaping Show
    ) -> AuthorizationUser {
        AuthorizationUser { registered in
            UserVisit(
                redirectURI: registered ?? redirectURI, listener: nil, readLine: readLine, notice: notice,
                show: show, clock: SystemClock())
        }
    }
}

/// One login of a user: the first of the redirect and a pasted address counts.
final class UserVisit: AuthorizationUser.Visit {
    let redirectURI: String
    private let listener: RedirectListener?
    private let readLine: AuthorizationUser.LineReader?
    private let notice: @Sendable (String) -> Void
    private let show: AuthorizationUser.Show
    private let clock: any TimeSource

    init(
        redirectURI: String, listener: RedirectListener?, readLine: AuthorizationUser.LineReader?,
        notice: @escaping @Sendable (String) -> Void, show: @escaping AuthorizationUser.Show,
        clock: any TimeSource
    ) {
        self.redirectURI = redirectURI
        self.listener = listener
        self.readLine = readLine
        self.notice = notice
        self.show = show
        self.clock = clock
    }

    func close() async { await listener?.close() }

    func redirect(
        from page: AuthorizationUser.Page, accepts: @escaping @Sendable (String) -> Bool
    ) async throws(AuthorizationError) -> String {
        if let problem = page.problem {
            throw AuthorizationError(
                .malformed, "the authorization server's login page was not opened: its address \(problem)",
                details: ["issuer: \(page.issuer)"])
        }
        let outcome = OneShot<Result<String, AuthorizationError>>()
        let take: @Sendable (String) -> Bool = { url in
            guard accepts(url) else { return false }
            outcome.finish(.success(url))
            return true
        }
        listener?.handler.expect(take)
        clock.schedule(at: clock.now + page.timeout, on: .global()) {
            outcome.finish(.failure(Self.late(page)))
        }
        try await show(page, redirectURI)
        let reader = Task { await read(take, outcome) }
        defer { reader.cancel() }
        let cancelled = AuthorizationError(.cancelled, "the login was cancelled; no token was requested")
        return try await outcome.value(ifCancelled: .failure(cancelled)).get()
    }

    private static func late(_ page: AuthorizationUser.Page) -> AuthorizationError {
        AuthorizationError(
            .timedOut,
            "nobody completed the login at \(page.issuer) within \(page.timeout.inWords); "
                + "no token was requested")
    }

    /// Reads lines until one of them is the address of the redirect.
    private func read(
        _ take: @Sendable (String) -> Bool, _ outcome: OneShot<Result<String, AuthorizationError>>
    ) async {
        guard let readLine else { return }
        while !outcome.isFinished, let line = await readLine() {
            let text = line.filter { !$0.isWhitespace }
            if text.isEmpty || outcome.isFinished { continue }
            guard text.utf8.count <= RedirectListener.maxHeadBytes, text.hasPrefix(redirectURI + "?") else {
                notice("this is not an address that begins with \(redirectURI)?")
                continue
            }
            if !take(text) { notice("this address does not belong to this login") }
        }
        if listener == nil {
            outcome.finish(
                .failure(
                    AuthorizationError(
                        .cancelled, "the input ended before the address was entered; no token was requested"))
            )
        }
    }
}

extension AuthorizationUser.Page {
    /// The reason why the page must not be opened, as the end of a sentence; nil if there is none (AUTH-27).
    package var problem: String? {
        guard url.utf8.allSatisfy({ (0x21 ... 0x7E).contains($0) }) else {
            return "has characters that are not printable ASCII"
        }
        let parts = SchemaURI(url)
        guard let authority = parts.authority, !authority.isEmpty else { return "has no host" }
        if authority.utf8.contains(UInt8(ascii: "@")) { return "contains a user name" }
        switch parts.scheme?.lowercased() {
        case "https": return nil
        case "http":
            let host =
                authority.hasPrefix("[")
                ? String(authority.prefix { $0 != "]" }) + "]"
                : String(authority.prefix { $0 != ":" })
            return Loopback.contains(host) ? nil : "is http and not on this machine"
        default: return "is neither https nor http"
        }
    }
}
