import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

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
        let missing = "auth.tokens: \(directory.path)/tokens.json does not exist"
        let report = outcome.diagnostics.report
        #expect(
            report.count == 3 && report[0].contains("2:14: warning: 0.0.0.0:80 can be reached"), "\(report)")
        #expect(report[1].hasPrefix("mcp.jsonc:9:15: warning: \(missing)"), "\(report)")
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
            (#"{"auth": {}}"#, "1:10: error: auth accepts no token and no user: name a file"),
            (#"{"auth": {"peers": {}}}"#, "1:20: error: auth.peers must be an array of rules"),
            (#"{"auth": {"peers": [{}]}}"#, "1:21: error: auth.peers[0] must have one of"),
            (
                #"{"auth": {"peers": [{"user": "*", "uid": 1}]}}"#,
                "1:21: error: auth.peers[0] must have one of"
            ),
            (
                #"{"auth": {"peers": [{"user": "nobody-has-this-name"}]}}"#,
                #"1:30: error: auth.peers[0]: no user named "nobody-has-this-name""#
            ),
            (
                #"{"auth": {"peers": [{"group": "no-group-has-this-name"}]}}"#,
                "1:31: error: auth.peers[0]: no group named"
            ),
            (#"{"auth": {"peers": [{"uid": -1}]}}"#, "1:29: error: auth.peers[0].uid must be a whole number"),
            (
                #"{"auth": {"peers": [{"user": "*", "allow": ["a b"]}]}}"#,
                #"1:44: error: auth.peers[0].allow: "a b" is not a pattern"#
            ),
            (
                #"{"auth": {"peers": [{"user": "*", "rate": "fast"}]}}"#,
                "1:43: error: auth.peers[0].rate must be a number of requests and a time"
            ),
            (#"{"auth": {"peers": [{"user": "*", "users": 1}]}}"#, "1:35: error: unknown key"),
            (#"{"auth": {"tokens": "t", "rate": "1/day"}}"#, "1:34: error: auth.rate must be a number"),
            (#"{"hosts": ["https://a"]}"#, #"1:11: error: hosts: "https://a" is not the name of a host"#),
            (#"{"hosts": ["a.example."]}"#, #"1:11: error: hosts: "a.example." is not the name of a host"#),
            (#"{"hosts": ["*.-a.example"]}"#, #"1:11: error: hosts: "*.-a.example" is not the name of"#),
            (#"{"origins": ["a.example"]}"#, #"1:13: error: origins: "a.example" is not the origin"#),
            (#"{"origins": ["https://a/b"]}"#, #"1:13: error: origins: "https://a/b" is not the origin"#),
            (#"{"trustedProxies": ["nginx"]}"#, #"1:20: error: trustedProxies: "nginx" is not an address"#),
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
        let open = load(#"{"auth": {"tokens": "t"}, "listen": ["0.0.0.0:80"]}"#).diagnostics.report
        #expect(
            open == [
                "mcp.jsonc:1:21: warning: auth.tokens: /tmp/t does not exist, and nothing else lets anyone "
                    + "in: mcp-server token new NAME --allow PATTERN makes one",
                "mcp.jsonc:1:37: warning: requests from other machines are refused at 0.0.0.0:80: name the "
                    + "server in \"hosts\" as they do",
                "mcp.jsonc:1:38: warning: 0.0.0.0:80 can be reached from the network, where others can read "
                    + "the tokens of plain http: listen on 127.0.0.1 behind a proxy with TLS, or use it in a "
                    + "network that you trust", "3 warnings",
            ])
        let tools = load(
            #"{"auth": {"tokens": "t"}, "listen": ["10.0.0.1:80"], "clientTools": {"auth": "none"}}"#)
        #expect(
            tools.diagnostics.report.contains {
                $0.contains(
                    "error: 10.0.0.1:80 can be reached from the network, where anybody could register")
            }, "\(tools.diagnostics.report)")
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
        #expect(report.contains { $0.contains("3:23: warning: nothing in auth allows the tool rm") })
        #expect(
            report.contains { $0.contains(#"3:64: warning: auth: "gti_*" matches no tool and no prompt"#) })
        #expect(report.last == "3 warnings", "\(report)")
    }

    // Tokens that nobody can use, and a file without any.
    @Test func warnsOfTokensThatLetNobodyIn() throws {
        let directory = try TemporaryDirectory()
        let file = TokenFile("\(directory.path)/t.json")
        func report(_ more: String = "") -> [String] {
            load(#"{ "auth": { "tokens": "\#(file.path)" \#(more) } }"#).diagnostics.report
        }
        #expect(report().contains { $0.contains("t.json does not exist, and nothing else lets anyone in") })
        let peers = report(#", "peers": [{ "user": "*" }]"#)
        #expect(peers.contains { $0.contains("t.json does not exist: mcp-server token new") }, "\(peers)")
        try file.update {
            $0 = [
                StaticToken.make(name: "old", expiresAt: 1_000_000_000).record,
                StaticToken.make(name: "new", expiresAt: 9_000_000_000).record,
            ]
        }
        #expect(
            report().first?.hasSuffix(
                "the token old expired at 2001-09-09T01:46Z: make another one, or revoke it")
                == true, "\(report())")
        #expect(report().last == "1 warning")
        try file.update { $0 = [] }
        #expect(report().contains { $0.contains("t.json has no token, and nothing else lets anyone in") })
    }

    // The file of a server's user, in the hands of root: read, changed, and still that user's.
    @Test(.enabled(if: Accounts.ownUserID == 0, "only root can give files away"))
    func rootKeepsTheOwner() throws {
        let directory = try TemporaryDirectory()
        let owner: UInt32 = 12_345
        func give(_ path: String) throws { try #require(unsafe lchown(path, owner, owner) == 0) }
        func add(_ name: String, _ file: TokenFile) throws {
            try file.update { $0.append(StaticToken.make(name: name).record) }
        }
        let file = TokenFile("\(directory.path)/t.json", isInspected: true)
        try add("one", file)
        #expect(try Files.info(file.path).owner == 0)
        try give(file.path)
        try add("two", file)
        let info = try Files.info(file.path)
        #expect(info.owner == owner && info.permissions == 0o600)
        #expect(try file.read().map(\.name) == ["one", "two"])
        // A server of root does not use a file that another user may change.
        #expect(throws: TokenFile.Failure.self) { try TokenFile(file.path).read() }
        // A new file is for the user whose directory it is in.
        try directory.makeDirectory("state")
        try give("\(directory.path)/state")
        let other = TokenFile("\(directory.path)/state/t.json", isInspected: true)
        try add("one", other)
        #expect(try Files.info(other.path).owner == owner)
        #expect(try Files.names(in: "\(directory.path)/state").names.sorted() == ["t.json", "t.json.lock"])
        #expect(try Files.info(other.path + ".lock").owner == owner)

        // The same holds for other secrets: commands that only look at the configuration may read them.
        try directory.write("state.key", String(repeating: "k", count: 40))
        try give("\(directory.path)/state.key")
        let text = #"{ "state": { "key": "${file:state.key}" }, "auth": { "tokens": "t.json" } }"#
        for purpose in [ConfigContext.Purpose.serving, .inspecting, .checking] {
            let loader = ConfigurationLoader(environment: ["PATH": "/usr/bin"], purpose: purpose)
            let report = loader.load(
                SourceText(name: "c", text: text), directory: directory.path, Diagnostics()
            ).diagnostics
            #expect(report.hasErrors == (purpose == .serving), "\(report.report)")
            if purpose == .serving {
                #expect(report.report.contains { $0.contains("chown it to the user that runs the server (") })
            }
        }
    }

    // A peer and a token allow names as a scope does.
    @Test func namesThatOthersThanScopesAllow() throws {
        let tools = #""tools": { "git_log": { "exec": ["true"] }, "rm": { "exec": ["true"] } }"#
        let scopes = #""scopes": { "read": { "allow": ["git_*"] } }"#
        let peers = load(
            #"{ \#(tools), "auth": { "peers": [{ "user": "*", "allow": ["rm", "no*"] }], \#(scopes) } }"#)
        #expect(peers.diagnostics.report.count { $0.contains("warning") } == 2, "\(peers.diagnostics.report)")
        #expect(peers.diagnostics.report.contains { $0.contains(#""no*" matches no tool"#) })
        let open = load(#"{ \#(tools), "auth": { "peers": [{ "user": "*" }], \#(scopes) } }"#)
        #expect(open.diagnostics.report.isEmpty)

        let directory = try TemporaryDirectory()
        let file = TokenFile("\(directory.path)/t.json")
        try file.update { $0.append(StaticToken.make(name: "ada", allow: ["rm", "mr"]).record) }
        let tokens = load(#"{ \#(tools), "auth": { "tokens": "\#(file.path)", \#(scopes) } }"#)
        #expect(
            tokens.diagnostics.report.contains {
                $0.contains(#"warning: the token ada: "mr" matches no tool and no prompt"#)
            }, "\(tokens.diagnostics.report)")
        #expect(!tokens.diagnostics.report.contains { $0.contains("tool rm") })
    }

    // Rules for users of this machine are all there is: the server's own user needs one, too.
    @Test func warnsOfTheOwnUserWithoutARule() {
        let own = Accounts.ownUserID
        for (auth, isWarned) in [
            (#""peers": [{ "uid": \#(own &+ 1) }]"#, true), (#""peers": [{ "uid": \#(own) }]"#, false),
            (#""peers": [{ "user": "*" }]"#, false), (#""peers": [{ "group": "0" }]"#, false),
            (#""peers": [{ "uid": \#(own &+ 1) }], "anonymous": ["*"]"#, false),
        ] {
            let report = load("{ \"auth\": { \(auth) } }").diagnostics.report
            let text = "warning: auth.peers has no rule for the user that runs this (\(own))"
            #expect(report.contains { $0.contains(text) } == isWarned, "\(auth): \(report)")
        }
    }

    @Test func theSchemaKnowsEveryKey() throws {
        let schema = try CompiledSchema(try JSONValue(parsing: ConfigurationSchema.text))
        let good =
            #"{"auth": {"resource": "https://a/mcp", "authorizationServers": [], "tokens": "t", "#
            + #""required": [], "scopes": {"s": {"allow": [], "implies": []}}, "anonymous": [], "#
            + #""jwt": {"https://a": {"audiences": [], "algorithms": ["ES256"], "skew": "30s", "#
            + #""strictType": true, "jwks": "k"}}, "introspection": {"issuer": "https://a", "#
            + #""endpoint": "https://a/i", "clientId": "c", "clientSecret": "s", "audience": "server-scoped"}, "#
            + #""rate": "60/min", "peers": [{"user": "*", "allow": ["a"], "scopes": [], "rate": "5/s"}, "#
            + #"{"group": "root"}, {"uid": 0}]}, "hosts": ["a"], "origins": ["https://a"], "#
            + #""trustedProxies": ["unix"]}"#
        #expect(schema.isValid(RawJSON(try JSONValue(parsing: good))))
        for bad in [
            #"{"auth": {"token": "t"}}"#, #"{"auth": {"peers": [{"user": "*", "uid": 1}]}}"#,
            #"{"auth": {"rate": "60"}}"#,
        ] { #expect(!schema.isValid(RawJSON(try JSONValue(parsing: bad)))) }
    }
}
