import Dispatch
import Synchronization

/// A listener on this machine to which an authorization server sends the browser (RFC 8252, section 7.3).
///
/// It listens from its creation to `close`.
final class RedirectListener: Sendable {
    let address: RedirectAddress
    let handler: RedirectHandler

    private let servers: [HTTPServer]
    private let clock: any TimeSource
    private let isClosing = Atomic(false)
    private let hasEnded = OneTimeEvent()

    /// The largest size of the header fields of a request, and of its address.
    static let maxHeadBytes = 16 << 10
    /// The largest number of connections at a time.
    static let maxConnections = 16
    /// The longest time for the head of a request.
    static let headTimeout: Duration = .seconds(5)
    /// The longest time for the browser to fetch the last page.
    static let pageTimeout: Duration = .seconds(1)

    /// Begins to listen.
    ///
    /// - Throws: `AuthorizationError` of the kind `.usage` when the port is in use.
    init(_ wanted: RedirectAddress, clock: any TimeSource = SystemClock()) throws(AuthorizationError) {
        self.clock = clock
        do throws(ListenError) {
            let (servers, port) = try Self.open(wanted)
            var address = wanted
            address.port = port
            let handler = RedirectHandler(address)
            for server in servers { try server.start(handler) }
            (self.servers, self.address, self.handler) = (servers, address, handler)
        } catch {
            let port = wanted.port == 0 ? "" : " on port \(wanted.port)"
            throw AuthorizationError(
                .usage, "cannot wait for the browser\(port): the login did not begin",
                details: [error.description],
                hint: wanted.port == 0
                    ? nil : "end the program that uses the port, or choose another port",
                remedy: wanted.port == 0 ? nil : .callbackPort)
        }
    }

    /// Begins to listen at the first of the addresses that is free.
    ///
    /// - Throws: the error about the last one.
    static func first(
        of addresses: [RedirectAddress], clock: any TimeSource
    ) throws(AuthorizationError) -> RedirectListener {
        for address in addresses.dropLast() {
            do throws(AuthorizationError) {
                return try RedirectListener(address, clock: clock)
            } catch { continue }
        }
        return try RedirectListener(addresses[addresses.count - 1], clock: clock)
    }

    deinit { beginToClose() }

    private static func open(_ address: RedirectAddress) throws(ListenError) -> ([HTTPServer], UInt16) {
        // For any port, the one that the system assigns at 127.0.0.1 may be taken at ::1.
        for _ in 0 ..< 8 {
            let first = try server(.tcp(port: address.port))
            let port = first.addresses.first?.port ?? address.port
            guard address.host == .localhost, hasIPv6 else { return ([first], port) }
            do throws(ListenError) {
                return ([first, try server(.tcp(host: "::1", port: port))], port)
            } catch {
                if address.port != 0 { throw error }
            }
        }
        throw ListenError("no port is free at both 127.0.0.1 and [::1]")
    }

    static var options: HTTPServerOptions {
        var options = HTTPServerOptions()
        options.limits = HTTPLimits(
            maxRequestLineBytes: maxHeadBytes, maxHeaderBytes: maxHeadBytes, maxBodyBytes: maxHeadBytes)
        options.maxConnections = maxConnections
        options.headTimeout = headTimeout
        // Browsers open connections before they need them, and strangers to keep the browser out.
        options.idleTimeout = headTimeout
        options.bodyTimeout = headTimeout
        options.drainTimeout = pageTimeout
        options.loops = 1
        return options
    }

    private static func server(_ address: ListenAddress) throws(ListenError) -> HTTPServer {
        // The handler checks the host with its port. A browser may come from a page without an origin.
        let policy = AccessPolicy(hosts: .any, origins: OriginPolicy(allowed: ["null"]))
        return try HTTPServer(on: [address], policy: policy, options: options)
    }

    private static var hasIPv6: Bool {
        guard let any = SocketAddress(numeric: "::1", port: 0) else { return false }
        do throws(ListenError) {
            _ = try ListenSocket.tcp(any)
            return true
        } catch { return false }
    }

    /// Stops listening, after the browser has fetched the last page or one second.
    func close() async {
        beginToClose()
        await hasEnded.wait()
    }

    private func beginToClose() {
        if isClosing.exchange(true, ordering: .acquiringAndReleasing) { return }
        let (handler, servers, hasEnded) = (handler, servers, hasEnded)
        if handler.isTaken {
            clock.schedule(at: clock.now + Self.pageTimeout, on: .global()) { handler.isDone.happen() }
        } else {
            handler.isDone.happen()
        }
        Task.detached {
            await handler.isDone.wait()
            for server in servers { await server.stop() }
            hasEnded.happen()
        }
    }

    /// Stops listening at once.
    func end() async {
        handler.isDone.happen()
        await close()
    }
}
