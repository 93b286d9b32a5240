import Dispatch
import MCPCore
import Synchronization

/// The authorization of the daemon's callers, and the tokens that it makes itself.
final class AccessControl: Sendable {
    let authorization: ServerAuthorization
    private let tokens: StaticTokens
    private let file: TokenFile?
    private let log: Log
    private let watch = Mutex<DirectoryWatch?>(nil)
    private struct Failures {
        /// How often the file of the tokens could not be read in a row.
        var count = 0
        /// Whether another attempt is to come.
        var isScheduled = false
        /// Why the file could not be read the last time; nil if it could be.
        var reason: String?
    }

    private let failures = Mutex(Failures())
    private static let queue = DispatchQueue(label: "mcp.tokens")

    /// - Parameters:
    ///   - addresses: the addresses to listen on.
    ///   - isAudited: whether an audit log records the calls, so that the log need not.
    init(
        _ settings: AuthSettings, addresses: [ConfiguredAddress], environment: [String: String],
        isAudited: Bool, log: Log
    ) throws(Failure) {
        self.log = log
        file = settings.tokens.map { TokenFile($0) }
        do throws(TokenFile.Failure) {
            let records = try file?.read() ?? []
            do { tokens = try StaticTokens(records) } catch { throw .init(text: "\(error)") }
        } catch {
            throw Failure(text: "auth.tokens: \(error.text)")
        }
        let resource = try Self.resource(settings, addresses)
        var verifiers: [any TokenVerifier] = settings.tokens == nil ? [] : [tokens]
        let allowed = Self.allowedHosts(environment)
        for issuer in settings.issuers {
            do { verifiers.append(try Self.verifier(issuer, allowed, log)) } catch {
                throw Failure(text: "auth.jwt: the tokens of \(issuer.name) cannot be verified: \(error)")
            }
        }
        if let introspection = settings.introspection {
            verifiers.append(Self.verifier(introspection, allowed, log))
        }
        do {
            var authorization = try ServerAuthorization(
                resource: resource, authorizationServers: settings.authorizationServers,
                verifier: FirstVerifier(verifiers), requiredScopes: settings.required,
                impliedScopes: settings.impliedScopes, rules: settings.rules, peers: settings.peers,
                rate: settings.rate
            ) { event in Self.report(event, log) }
            authorization.reportsAllowedAccess = !isAudited && log.isEnabled(.debug)
            self.authorization = authorization
        } catch {
            throw Failure(text: "auth: \(error)")
        }
    }

    /// The reason why callers cannot be authorized.
    struct Failure: Error, CustomStringConvertible {
        var text: String
        var description: String { text }
    }

    // MARK: Parts

    /// Returns the canonical URI. Only the loopback interface has one that need not be configured: there,
    /// nobody can be led to another host.
    private static func resource(
        _ settings: AuthSettings, _ addresses: [ConfiguredAddress]
    ) throws(Failure) -> String {
        if let resource = settings.resource { return resource }
        for case .tcp(let host, let port) in addresses {
            if port == 0, !settings.authorizationServers.isEmpty {
                throw Failure(
                    text:
                        "auth.resource is missing: the port is not known before the start, and clients need "
                        + "the address in the metadata")
            }
            guard ConfiguredAddress.tcp(host: host, port: port).isLoopback,
                host == "127.0.0.1" || host == "::1"
            else { continue }
            return ConfiguredAddress.tcp(host: host, port: port).shown
        }
        return "http://localhost/mcp"
    }

    private static func verifier(
        _ issuer: AuthSettings.Issuer, _ allowedHosts: Set<String>, _ log: Log
    ) throws -> any TokenVerifier {
        let options = JWTVerifier.Options(
            audiences: issuer.audiences, algorithms: Set(issuer.algorithms), skew: issuer.skew,
            strictType: issuer.strictType
        ) { error in
            log.warning("issuer failing", ["issuer": issuer.name, "error": "\(error)"])
        }
        switch issuer.keys {
        case .text(let text): return try JWTVerifier(issuer: issuer.name, keys: text, options: options)
        case .discovered, .url:
            let keys = issuer.fetchedKeys(allowedHosts)
            return try JWTVerifier(
                issuer: issuer.name, options: options, fetching: { try await keys.fetchKept() })
        }
    }

    private static func verifier(
        _ settings: AuthSettings.Introspection, _ allowedHosts: Set<String>, _ log: Log
    ) -> any TokenVerifier {
        settings.verifier(allowedHosts) { error in
            log.warning("issuer failing", ["issuer": settings.issuer, "error": error.message])
        }
    }

    /// The hosts that may be reached at any address and over plain http (`MCP_AUTH_ALLOW`).
    static func allowedHosts(_ environment: [String: String]) -> Set<String> {
        Set((environment["MCP_AUTH_ALLOW"] ?? "").split(separator: ",").map { String($0) })
    }

    /// Writes a line for each decision: a line for each call that is allowed would cost more than the call,
    /// so it is one for debugging. It names the caller and the id of the token, never the token.
    private static func report(_ event: AccessEvent, _ log: Log) {
        if event.isAllowed {
            log.debug("access allowed", fields(of: event))
        } else {
            log.info("access denied", fields(of: event))
        }
    }

    private static func fields(of event: AccessEvent) -> Log.Fields {
        [
            "principal": event.principal.map { "\($0.kind.rawValue):\($0.subject)" } ?? "-",
            "jti": event.tokenID ?? "-", "method": event.method ?? "-", "name": event.name ?? "-",
            "reason": event.reason ?? "-",
        ]
    }

    // MARK: Changes

    /// The number of tokens, and why their file could not be read the last time; nil without a file.
    var tokenStatus: (count: Int, failure: String?)? {
        file == nil ? nil : (tokens.records.count, failures.withLock { $0.reason })
    }

    /// Reads the file of the tokens again. If it cannot be used, the tokens stay as they are.
    func reloadTokens() {
        guard let file else { return }
        do throws(TokenFile.Failure) {
            let records = try file.read()
            let isNew = records != tokens.records
            if isNew { do { try tokens.replaceAll(with: records) } catch { throw .init(text: "\(error)") } }
            let hadFailed = failures.withLock { failures in
                defer { (failures.count, failures.reason) = (0, nil) }
                return failures.reason != nil
            }
            // The last word must not be an error that is over.
            if isNew || hadFailed { log.info("tokens reloaded", ["tokens": records.count]) }
        } catch {
            failures.withLock { $0.reason = error.text }
            log.error("tokens not reloaded", ["error": error.text])
            tryAgain()
        }
    }

    /// The pauses between attempts to read a file that could not be read.
    private static let pauses: [Duration] = [
        .seconds(1), .seconds(2), .seconds(5), .seconds(15), .seconds(60),
    ]

    /// Reads the file again soon, and until that succeeds: nothing else may happen to it, and the tokens that
    /// it revokes would stay valid.
    private func tryAgain() {
        let pause = failures.withLock { failures -> Duration? in
            guard !failures.isScheduled else { return nil }
            failures.isScheduled = true
            defer { failures.count += 1 }
            return Self.pauses[min(failures.count, Self.pauses.count - 1)]
        }
        guard let pause else { return }
        Self.queue.asyncAfter(deadline: .now() + pause.dispatchInterval) { [weak self] in
            self?.failures.withLock { $0.isScheduled = false }
            self?.reloadTokens()
        }
    }

    /// Starts to watch the file of the tokens.
    func start() {
        guard let file else { return }
        // A symbolic link is watched where its file is.
        let path = (try? file.target()) ?? file.path
        let name = Paths.components(path).last ?? path
        let interest = DirectoryWatch.Interest(
            files: { $0 == name }, directories: { _ in false }, permissions: true)
        do throws(IOError) {
            let made = try DirectoryWatch(Paths.parent(of: path), interest) { [weak self] _ in
                self?.reloadTokens()
            }
            watch.withLock { $0 = made }
        } catch {
            log.warning(
                "not watched", ["of": "tokens", "error": error, "text": "SIGHUP reads them again"])
        }
    }
}

extension AuthSettings.Issuer {
    /// The source of the keys of an issuer whose keys are not in a file.
    func fetchedKeys(_ allowedHosts: Set<String>) -> IssuerKeys {
        if case .url(let url) = keys { return IssuerKeys(issuer: name, at: url, allowedHosts: allowedHosts) }
        return IssuerKeys(issuer: name, allowedHosts: allowedHosts)
    }
}

extension AuthSettings.Introspection {
    func verifier(
        _ allowedHosts: Set<String>, onFailure: (@Sendable (AuthorizationError) -> Void)? = nil
    ) -> IntrospectionVerifier {
        IntrospectionVerifier(
            issuer: issuer, endpoint: endpoint, clientID: clientID, clientSecret: secret.value,
            options: IntrospectionVerifier.Options(requiresAudience: !serverScoped, onFailure: onFailure),
            http: HTTPFetcher(for: endpoint ?? issuer, allowedHosts: allowedHosts))
    }
}
