import MCPCore

/// Flags for logins (OAuth).
enum AuthFlag: Sendable, CaseIterable {
    case scope, clientID, clientSecretEnv, clientSecretFile, clientKey, metadataURL, issuer, resource, grant
    case assertionFile, idpTokenEndpoint, idTokenFile, idpClientID, idpSecretEnv, idpSecretFile, dpop
    case store, callbackPort, callbackHost, noBrowser, all, forget, show

    var row: FlagRow {
        switch self {
        case .scope: FlagRow("--scope", value: "S", summary: "a scope to ask for (repeatable)")
        case .clientID:
            FlagRow("--client-id", value: "ID", summary: "id of a client that was registered beforehand")
        case .clientSecretEnv:
            FlagRow("--client-secret-env", value: "VAR", summary: "its secret from an environment variable")
        case .clientSecretFile:
            FlagRow(
                "--client-secret-file", value: "FILE", reads: .whole, summary: "its secret from a file")
        case .clientKey:
            FlagRow(
                "--client-key", value: "FILE", reads: .whole,
                summary: "its private key (PEM) in place of a secret")
        case .metadataURL:
            FlagRow(
                "--client-metadata-url", value: "URL", summary: "the document that describes this client")
        case .issuer:
            FlagRow("--issuer", value: "URL", summary: "the authorization server, exactly as it calls itself")
        case .resource:
            FlagRow(
                "--resource", value: "URI|none", summary: "what tokens are asked for (the server's own URI)")
        case .grant:
            FlagRow(
                "--auth-grant", value: "GRANT",
                kind: .choices(AuthOptions.Grant.allCases.map(\.rawValue)),
                summary: "grant: code, client-credentials, jwt-bearer, enterprise or device (code)")
        case .assertionFile:
            FlagRow(
                "--assertion-file", value: "FILE", reads: .whole,
                summary: "the assertion (JWT) for jwt-bearer")
        case .idpTokenEndpoint:
            FlagRow(
                "--idp-token-endpoint", value: "URL",
                summary: "token endpoint of the identity provider for enterprise")
        case .idTokenFile:
            FlagRow(
                "--id-token-file", value: "FILE", reads: .whole,
                summary: "the ID token that it issued (JWT)")
        case .idpClientID:
            FlagRow("--idp-client-id", value: "ID", summary: "id of the client there (that of --client-id)")
        case .idpSecretEnv:
            FlagRow(
                "--idp-client-secret-env", value: "VAR",
                summary: "its secret there from an environment variable")
        case .idpSecretFile:
            FlagRow(
                "--idp-client-secret-file", value: "FILE", reads: .whole,
                summary: "its secret there from a file")
        case .dpop:
            FlagRow(
                "--dpop", value: "auto|always|never", summary: "whether tokens are bound to a key (auto)")
        case .store:
            FlagRow("--store", value: "DIR|memory", summary: "where logins are kept")
        case .callbackPort:
            FlagRow(
                "--callback-port", value: "PORT",
                summary: "port to which the browser returns (0: any; repeatable)")
        case .callbackHost:
            FlagRow(
                "--callback-host", value: "HOST", kind: .choices(["127.0.0.1", "localhost"]),
                summary: "127.0.0.1 or localhost (127.0.0.1)")
        case .noBrowser: FlagRow("--no-browser", summary: "print the address of the page, open nothing")
        case .all: FlagRow("--all", summary: "all servers")
        case .forget: FlagRow("--forget", summary: "also the registration of this client")
        case .show: FlagRow("--show", summary: "print the token even to a terminal")
        }
    }
}
