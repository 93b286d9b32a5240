import MCPCore

#if os(macOS) && canImport(MCPFoundation)
import MCPFoundation
#endif

/// The logins that the flags, the environment and the store describe.
struct Logins: Sendable {
    let environment: CommandEnvironment
    let options: Options

    /// Returns the authorizer for a server; nil for a program and a socket, and when the flags contain
    /// credentials.
    func authorizer(for target: Target) async throws(Failure) -> OAuthAuthorizer? {
        guard case .http(let url) = target, !options.hasCredentials else { return nil }
        // Without a place for logins there are none.
        let store =
            (try? FileTokenStore.named(options.auth.store, environment.variable)) ?? MemoryTokenStore()
        let settings = try await flags(for: url, in: store).settings()
        let authorizer = OAuthAuthorizer(
            for: url, settings: settings, store: store, http: http(for: url, settings))
        environment.openLogins.add(authorizer)
        return authorizer
    }

    /// Returns the authorizer of a command about logins.
    ///
    /// - Parameter person: the way to the person, and what shows the code of a device, for the grant that is
    ///   used.
    func authorizer(
        for url: String, person: ((AuthOptions.Grant) throws(Failure) -> LoginPerson)? = nil
    ) async throws(Failure) -> OAuthAuthorizer {
        let store = try store()
        let flags = try await flags(for: url, in: store)
        let person = try person?(flags.grant) ?? LoginPerson()
        let settings = try flags.settings(showing: person.showCode)
        let authorizer = OAuthAuthorizer(
            for: url, settings: settings, store: store, user: person.user, http: http(for: url, settings))
        environment.openLogins.add(authorizer)
        return authorizer
    }

    /// Returns the HTTP of all requests of a login, which trusts what the requests to the server trust.
    private func http(for url: String, _ settings: OAuthSettings) -> any OAuthHTTP {
        #if os(macOS) && canImport(MCPFoundation)
        // macOS has no OpenSSL.
        URLSessionOAuth()
        #else
        HTTPFetcher(
            for: url, allowedHosts: settings.allowedHosts,
            tls: options.trustFile.map { OpenSSLProvider(trustFile: $0) } ?? .system,
            connectTimeout: options.connectTimeout)
        #endif
    }

    /// Returns an authorizer that has no person and keeps nothing, with HTTP that `observing` makes.
    func doctor<HTTP: OAuthHTTP>(
        for url: String, observing: (any OAuthHTTP, _ server: String) -> HTTP
    ) throws(Failure) -> (OAuthAuthorizer, HTTP) {
        var flags = LoginFlags(environment: environment, options: options)
        flags.asksPerson()
        let settings = try flags.settings()
        let http = observing(http(for: url, settings), url)
        let authorizer = OAuthAuthorizer(
            for: url, settings: settings, store: MemoryTokenStore(), http: http)
        return (authorizer, http)
    }

    /// Returns the place of the logins.
    func store() throws(Failure) -> any TokenStore {
        do throws(AuthorizationError) {
            return try FileTokenStore.named(options.auth.store, environment.variable)
        } catch {
            throw failure(error)
        }
    }

    /// Returns the flags, completed by what the stored login of a server was made with.
    private func flags(for url: String, in store: any TokenStore) async throws(Failure) -> LoginFlags {
        var flags = LoginFlags(environment: environment, options: options)
        do throws(AuthorizationError) {
            if let key = try await store.key(forServer: OAuthAuthorizer.storeName(of: url)),
                flags.mayComplete(by: key)
            {
                flags.complete(by: key, try await store.read(key)?.notes)
            }
        } catch { throw failure(error) }
        return flags
    }

    private func failure(_ error: AuthorizationError) -> Failure {
        FailureMapping.authorization(error, status: nil, options, login: nil)
    }
}

/// How a login reaches a person.
struct LoginPerson: Sendable {
    var user: AuthorizationUser?
    var showCode: (@Sendable (OAuthSettings.DeviceCode) async -> Void)?
}

extension Options {
    /// Whether the flags contain credentials, which take the place of a login.
    var hasCredentials: Bool {
        bearerEnv != nil || bearerFile != nil || headers.contains { $0.name.lowercased() == "authorization" }
    }
}

extension Invocation {
    /// Whether requests to TARGET present the tokens of a login.
    var usesLogins: Bool {
        if case .http = target { !options.hasCredentials } else { false }
    }
}
