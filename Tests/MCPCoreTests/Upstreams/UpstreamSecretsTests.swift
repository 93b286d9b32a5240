import TestSupport
import Testing

@testable import MCPCore

/// What the errors of a server behind this one do not contain.
@Suite(.timeLimit(.minutes(5))) struct UpstreamSecretsTests {
    private static let secret = #"S3CRET"VALUE"#

    private static func far() throws -> MCPServer {
        let server = MCPServer("far", version: "1")
        let details: JSONValue = ["header": .string("Bearer \(secret)"), "list": [.string(secret), 7]]
        try server.register(Tool("refuse")) { _, _ in
            throw MCPError(code: -7, message: "not with \(secret)", data: details)
        }
        try server.register(Tool("fail")) { _, _ in .error("failed with \(secret)") }
        try server.register(Tool("tell")) { _, _ in .text(secret) }
        try server.register(Prompt("refuse")) { _, _ in
            throw MCPError(code: MCPError.internalErrorCode, message: secret, data: details)
        }
        try server.register(Resource("far:///refused", name: "refused")) { _ in
            throw MCPError(code: -7, message: "not with \(secret)", data: details)
        }
        return server
    }

    private static func error(_ body: () async throws -> Void) async -> MCPError? {
        do { try await body() } catch { return error as? MCPError }
        return nil
    }

    /// Errors and results that are failures, over each pair of eras; not what a caller has asked for.
    @Test(arguments: UpstreamGroupTests.pairs)
    func errorsContainNone(_ pair: UpstreamGroupTests.Pair) async throws {
        var options = UpstreamOptions()
        options.protocol = .exactly(pair.server)
        options.secrets = [Self.secret, "Bearer \(Self.secret)"]
        var caller = ClientOptions()
        caller.protocol = .exactly(pair.caller)
        let (client, group) = try await UpstreamGroupTests.connected(
            [("far", .inProcess(try Self.far()), options)], own: MCPServer("near", version: "1"), caller)
        let refused = await Self.error { _ = try await client.callTool("refuse") }
        #expect(
            refused
                == MCPError(
                    code: -7, message: "not with •••", data: ["header": "•••", "list": ["•••", 7]]))
        let prompt = await Self.error { _ = try await client.getPrompt("refuse") }
        let read = await Self.error { _ = try await client.readResource("far:///refused") }
        for error in [prompt, read] {
            let shown = "\(error as Any) \(error?.data?.serialized() ?? "")"
            #expect(error != nil && !shown.contains("S3CRET"), "\(shown)")
        }
        let failed = try await client.callTool("fail")
        #expect(failed.isError && failed.text == "failed with •••")
        let told = try await client.callTool("tell")
        #expect(!told.isError && told.text == Self.secret)
        await client.close()
        await group.stop()
    }

    /// A question that outlives a change of the secrets: its server has the old ones.
    @Test(arguments: [false, true]) func theSecretsOfTheServerThatAsked(_ isError: Bool) async throws {
        let far = MCPServer("far", version: "1")
        try far.register(Tool("ask")) { _, context in
            _ = try await context.elicit("Name?", ElicitationSchema([]))
            if isError { throw MCPError(code: -7, message: "not with \(Self.secret)") }
            return .error("failed with \(Self.secret)")
        }
        @Sendable func upstream(_ secret: String) -> Upstream {
            var options = UpstreamOptions()
            options.protocol = .exactly(.v2025_11_25)
            options.isPerPrincipal = true
            options.secrets = [secret]
            return Upstream("far", .inProcess(far), options: options)
        }
        let group = UpstreamGroup()
        group.set([upstream(Self.secret)])
        var caller = ClientOptions()
        caller.protocol = .exactly(.v2026_07_28)
        caller.onElicit = { _ in
            group.set([upstream("another one")])
            return ElicitResult(.accept)
        }
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near), options: caller)
        let text: String?
        do { text = try await client.callTool("ask").text } catch { text = (error as? MCPError)?.message }
        #expect(text == (isError ? "not with •••" : "failed with •••"))
        await client.close()
        await group.stop()
    }

    /// The reason why a list is missing is in the log.
    @Test func notesContainNone() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            case "tools/list":
                .json(
                    #"{"jsonrpc":"2.0","id":\#(heard.id),"error":{"code":-7,"message":"not with SECRETVALUE"}}"#
                )
            default: .status(405)
            }
        }
        defer { peer.stop() }
        var options = UpstreamOptions()
        options.secrets = ["SECRETVALUE"]
        let upstream = Upstream("far", peer.target, options: options)
        try await upstream.connect()
        #expect(upstream.status.notes.contains { $0.contains("not with •••") }, "\(upstream.status.notes)")
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    /// A page about an error names the address; what is shown of it ends within the secret, or in front of it.
    @Test(arguments: [0, 240, 290]) func pagesThatNameTheAddress(_ before: Int) async throws {
        let secret = (0 ..< 60).map { "part\($0)-" }.joined()
        let peer = try HTTPPeer { heard in
            let body =
                String(repeating: "x", count: before) + "Cannot POST \(heard.head.split(separator: " ")[1])"
            return .raw(
                "HTTP/1.1 404 X\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
        }
        defer { peer.stop() }
        var options = UpstreamOptions()
        options.secrets = [secret]
        let address = "http://127.0.0.1:\(peer.port)/mcp?token=\(secret)"
        let upstream = Upstream("far", .http(address), options: options)
        let error = await #expect(throws: (any Error).self) { try await upstream.connect() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("HTTP 404"))
        for text in ["\(error.map { "\($0)" } ?? "")", "\(upstream.status)"] {
            #expect(!text.contains("part0") && !text.contains("part1"), "\(text)")
        }
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    @Test func onlyWholeSecretsOfSomeLengthAreRemoved() {
        let secrets = UpstreamSecrets(["abc", "Bearer 12345678901234567890"])
        #expect(secrets.mask("abc, no Bearer") == "abc, no Bearer")
        #expect(secrets.mask("Bearer 12345678901234567890!") == "•••!")
        #expect(secrets.mask("Bearer 1234567890123456789, no") == "Bearer 1234567890123456789, no")
        #expect(UpstreamSecrets().mask("text") == "text")
    }

    /// A header with credentials is the base64 text of a user and a password.
    @Test func encodedSecretsAreRemoved() {
        let pair = Base64.encode("ada:correct horse".utf8)
        let secrets = UpstreamSecrets(["Basic \(pair)"])
        #expect(secrets.mask("refused: \(pair)") == "refused: •••")
        #expect(secrets.mask("refused: ada:correct horse") == "refused: •••")
        #expect(secrets.mask("refused: correct horse") == "refused: •••")
        let password = UpstreamSecrets(["correct horse"])
        for user in ["a", "bo", "ada", "a longer name"] {
            let last = password.mask(Base64.encode("\(user):correct horse".utf8))
            #expect(last.hasSuffix("•••"), "\(last)")
            let middle = password.mask(Base64URL.encode("\(user):correct horse, and more".utf8))
            #expect(middle.contains("•••") && !middle.hasSuffix("•••"), "\(middle)")
        }
        let other = "??>>ada:??>>"
        #expect(UpstreamSecrets([other]).mask(Base64URL.encode(other.utf8)) == "•••")
        // Short ones would be in any text.
        #expect(UpstreamSecrets(["pass"]).mask("cGFzcw==") == "•••")
        #expect(UpstreamSecrets(["pass"]).mask("cGFz") == "cGFz")
    }

    /// A variable that is an ordinary word leaves what the protocol defines, and nothing else.
    @Test(arguments: [
        "text", "type", "content", "isError", "image", "resource", "mimeType", "annotations", "audience",
        "user", "plain", "structuredContent", "_meta", "1234",
    ])
    func wordsOfTheProtocol(_ word: String) throws {
        func json(_ word: String) throws -> RawJSON {
            RawJSON(
                try JSONValue(
                    parsing: #"""
                        {"isError":true,"content":[{"type":"text","text":"a \#(word) b"},
                        {"type":"image","data":"AAAA","mimeType":"image/png",
                        "annotations":{"audience":["user"],"priority":0.1234}},
                        {"type":"resource_link","uri":"a:\#(word)","name":"n","size":1234},
                        {"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"\#(word)"}}],
                        "structuredContent":{"\#(word)":["\#(word)"]},"_meta":{"a.b/\#(word)":1}}
                        """#))
        }
        let masked = UpstreamSecrets([word]).mask(failed: try json(word))
        #expect(masked.value == (try json("•••").value), "\(masked.value.serialized())")
        let strange = RawJSON(
            try JSONValue(parsing: #"{"isError":true,"content":[{"type":"SECRET","x-SECRET":1}]}"#))
        #expect(
            UpstreamSecrets(["SECRET"]).mask(failed: strange).value.serialized()
                == #"{"isError":true,"content":[{"type":"•••","x-•••":1}]}"#)
    }

    /// Some programs read it as a number.
    @Test func secretsOfDigits() throws {
        let secrets = UpstreamSecrets(["8675309123"])
        let text = #"{"a":8675309123,"b":[-8675309123.0,"8675309123"],"c":86753091234,"d":8675309123.5}"#
        let shown = #"{"a":"•••","b":["-•••","•••"],"c":86753091234,"d":8675309123.5}"#
        let json = RawJSON(try JSONValue(parsing: text))
        #expect(secrets.mask(json).value.serialized() == shown)
        let error = secrets.mask(MCPError(code: -7, message: "", data: json.value))
        #expect(error.data?.serialized() == shown)
    }

    /// The beginning of a secret is no secret, unless a text was cut behind it.
    @Test func textsThatWereCut() {
        let secrets = UpstreamSecrets(["password-123"])
        #expect(secrets.mask("wrong password") == "wrong password")
        #expect(secrets.mask("wrong password… or pas…") == "wrong •••… or pas…")
        let secret = (0 ..< 60).map { "part\($0)-" }.joined()
        let text = #"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"\#(secret)","x":"\ud800"}]}}"#
        let omitted = DamagedResponse(ByteSlice(text))?.omitted.first ?? ""
        #expect(omitted.hasPrefix("the entry \"part0-"))
        #expect(UpstreamSecrets([secret]).mask(omitted).hasPrefix("the entry \"•••…\" cannot be read"))
        // What is looked through is cut, too.
        var options = ClientOptions()
        options.maskConfigured = { UpstreamSecrets([secret]).mask($0) }
        let long = ByteSlice(String(repeating: secret, count: 200))
        let shown = ClientSecrets.shortened(long, to: 1_000, ClientSecrets(options))
        #expect(shown.hasPrefix("••••••") && !shown.contains("part"))
    }

    /// A program that writes no messages.
    @Test func whatIsNoMessage() async throws {
        let secret = (0 ..< 60).map { "part\($0)-" }.joined()
        var options = UpstreamOptions()
        options.secrets = [secret]
        options.restarts = false
        let upstream = Upstream("far", .command("sh", "-c", "yes \(secret)"), options: options)
        let error = await #expect(throws: (any Error).self) { try await upstream.connect() }
        for text in ["\(error.map { "\($0)" } ?? "")", "\(upstream.status)"] {
            #expect(text.contains("•••") && !text.contains("part0"), "\(text)")
        }
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    /// A program writes a key line by line.
    @Test func linesOfASecretAreRemoved() {
        let secrets = UpstreamSecrets(["-----BEGIN KEY-----\r\nMIIEabcdefgh\r\nshort\r\n"])
        #expect(secrets.mask("bad key: MIIEabcdefgh") == "bad key: •••")
        #expect(secrets.mask("in short") == "in short")
        #expect(secrets.mask("-----BEGIN KEY-----\r\nMIIEabcdefgh\r\nshort\r\n") == "•••")
    }
}
