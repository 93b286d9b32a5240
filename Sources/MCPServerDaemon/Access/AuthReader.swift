import MCPCore

/// Reads `auth` of the configuration.
struct AuthReader {
    let context: ConfigContext

    func read(_ reader: ObjectReader) -> AuthSettings {
        var reader = reader
        var settings = AuthSettings()
        settings.resource = reader.string("resource")
        settings.authorizationServers = reader.strings("authorizationServers") ?? []
        settings.required = reader.strings("required") ?? []
        if let scopes = reader.object("scopes") { settings.scopes = readScopes(scopes) }
        settings.anonymous = reader.strings("anonymous") ?? []
        checkPatterns(settings.anonymous, "anonymous", reader)
        settings.rate = reader.rate("rate")
        if let peers = reader.node("peers") { settings.peers = PeersReader(context: context).read(peers) }
        settings.tokens = tokensFile(&reader)
        let own = reader.object("jwt").map { readIssuers($0, settings.authorizationServers) } ?? []
        if let introspection = reader.object("introspection") {
            settings.introspection = readIntrospection(introspection, settings.authorizationServers)
        }
        settings.issuers =
            own
            + settings.authorizationServers.filter { issuer in
                !own.contains { $0.name == issuer } && settings.introspection?.issuer != issuer
            }.map { AuthSettings.Issuer(name: $0) }
        check(settings, reader)
        checkTokens(settings, reader)
        reader.finish()
        return settings
    }

    /// Lets the library check the parts that belong together.
    private func check(_ settings: AuthSettings, _ reader: ObjectReader) {
        if settings.tokens == nil, settings.authorizationServers.isEmpty, settings.peers.isEmpty {
            context.diagnostics.error(
                "auth accepts no token and no user: name a file for tokens of this server with \"tokens\", "
                    + "the issuers of tokens with \"authorizationServers\", or users of this machine with "
                    + "\"peers\"", at: reader.position)
        }
        do throws(ServerAuthorizationError) {
            _ = try ServerAuthorization(
                resource: settings.resource ?? "http://localhost/mcp",
                authorizationServers: settings.authorizationServers, verifier: FirstVerifier(),
                requiredScopes: settings.required, impliedScopes: settings.impliedScopes,
                rules: settings.rules, peers: settings.peers)
        } catch {
            let key =
                switch error {
                case .badResource: "resource"
                case .badIssuer: "authorizationServers"
                case .badScope(let scope): settings.required.contains(scope) ? "required" : "scopes"
                }
            context.diagnostics.error("auth.\(key): \(error)", at: reader.place(of: key))
        }
    }

    // MARK: Scopes

    private func readScopes(_ reader: ObjectReader) -> [AuthSettings.Scope] {
        var reader = reader
        var scopes: [AuthSettings.Scope] = []
        for name in reader.members.map(\.key) {
            guard var scope = reader.object(name) else { continue }
            let read = AuthSettings.Scope(
                name: name, allow: scope.strings("allow") ?? [], implies: scope.strings("implies") ?? [])
            checkPatterns(read.allow, "allow", scope)
            if read.allow.isEmpty, read.implies.isEmpty {
                context.diagnostics.warning(
                    "\(scope.path) allows nothing: add \"allow\": [\"NAME\"] or \"implies\"",
                    at: scope.position)
            }
            scope.finish()
            scopes.append(read)
        }
        return scopes
    }

    private func checkPatterns(_ patterns: [String], _ key: String, _ reader: ObjectReader) {
        reader.checkPatterns(patterns, of: key)
    }

    // MARK: Tokens

    private func tokensFile(_ reader: inout ObjectReader) -> String? {
        guard let path = reader.string("tokens").map(context.absolute) else { return nil }
        do throws(TokenFile.Failure) {
            _ = try TokenFile(path, isInspected: context.isInspected).read()
        } catch {
            context.diagnostics.error("auth.tokens: \(error.text)", at: reader.place(of: "tokens"))
        }
        return path
    }

    /// Warns of tokens that can do less than their owner thinks.
    private func checkTokens(_ settings: AuthSettings, _ reader: ObjectReader) {
        guard let path = settings.tokens else { return }
        let file = TokenFile(path, isInspected: context.isInspected)
        guard let records = try? file.read() else { return }
        let place = reader.place(of: "tokens")
        if records.isEmpty {
            let isOnly =
                settings.authorizationServers.isEmpty && settings.peers.isEmpty && settings.anonymous.isEmpty
            context.diagnostics.warning(
                "auth.tokens: \(path) " + (file.exists ? "has no token" : "does not exist")
                    + (isOnly ? ", and nothing else lets anyone in" : "")
                    + ": mcp-server token new NAME --allow PATTERN makes one", at: place)
        }
        let now = SystemClock().wallTime.secondsSinceEpoch
        for record in records {
            if let end = record.expiresAt, end <= now {
                let time = WallTime(secondsSinceEpoch: end).minute
                context.diagnostics.warning(
                    "auth.tokens: the token \(record.name) expired at \(time): make another one, or "
                        + "revoke it", at: place)
            }
            for text in settings.doubts(about: record) {
                context.diagnostics.warning("auth.tokens: \(text)", at: place)
            }
        }
    }

    // MARK: Issuers

    private func readIssuers(_ reader: ObjectReader, _ listed: [String]) -> [AuthSettings.Issuer] {
        var reader = reader
        var issuers: [AuthSettings.Issuer] = []
        for (name, position) in reader.members.map({ ($0.key, $0.keyPosition) }) {
            if !listed.contains(name) {
                context.diagnostics.error(
                    "auth.jwt: \"\(name)\" is not in auth.authorizationServers"
                        + Suggestion.hint(for: name, among: listed), at: position)
            }
            if let issuer = reader.object(name) { issuers.append(readIssuer(issuer, name)) }
        }
        return issuers
    }

    private func readIssuer(_ reader: ObjectReader, _ name: String) -> AuthSettings.Issuer {
        var reader = reader
        var issuer = AuthSettings.Issuer(name: name)
        issuer.audiences = reader.strings("audiences") ?? []
        if let names = reader.strings("algorithms") {
            issuer.algorithms = names.compactMap { algorithm(named: $0, reader) }
            if names.isEmpty {
                context.diagnostics.error(
                    "\(reader.pathOf("algorithms")) has no algorithm; leave it out for all of them",
                    at: reader.place(of: "algorithms"))
            }
        }
        if let skew = reader.duration("skew") {
            if skew > .seconds(300) {
                context.diagnostics.error(
                    "\(reader.pathOf("skew")) must be at most 5m", at: reader.place(of: "skew"))
            }
            issuer.skew = skew
        }
        issuer.strictType = reader.bool("strictType") ?? false
        if let keys = reader.string("jwks") { issuer.keys = self.keys(keys, reader) }
        reader.finish()
        return issuer
    }

    private func algorithm(named name: String, _ reader: ObjectReader) -> SignatureAlgorithm? {
        if let algorithm = SignatureAlgorithm(rawValue: name) { return algorithm }
        let names = SignatureAlgorithm.allCases.map(\.rawValue)
        context.diagnostics.error(
            "\(reader.pathOf("algorithms")): \"\(name)\" is not one of \(names.joined(separator: ", "))"
                + Suggestion.hint(for: name, among: names), at: reader.place(of: "algorithms"))
        return nil
    }

    /// Reads the keys of an issuer: an https URL, or the name of a file.
    private func keys(_ text: String, _ reader: ObjectReader) -> AuthSettings.Issuer.Keys {
        let place = reader.place(of: "jwks")
        if text.contains("://") {
            if !text.hasPrefix("https://"), !isLocal(text) {
                context.diagnostics.error(
                    "\(reader.pathOf("jwks")) must be an https URL or the name of a file", at: place)
            }
            return .url(text)
        }
        do throws(ConfigFileError) {
            let keys = try context.readText(text)
            if (try? JSONValue(parsing: keys))?["keys"]?.arrayValue == nil {
                context.diagnostics.error(
                    "\(reader.pathOf("jwks")): \(text) is not a JWK set: {\"keys\": […]}", at: place)
            }
            return .text(keys)
        } catch {
            context.diagnostics.error("\(reader.pathOf("jwks")): \(error.text)", at: place)
            return .discovered
        }
    }

    private func isLocal(_ url: String) -> Bool {
        ["http://127.0.0.1", "http://[::1]", "http://localhost"].contains { start in
            guard let rest = url.dropping(prefix: start) else { return false }
            return rest.first == ":" || rest.first == "/"
        }
    }

    // MARK: Introspection

    private func readIntrospection(
        _ reader: ObjectReader, _ listed: [String]
    ) -> AuthSettings.Introspection? {
        var reader = reader
        let issuer = reader.string("issuer") ?? (listed.count == 1 ? listed[0] : nil)
        let endpoint = reader.string("endpoint")
        let (id, secret) = (reader.string("clientId"), reader.string("clientSecret"))
        let audience = reader.string("audience")
        if let audience, audience != "server-scoped" {
            context.diagnostics.error(
                "auth.introspection.audience can only be \"server-scoped\": the authorization server answers "
                    + "for this server only", at: reader.place(of: "audience"))
        }
        reader.finish()
        guard let issuer, listed.contains(issuer) else {
            context.diagnostics.error(
                "auth.introspection.issuer must be one of auth.authorizationServers",
                at: reader.place(of: "issuer"))
            return nil
        }
        guard let id, let secret else {
            context.diagnostics.error(
                "auth.introspection needs \"clientId\" and \"clientSecret\": "
                    + "the credentials of this server at \(issuer)", at: reader.position)
            return nil
        }
        return AuthSettings.Introspection(
            issuer: issuer, endpoint: endpoint, clientID: id, secret: Redacted(secret),
            serverScoped: audience != nil)
    }
}
