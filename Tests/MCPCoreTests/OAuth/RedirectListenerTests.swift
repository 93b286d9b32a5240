import Synchronization
import TestSupport
import Testing

@testable import MCPCore

@Suite(.timeLimit(.minutes(5))) struct RedirectListenerTests {
    private static let page = AuthorizationUser.Page(
        url: "https://id.example/authorize?state=s1", issuer: "https://id.example", timeout: .seconds(300))

    private static let accepts: @Sendable (String) -> Bool = { $0.contains("state=s1") }

    private static func port(_ uri: String) throws -> UInt16 {
        try #require(RedirectAddress(registered: uri, wanted: RedirectAddress(host: .ipv4, port: 0))).port
    }

    /// A user whose browser is `browse`, given the port of the listener.
    private static func user(
        host: CallbackHost = .ipv4, port: UInt16 = 0,
        _ browse: @escaping @Sendable (UInt16) async throws -> Void
    ) -> (AuthorizationUser, Mutexed<Task<Void, any Error>?>) {
        let browser = Mutexed<Task<Void, any Error>?>(nil)
        let user = AuthorizationUser.browser(host: host, port: port) { _, uri in
            browser.value = Task { try await browse(try Self.port(uri)) }
        }
        return (user, browser)
    }

    final class Mutexed<Value: Sendable>: Sendable {
        private let state: Mutex<Value>
        init(_ value: Value) { state = Mutex(value) }
        var value: Value {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    // MARK: Strangers at the listener

    @Test func whatIsNotTheRedirectChangesNothing() async throws {
        let (user, browser) = Self.user { port in
            // Connections that browsers open ahead, and one that says little.
            let silent = try (0 ..< 3).map { _ in try PlainConnection(port: port) }
            try silent[0].send("GET /call")
            defer { withExtendedLifetime(silent) {} }
            func status(
                _ target: String, method: String = "GET", host: String? = nil, body: String? = nil,
                headers: [(String, String)] = []
            ) async throws -> Int {
                let response = try await PlainHTTP.send(
                    method, target, port: port, host: host, headers: headers, body: body)
                #expect(!response.text.contains("<script"))
                return response.status
            }
            let good = "/callback?code=c&state=s1"
            #expect(try await status("/favicon.ico") == 404)
            #expect(try await status("/") == 404)
            #expect(try await status("/done") == 404)
            #expect(try await status("/callback/x?state=s1") == 404)
            #expect(try await status("/callback") == 400)
            #expect(try await status("/callback?code=c") == 400)
            #expect(try await status("/callback?code=c&state=%3Cscript%3E") == 400)
            #expect(try await status(good, method: "POST") == 405)
            #expect(try await status(good, method: "POST", body: "x=1") == 405)
            #expect(try await status(good, method: "HEAD") == 405)
            #expect(try await status(good, host: "localhost:\(port)") == 400)
            #expect(try await status(good, host: "evil.example") == 400)
            #expect(try await status(good, host: "127.0.0.1") == 400)
            #expect(try await status(good, headers: [("Origin", "https://evil.example")]) == 403)
            let long = String(repeating: "x", count: 64 << 10)
            #expect(try await status("/favicon.ico", headers: [("X", long)]) == 431)
            #expect(try await status("\(good)&x=\(long)") == 414)

            let connection = try PlainConnection(port: port)
            try connection.send("GET", good, headers: [("Host", "127.0.0.1:\(port)")])
            let redirect = try connection.response()
            #expect(redirect.status == 303)
            #expect(redirect.headers["location"] == "/done")
            try connection.send("GET", "/done", headers: [("Host", "127.0.0.1:\(port)")])
            let last = try connection.response()
            #expect(last.status == 200)
            #expect(last.headers["content-type"] == "text/html; charset=utf-8")
            for response in [redirect, last] {
                #expect(response.headers["content-security-policy"] == "default-src 'none'")
                #expect(response.headers["referrer-policy"] == "no-referrer")
                #expect(response.headers["cache-control"] == "no-store")
                #expect(!response.text.contains("s1"))
            }
        }
        let visit = try await user.open(nil)
        let url = try await visit.redirect(from: Self.page, accepts: Self.accepts)
        #expect(url == "\(visit.redirectURI)?code=c&state=s1")
        try await browser.value?.value
        await visit.close()
    }

    @Test func thousandWrongRedirectsDoNotEndTheLogin() async throws {
        let (user, browser) = Self.user { port in
            let connection = try PlainConnection(port: port)
            for number in 0 ..< 1_000 {
                try connection.send(
                    "GET", "/callback?code=c&state=x\(number)", headers: [("Host", "127.0.0.1:\(port)")])
                #expect(try connection.response().status == 400)
            }
            try connection.send("GET", "/callback?state=s1", headers: [("Host", "127.0.0.1:\(port)")])
            #expect(try connection.response().status == 303)
        }
        let visit = try await user.open(nil)
        _ = try await visit.redirect(from: Self.page, accepts: Self.accepts)
        try await browser.value?.value
        await visit.close()
    }

    @Test func aRedirectBeforeThePageIsShownIsRefused() async throws {
        let listener = try RedirectListener(RedirectAddress(host: .ipv4, port: 0))
        let response = try await PlainHTTP.send("GET", "/callback?state=s1", port: listener.address.port)
        #expect(response.status == 400)
        await listener.end()
    }

    @Test func localhostListensAtBothAddresses() async throws {
        let listener = try RedirectListener(RedirectAddress(host: .localhost, port: 0))
        let port = listener.address.port
        #expect(listener.address.uri == "http://localhost:\(port)/callback")
        listener.handler.expect(Self.accepts)
        let wrong = try await PlainHTTP.send("GET", "/callback?state=s1", port: port)
        #expect(wrong.status == 400)
        let response = try await PlainHTTP.send(
            "GET", "/callback?state=s1", port: port, host: "localhost:\(port)")
        #expect(response.status == 303)
        if let any = SocketAddress(numeric: "::1", port: port),
            (try? ListenSocket.tcp(any)) != nil
        {
            Issue.record("nothing listens at [::1]:\(port)")
        }
        await listener.end()
    }

    /// A program that ends with its login does not leave the browser without the page that says so.
    @Test func theLastPageIsServedBeforeTheEnd() async throws {
        let listener = try RedirectListener(RedirectAddress(host: .ipv4, port: 0))
        let port = listener.address.port, host = [("Host", "127.0.0.1:\(port)")]
        listener.handler.expect(Self.accepts)
        let connection = try PlainConnection(port: port)
        try connection.send("GET", "/callback?state=s1", headers: host)
        #expect(try connection.response().status == 303)
        async let end: Void = listener.close()
        try connection.send("GET", "/done", headers: host)
        #expect(try connection.response().text.contains("You can close it now"))
        await end
        #expect(throws: (any Error).self) { try PlainConnection(port: port) }
    }

    // MARK: Ports

    @Test func aBusyPortIsAnErrorBeforeAnyPageIsShown() async throws {
        let listener = try RedirectListener(RedirectAddress(host: .ipv4, port: 0))
        let port = listener.address.port
        let (user, browser) = Self.user(port: port) { _ in }
        for uri in [nil, listener.address.uri] {
            let error = await #expect(throws: AuthorizationError.self) { _ = try await user.open(uri) }
            #expect(error?.kind == .usage)
            #expect(
                error?.message
                    == "cannot wait for the browser on port \(port): the login did not begin")
        }
        #expect(browser.value == nil)
        await listener.end()
    }

    @Test func theRegisteredRedirectIsUsedAgain() async throws {
        let (user, _) = Self.user { _ in }
        let first = try await user.open(nil)
        await first.close()
        let second = try await user.open(first.redirectURI)
        #expect(second.redirectURI == first.redirectURI)
        await second.close()
    }

    @Test(arguments: [
        "https://app.example/callback", "http://127.0.0.1:99999/callback", "http://192.0.2.1:80/callback",
        "http://127.0.0.1:80@evil.example/callback", "http://[::1]:80/callback", "myapp:/callback",
    ])
    func aRedirectElsewhereIsRefused(_ uri: String) async throws {
        let (user, _) = Self.user { _ in }
        let error = await #expect(throws: AuthorizationError.self) { _ = try await user.open(uri) }
        #expect(error?.kind == .usage)
    }

    @Test func aRegisteredRedirectWithoutPortTakesAnyPort() throws {
        func address(_ uri: String, _ host: CallbackHost, _ port: UInt16) -> RedirectAddress? {
            RedirectAddress(registered: uri, wanted: RedirectAddress(host: host, port: port))
        }
        #expect(
            address("http://127.0.0.1/cb", .ipv4, 0) == RedirectAddress(host: .ipv4, port: 0, path: "/cb"))
        #expect(address("http://localhost:81/cb", .ipv4, 82) == nil)
        #expect(address("http://127.0.0.1:81/cb", .localhost, 0) == nil)
        #expect(address("http://localhost:81/cb", .ipv4, 0)?.host == .localhost)
    }

    // MARK: A redirect and a pasted address

    private static func lines(_ lines: [String?], _ gate: Gate? = nil) -> AuthorizationUser.LineReader {
        let rest = Mutexed(lines)
        return {
            await gate?.wait()
            if rest.value.isEmpty {
                await Gate().wait()
                return nil
            }
            let line = rest.value[0]
            rest.value.removeFirst()
            return line
        }
    }

    @Test func aPastedAddressWins() async throws {
        let notices = Mutexed<[String]>([])
        let port = try freePort()
        let uri = "http://127.0.0.1:\(port)/callback"
        let user = AuthorizationUser.browser(
            port: port,
            readLine: Self.lines([
                "", "y", "http://127.0.0.1:1/callback?state=s1", "\(uri)?state=s2",
                " \(uri)?code=c&state=s1\n",
            ]), notice: { text in notices.value.append(text) }, show: { _, _ in })
        let visit = try await user.open(nil)
        #expect(
            try await visit.redirect(from: Self.page, accepts: Self.accepts) == "\(uri)?code=c&state=s1")
        #expect(
            notices.value == [
                "this is not an address that begins with \(uri)?",
                "this is not an address that begins with \(uri)?",
                "this address does not belong to this login",
            ])
        await visit.close()
    }

    @Test func theRedirectWinsOverALineThatComesLater() async throws {
        let gate = Gate()
        let (user, browser) = (Mutexed<AuthorizationUser?>(nil), Mutexed<Task<Int, any Error>?>(nil))
        user.value = .browser(
            readLine: Self.lines(["http://127.0.0.1/callback?state=s1"], gate),
            show: { _, uri in
                browser.value = Task {
                    let port = try Self.port(uri)
                    return try await PlainHTTP.send("GET", "/callback?code=listener&state=s1", port: port)
                        .status
                }
            })
        let visit = try #require(try await user.value?.open(nil))
        let url = try await visit.redirect(from: Self.page, accepts: Self.accepts)
        #expect(url.contains("code=listener"))
        #expect(try await browser.value?.value == 303)
        gate.open()
        await visit.close()
    }

    @Test func theEndOfTheInputEndsAPastedLoginOnly() async throws {
        let paste = AuthorizationUser.paste(
            redirectURI: "http://127.0.0.1:9/callback", readLine: { nil }, show: { _, _ in })
        let visit = try await paste.open(nil)
        let error = await #expect(throws: AuthorizationError.self) {
            try await visit.redirect(from: Self.page, accepts: Self.accepts)
        }
        #expect(error?.kind == .cancelled)

        let browser = AuthorizationUser.browser(
            readLine: { nil },
            show: { _, uri in
                Task {
                    try await PlainHTTP.send("GET", "/callback?state=s1", port: try Self.port(uri))
                }
            })
        let other = try await browser.open(nil)
        _ = try await other.redirect(from: Self.page, accepts: Self.accepts)
        await other.close()
    }

    // MARK: Several ports

    // AUTH-18
    @Test func theFirstPortThatIsFreeIsTaken() async throws {
        let busy = try RequestRecorder()
        defer { busy.stop() }
        let spare = try RequestRecorder()
        let free = spare.port
        spare.stop()
        let user = AuthorizationUser.browser(ports: [busy.port, free]) { _, _ in }
        let visit = try await user.open(nil)
        #expect(visit.redirectURI == "http://127.0.0.1:\(free)/callback")
        await visit.close()
        // A registered redirect URI has to be one of them, and one without a port takes any of them.
        for (registered, expected) in [
            ("http://127.0.0.1:\(free)/callback", "http://127.0.0.1:\(free)/callback"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:\(free)/cb"), ("http://127.0.0.1:1/callback", nil),
            ("http://127.0.0.1:\(busy.port)/callback", nil),
        ] as [(String, String?)] {
            let found = try? await user.open(registered)
            #expect(found?.redirectURI == expected)
            await found?.close()
        }
    }

    // MARK: Ends

    @Test func theLoginEndsInTime() async throws {
        let clock = ManualClock()
        let user = AuthorizationUser.browser(
            [RedirectAddress(host: .ipv4, port: 0)], readLine: nil, notice: { _ in }, show: { _, _ in },
            clock: clock)
        let visit = try await user.open(nil)
        let login = Task { try await visit.redirect(from: Self.page, accepts: Self.accepts) }
        #expect(await comesTrue { clock.scheduledCount == 1 })
        clock.advance(by: .seconds(300))
        let error = await #expect(throws: AuthorizationError.self) { try await login.value }
        #expect(error?.kind == .timedOut)
        #expect(
            error?.message
                == "nobody completed the login at https://id.example within 300 s; no token was requested")
        await visit.close()
    }

    @Test func aCancelledLoginFreesThePort() async throws {
        let (user, _) = Self.user { _ in }
        let visit = try await user.open(nil)
        let login = Task { try await visit.redirect(from: Self.page, accepts: Self.accepts) }
        login.cancel()
        let error = await #expect(throws: AuthorizationError.self) { try await login.value }
        #expect(error?.kind == .cancelled)
        await visit.close()
        let again = try await user.open(visit.redirectURI)
        await again.close()
    }

    // MARK: Pages

    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "-x", "$(touch x)", "https://", "https:///x",
        "http://id.example/authorize", "https://user@id.example/a", "https://id.example/a b",
        "https://id.example/\u{7}", "https://id.example/\u{e9}", "ftp://id.example/", "http://10.0.0.1/",
        "http://localhost.example/", "http://127.0.0.1.example/", "data:text/html,x", "",
        "https://id.example/\n-x", "http://127.0.0.1@evil.example/",
    ])
    func otherPagesAreNotShown(_ url: String) async throws {
        let isShown = Mutexed(false)
        let user = AuthorizationUser.browser { _, _ in isShown.value = true }
        let visit = try await user.open(nil)
        let page = AuthorizationUser.Page(url: url, issuer: "https://id.example", timeout: .seconds(300))
        let error = await #expect(throws: AuthorizationError.self) {
            try await visit.redirect(from: page, accepts: Self.accepts)
        }
        #expect(error?.kind == .malformed)
        #expect(!isShown.value)
        await visit.close()
    }

    @Test(arguments: [
        "https://id.example/authorize?a=b", "HTTPS://id.example:8443/", "http://127.0.0.1:80/a",
        "http://localhost/a", "http://[::1]:8080/a",
    ])
    func pagesOfAuthorizationServersAreShown(_ url: String) {
        #expect(AuthorizationUser.Page(url: url, issuer: "", timeout: .zero).problem == nil)
    }
}
