import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// A server that repeats the credentials of its client in everything that it sends back.
@Suite(.timeLimit(.minutes(5))) struct RepeatedSecretsTests {
    private typealias Answer = HTTPPeer.Answer
    private typealias Heard = HTTPPeer.Heard

    private static let token = "tok/en+of=this.client"

    /// The texts that left a client.
    private final class Texts: Sendable {
        private let all = Mutex<[String]>([])

        func add(_ text: String) { all.withLock { $0.append(text) } }
        var text: String { all.withLock { $0.joined(separator: "\n") } }
    }

    private static func options(_ texts: Texts) -> ClientOptions {
        var options = ClientOptions()
        options.headers = [("Authorization", "Bearer \(token)"), ("X-Api-Key", "key-of-this-client")]
        options.trace = { event in
            switch event {
            case .sent(_, let bytes), .received(let bytes): texts.add(String(bytes))
            case .httpRequest(let head), .httpResponse(_, let head): texts.add(head)
            case .garbage(let text), .warning(let text), .stderr(let text): texts.add(text)
            }
        }
        options.onLog = { texts.add("\($0)") }
        return options
    }

    /// The token as it is, in a query, and with the escapes of JSON.
    private static let repeated =
        #"\#(token) tok%2Fen%2Bof%3dthis.client tok\/en\u002bof\u003dthis.client key-of-this-client"#

    private static func answers(_ heard: Heard) -> [Answer] {
        let id = heard.id
        let field = "X-Debug: \(token)\r\nWWW-Authenticate: Bearer error_description=\"\(token)\"\r\n"
        return [
            .json(#"{"a":"\#(repeated)"}"#, status: 401, headers: field),
            .json(#"{"a":"\#(repeated)"}"#, status: 403, headers: field),
            .json("no JSON \(repeated)", status: 500), .json("no JSON \(repeated)"),
            .json(
                #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-1,"message":"\#(repeated)","#
                    + #""data":{"\#(token)":["\#(repeated)"]}}}"#),
            .json(#"{"jsonrpc":"2.0","id":\#(id),"error":"\#(repeated)"}"#),
            .json(#"{"jsonrpc":"2.0","method":"\#(repeated)"}"#),
            .status(307, headers: "Location: https://a/?x=\(token)\r\n"),
            .events(
                #"data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","#
                    + #""data":["\#(repeated)"]}}"# + "\n\ndata: \(repeated)\n\n"),
        ]
    }

    @Test(arguments: 0 ..< 9)
    func nothingShowsTheCredentials(_ index: Int) async throws {  // AUTH-43
        let peer = try HTTPPeer {
            $0.rpcMethod == "server/discover" ? .result($0, Script.discovered) : Self.answers($0)[index]
        }
        defer { peer.stop() }
        let texts = Texts()
        var options = Self.options(texts)
        options.logLevel = .debug
        let client = try await MCPClient.connect(peer.target, options: options)
        do {
            _ = try await client.request("tools/call", ["name": .string(Self.token)])
            Issue.record("the call succeeded")
        } catch {
            texts.add("\(error)")
            if let error = error as? MCPError { texts.add(error.data?.serialized() ?? "") }
        }
        await client.close()
        let text = texts.text
        for secret in [Self.token, "this.client", "key-of-this-client"] { #expect(!text.contains(secret)) }
        #expect(text.contains("[redacted]"))
    }

    /// A snippet of a body is cut after the secrets are removed from it.
    @Test func noPartOfASecretIsLeft() async throws {
        let long = String(repeating: "t", count: 2_000) + "end"
        let body = String(repeating: "x", count: 290) + long
        let peer = try HTTPPeer {
            $0.rpcMethod == "server/discover"
                ? .result($0, Script.discovered) : .json(body, status: 500)
        }
        defer { peer.stop() }
        var options = ClientOptions()
        options.headers = [("Authorization", "Bearer \(long)")]
        let client = try await MCPClient.connect(peer.target, options: options)
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        await client.close()
        #expect(error?.details.first == "body: \(String(repeating: "x", count: 290))[redacted]")
    }

    /// A server sees the path and the query of its address, and repeats them.
    @Test func valuesOfTheQuery() async throws {
        let query = "?key=q-secret7&mode=fast&x=a%20long+value%2Fof-it"
        let peer = try HTTPPeer { heard in
            heard.rpcMethod == "server/discover"
                ? .result(heard, Script.discovered)
                : .json("Cannot POST /mcp\(query) q-secret7 fast", status: 404)
        }
        defer { peer.stop() }
        let url = peer.target.description + query + "#x"
        let client = try await MCPClient.connect(.http(url))
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        await client.close()
        #expect(
            error?.details.first
                == "body: Cannot POST /mcp?key=[redacted]&[redacted]&x=[redacted] [redacted] fast",
            "\(String(describing: error))")
    }

    @Test func tokensThatWereReplacedAreMaskedToo() async throws {
        let fake = FakeAuthorizer(generation: 1)
        fake.change { $0.others = [("X-Old", "credential-1")] }
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            default: .json("credential-1 credential-2", status: 500)
            }
        }
        defer { peer.stop() }
        var options = ClientOptions()
        options.authorizer = fake
        let client = try await MCPClient.connect(peer.target, options: options)
        fake.change { $0.others = [("X-Old", "credential-2")] }
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        await client.close()
        #expect(error?.details.first == "body: [redacted] [redacted]")
    }

    @Test func passwordsAreSecretsToo() {
        var options = ClientOptions()
        options.headers = [("Authorization", "Basic dXNlcjpwYXNzd29yZA=="), ("X-Tenant", "tenant-1")]
        let secrets = ClientSecrets(options)
        #expect(secrets?.mask("dXNlcjpwYXNzd29yZA== password tenant-1") == "[redacted] [redacted] tenant-1")
        options.headers = [("X-Tenant", "tenant-1")]
        #expect(ClientSecrets(options) == nil)
    }

    // MARK: OAuth

    @Test("an authorizer knows all tokens and secrets that it had")
    func authorizer() async throws {
        var settings = OAuthSettings()
        settings.identity = .registered(
            OAuthClientIdentity(clientID: "me", clientSecret: "secret-of-me"), issuer: nil)
        try await OAuthFixture.with { (server) async throws in
            server.addClient("me", secret: "secret-of-me")
            let fixture = OAuthFixture(server, settings)
            try await fixture.unauthorized()
            let first = try #require(fixture.store.entries.values.first?.tokens)
            fixture.clock.advance(by: .seconds(3_600))
            let second = try #require(try await fixture.token())
            let secrets = [first.accessToken, first.refreshToken ?? "", second, "secret-of-me"]
            #expect(secrets[0] != second)
            for secret in secrets {
                #expect(fixture.authorizer.masking("<\(secret)>") == "<[redacted]>")
            }
            // Another process knows what is stored.
            let other = OAuthFixture(server, settings, store: fixture.store, clock: fixture.clock)
            _ = try await other.token()
            #expect(other.authorizer.masking("<\(second)>") == "<[redacted]>")
        }
    }
}
