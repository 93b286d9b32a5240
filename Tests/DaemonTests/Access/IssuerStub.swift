#if !canImport(Darwin)
import MCPCore
import Synchronization
import Testing

/// An authorization server with metadata, one key, and the tokens that a test asks for.
final class IssuerStub: HTTPRequestHandler {
    private struct State {
        var url = ""
        var fetches = 0
        var running: RunningServer?
        var serial = 0
    }

    private let key: any SigningKey
    private let state = Mutex(State())

    init(_ key: any SigningKey) throws { self.key = key }

    var keyFetches: Int { state.withLock { $0.fetches } }

    /// Serves on a free port, and returns the issuer.
    func start() async throws -> String {
        let server = MCPServer("issuer", version: "1")
        let running = try server.start([.http(.tcp(port: 0), handler: self)])
        let port = try #require(running.addresses.first?.port)
        let url = "http://127.0.0.1:\(port)"
        state.withLock { ($0.url, $0.running) = (url, running) }
        return url
    }

    func stop() async { await state.withLock { $0.running }?.stop() }

    func handles(path: String) -> Bool { path.hasPrefix("/.well-known/") || path == "/keys" }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        let url = state.withLock { $0.url }
        let text: String
        switch request.path {
        case "/.well-known/oauth-authorization-server":
            text =
                #"{"issuer":"\#(url)","token_endpoint":"\#(url)/token","jwks_uri":"\#(url)/keys","#
                + #""authorization_endpoint":"\#(url)/authorize","response_types_supported":["code"]}"#
        case "/keys":
            state.withLock { $0.fetches += 1 }
            text = #"{"keys":[\#(key.publicKey.jsonWebKey)]}"#
        default: return HTTPResponse(status: 404)
        }
        var headers = HeaderFields()
        try? headers.set("Content-Type", to: "application/json")
        return HTTPResponse(status: 200, headers: headers, body: .bytes(Array(text.utf8)))
    }

    /// A token that is good for an hour.
    func token(scope: String, audience: String = "http://127.0.0.1/mcp") throws -> String {
        let (url, serial) = state.withLock { state in
            state.serial += 1
            return (state.url, state.serial)
        }
        let now = WallTime.now.secondsSinceEpoch
        let header = #"{"alg":"ES256","typ":"at+jwt"}"#
        let claims =
            #"{"iss":"\#(url)","sub":"user","aud":"\#(audience)","exp":\#(now + 3_600),"iat":\#(now),"#
            + #""jti":"jti-\#(serial)","client_id":"app","scope":"\#(scope)"}"#
        let input = [header, claims].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), by: .es256))
    }
}
#endif
