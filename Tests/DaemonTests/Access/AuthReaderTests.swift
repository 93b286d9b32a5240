import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct AuthReaderTests {
    private func load(_ text: String, in directory: String = "/tmp") -> ConfigurationLoader.Outcome {
        ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(name: "mcp.jsonc", text: text), directory: directory, Diagnostics())
    }

    @Test func readsEverything() throws {
        let directory = try TemporaryDirectory()
        try directory.write("keys.json", #"{"keys":[]}"#)
        let outcome = load(
            """
            { "tools": { "run": { "exec": ["true"] }, "rm": { "exec": ["true"] } },
              "listen": ["0.0.0.0:80"],
              "auth": {
                "resource": "https://mcp.example.com/mcp",
                "authorizationServers": ["https://a.example", "https://b.example", "https://c.example"],
                "required": ["mcp:use"],
                "scopes": { "all": { "allow": ["*"], "implies": ["some"] }, "some": { "allow": ["run"] } },
                "anonymous": ["run"],
                "tokens": "tokens.json",
                "jwt": {
                  "https://a.example": { "audiences": ["app"], "algorithms": ["ES256"], "skew": "1m",
                                         "strictType": true, "jwks": "keys.json" },
                  "https://b.example": { "jwks": "https://b.example/keys" }
                }
              } }
            """, in: directory.path)
        #expect(outcome.diagnostics.report == [])
        let auth = try #require(outcome.configuration.auth)
        #expect(auth.required == ["mcp:use"])
        #expect(auth.scopes.map(\.name) == ["all", "some"])
        #expect(auth.impliedScopes == ["all": ["some"]])
        #expect(auth.tokens == "\(directory.path)/tokens.json")
        #expect(auth.host == "mcp.example.com")
        #expect(
            auth.issuers == [
                .init(
                    name: "https://a.example", audiences: ["app"], algorithms: [.es256], skew: .seconds(60),
                    strictType: true, keys: .text(#"{"keys":[]}"#)),
                .init(name: "https://b.example", keys: .url("https://b.example/keys")),
                .init(name: "https://c.example"),
            ])
    }

    @Test func namesEachMistakeWithItsPlace() throws {
        let directory = try TemporaryDirectory()
        try directory.write("open.json", Array("{}".utf8), mode: 0o644)
        try directory.write("damaged.json", "{")
        // The configuration, and what is reported first.
        let rows: [(String, String)] = [
            (#"{"auth": {}}"#, "1:10: error: auth accepts no token: name a file"),
            (#"{"auth": {"tokens": "open.json"}}"#, "1:21: error: auth.tokens: "),
            (
                #"{"auth": {"tokens": "damaged.json"}}"#,
                "1:21: error: auth.tokens: \(directory.path)/damaged.json is damaged"
            ),
            (
                #"{"auth": {"tokens": "t", "resource": "mcp.example.com"}}"#,
                "1:38: error: auth.resource: the "
            ),
            (
                #"{"auth": {"authorizationServers": ["http://id.example"]}}"#,
                "error: auth.authorizationServers: "
            ),
            (
                #"{"auth": {"tokens": "t", "required": ["a b"]}}"#,
                #"error: auth.required: "a b" is not a scope"#
            ),
            (
                #"{"auth": {"tokens": "t", "scopes": {"offline_access": {"allow": ["*"]}}}}"#,
                #"error: auth.scopes: "offline_access" is not"#
            ),
            (#"{"auth": {"tokens": "t", "scopes": {"s": {"alow": ["*"]}}}}"#, "(did you mean allow?)"),
            (#"{"auth": {"tokens": "t", "anonymous": [""]}}"#, "is not a pattern for names"),
            (
                #"{"auth": {"authorizationServers": ["https://a.example"], "jwt": {"https://a.exampl": {}}}}"#,
                "(did you mean https://a.example?)"
            ),
            (
                #"{"auth": {"authorizationServers": ["https://a"], "jwt": {"https://a": {"algorithms": ["HS256"]}}}}"#,
                #""HS256" is not one of"#
            ),
            (
                #"{"auth": {"authorizationServers": ["https://a"], "jwt": {"https://a": {"jwks": "http://a/k"}}}}"#,
                "must be an https URL or the name of a file"
            ),
            (
                #"{"auth": {"authorizationServers": ["https://a"], "jwt": {"https://a": {"skew": "6m"}}}}"#,
                "must be at most 5m"
            ),
            (
                #"{"auth": {"authorizationServers": ["https://a"]}, "listen": ["0.0.0.0:80"]}"#,
                "1:62: error: auth.resource is missing: the server can be reached from the network"
            ),
            (
                #"{"auth": {"tokens": "t"}, "clientTools": {"channelTokenFiles": {"c": "c.token"}}}"#,
                "clientTools.channelTokenFiles cannot be combined with auth"
            ),
        ]
        for (text, finding) in rows {
            let report = load(text, in: directory.path).diagnostics.report
            #expect(report.contains { $0.contains(finding) }, "\(text)\n\(report)")
        }
        #expect(load(#"{"auth": {"tokens": "t"}, "listen": ["0.0.0.0:80"]}"#).diagnostics.report == [])
        #expect(load(#"{"listen": ["0.0.0.0:80"]}"#).diagnostics.errorCount == 1)
    }

    // A name that no scope allows, and a pattern that allows nothing, are probably mistakes.
    @Test func warnsOfWhatNobodyReaches() {
        let report = load(
            #"""
            { "tools": { "git_log": { "exec": ["true"] }, "rm": { "exec": ["true"] } },
              "auth": { "tokens": "t",
                        "scopes": { "read": { "allow": ["git_*", "docs:*", "gti_*"] } } } }
            """#
        ).diagnostics.report
        #expect(report.contains { $0.contains("warning: no scope of auth.scopes allows the tool rm") })
        #expect(report.contains { $0.contains(#"warning: auth: "gti_*" fits no tool and no prompt"#) })
        #expect(report.last == "2 warnings")
    }

    @Test func theSchemaKnowsEveryKey() throws {
        let schema = try CompiledSchema(try JSONValue(parsing: ConfigurationSchema.text))
        let good =
            #"{"auth": {"resource": "https://a/mcp", "authorizationServers": [], "tokens": "t", "#
            + #""required": [], "scopes": {"s": {"allow": [], "implies": []}}, "anonymous": [], "#
            + #""jwt": {"https://a": {"audiences": [], "algorithms": ["ES256"], "skew": "30s", "#
            + #""strictType": true, "jwks": "k"}}, "introspection": {"issuer": "https://a", "#
            + #""endpoint": "https://a/i", "clientId": "c", "clientSecret": "s", "audience": "server-scoped"}}}"#
        #expect(schema.isValid(RawJSON(try JSONValue(parsing: good))))
        #expect(!schema.isValid(RawJSON(try JSONValue(parsing: #"{"auth": {"token": "t"}}"#))))
    }
}
