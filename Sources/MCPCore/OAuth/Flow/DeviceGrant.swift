import Dispatch

/// The grant for a login on another device (RFC 8628).
struct DeviceGrant: Sendable {
    static let type = "urn:ietf:params:oauth:grant-type:device_code"
    /// The time between two requests unless the authorization server names another one, and the time that
    /// `slow_down` adds to it, in seconds.
    static let interval: Int64 = 5
    /// The longest interval and the longest lifetime of a code that are obeyed, in seconds.
    static let maxSeconds: Int64 = 3_600

    let flow: OAuthFlow
    let target: OAuthFlow.Target
    let show: (@Sendable (OAuthSettings.DeviceCode) async -> Void)?

    private var metadata: AuthorizationServerMetadata { target.metadata }

    /// Shows a code, waits until it was entered and stores the tokens.
    func run() async throws(AuthorizationError) -> StoredAuthorization {
        guard let endpoint = metadata.deviceAuthorizationEndpoint else {
            throw AuthorizationError(
                .tokenRefused, "\(metadata.issuer) has no device_authorization_endpoint",
                hint: "log in with a browser")
        }
        guard let show else { throw flow.loginRequired(target) }
        let client = try await client()
        let tokens = TokenEndpoint(
            metadata: metadata, identity: client.identity, key: flow.settings.clientKey, http: flow.http,
            now: flow.clock.wallTime, dpop: target.dpop)
        var form: [(name: String, value: String)] = []
        if let scopes = target.scopes, !scopes.isEmpty {
            form.append(("scope", scopes.joined(separator: " ")))
        }
        if let resource = target.resource { form.append(("resource", resource)) }
        let response = try await tokens.send(form, to: endpoint)
        guard response.status == 200, let members = response.object,
            let code = members["device_code"]?.stringValue,
            let shown = deviceCode(members)
        else {
            throw try await refused(response, client.refusal)
        }
        await show(shown)
        let interval = members["interval"]?.int64Value ?? Self.interval
        return try await poll(
            code, tokens, every: max(1, min(interval, Self.maxSeconds)), for: shown.lifetime)
    }

    private func refused(
        _ response: OAuthHTTPResponse, _ refusal: String?
    ) async throws(AuthorizationError) -> AuthorizationError {
        let code = response.object?["error"]?.stringValue
        let reason = TokenEndpoint.text(code ?? "HTTP \(response.status)", response.object)
        var error = AuthorizationError(
            .tokenRefused, "\(metadata.issuer) did not issue a device code: \(reason)")
        error.refusal = code
        if error.refusesScopes, refusal == nil { try await flow.markDoubtful(target) }
        return flow.explain(error, about: target, refusal)
    }

    private func client() async throws(AuthorizationError) -> DynamicRegistration.Outcome {
        let stored = try await flow.store.read(target.key)
        let known = flow.settings.identity(at: metadata, stored, now: flow.clock.wallTime)
        // A registration with a redirect URI is for the other grant with a user.
        let isGood = known?.redirectURI == nil && stored?.isDoubtful != true
        if let known, !flow.settings.isAutomatic || isGood && known.covers(target.scopes) {
            return DynamicRegistration.Outcome(identity: known, refusal: nil)
        }
        return try await flow.register(for: target, redirectURI: nil)
    }

    private func deviceCode(_ members: JSONObject) -> OAuthSettings.DeviceCode? {
        guard let code = members["user_code"]?.stringValue, (1 ... 64).contains(code.utf8.count),
            code.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }),
            let page = members["verification_uri"]?.stringValue, AuthorizationRequest.isPage(page),
            let seconds = members["expires_in"]?.int64Value, seconds > 0
        else { return nil }
        let complete = members["verification_uri_complete"]?.stringValue.flatMap {
            AuthorizationRequest.isPage($0) ? $0 : nil
        }
        return OAuthSettings.DeviceCode(
            userCode: code, page: page, completePage: complete, issuer: metadata.issuer,
            lifetime: .seconds(min(seconds, Self.maxSeconds)))
    }

    private func poll(
        _ code: String, _ tokens: TokenEndpoint, every interval: Int64, for lifetime: Duration
    ) async throws(AuthorizationError) -> StoredAuthorization {
        let end = flow.clock.now + min(lifetime, flow.settings.loginTimeout)
        var interval = interval
        let form = [(name: "grant_type", value: Self.type), (name: "device_code", value: code)]
        while true {
            try await wait(min(.seconds(interval), end - flow.clock.now))
            guard flow.clock.now < end else { break }
            // The limit of requests is for discovery; the time limits these.
            let endpoint = TokenEndpoint(
                metadata: metadata, identity: tokens.identity, key: tokens.key, http: flow.pollingHTTP,
                now: flow.clock.wallTime, dpop: tokens.dpop)
            do throws(TokenEndpoint.Failure) {
                let response = try await endpoint.request(form)
                return try await kept(response, of: tokens.identity)
            } catch {
                switch error {
                case .refused(code: "authorization_pending", _): continue
                case .refused(code: "slow_down", _): interval = min(interval + Self.interval, Self.maxSeconds)
                case .refused(code: "expired_token", _): throw expired
                default: throw error.error
                }
            }
        }
        throw expired
    }

    private var expired: AuthorizationError {
        AuthorizationError(.timedOut, "nobody entered the code for \(metadata.issuer) in time")
    }

    private func kept(
        _ response: TokenEndpoint.Response, of identity: OAuthClientIdentity
    ) async throws(TokenEndpoint.Failure) -> StoredAuthorization {
        do throws(AuthorizationError) {
            return try await flow.keep(response, for: target, of: identity)
        } catch {
            throw .failed(error)
        }
    }

    private func wait(_ pause: Duration) async throws(AuthorizationError) {
        let event = OneShot<Bool>()
        flow.clock.schedule(at: flow.clock.now + pause, on: .global()) { event.finish(true) }
        guard await event.value(ifCancelled: false) else {
            throw AuthorizationError(.cancelled, "the login was cancelled")
        }
    }
}
