import MCPCore
import MCPFoundation
import TestSupport
import Testing

/// Requests of authorization over `URLSession`.
@Suite struct URLSessionOAuthTests {
    private func send(
        _ request: (String) -> OAuthHTTPRequest,
        _ answer: @escaping @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer
    ) async throws -> (response: OAuthHTTPResponse?, error: AuthorizationError?, heard: [HTTPPeer.Heard]) {
        let peer = try HTTPPeer(answer)
        defer { peer.stop() }
        do throws(AuthorizationError) {
            let response = try await URLSessionOAuth().send(request("http://\(peer.endpoint)"))
            return (response, nil, peer.heard)
        } catch {
            return (nil, error, peer.heard)
        }
    }

    @Test func documentsAndForms() async throws {
        let (document, _, _) = try await send({ OAuthHTTPRequest(get: $0 + "/.well-known/x") }) { _ in
            .json(#"{"issuer":"x"}"#, headers: "ETag: a\r\n")
        }
        #expect(document?.status == 200)
        #expect(document?.fields["etag"] == "a")
        #expect(document.map { String(decoding: $0.body, as: UTF8.self) } == #"{"issuer":"x"}"#)

        let (token, _, heard) = try await send(
            { OAuthHTTPRequest(post: $0 + "/token", form: [("grant_type", "a b"), ("code", "ü&")]) }
        ) { _ in .json(#"{"error":"invalid_grant"}"#, status: 400) }
        #expect(token?.status == 400)
        #expect(heard.first?.method == "POST")
        #expect(heard.first?.header("content-type") == "application/x-www-form-urlencoded")
        #expect(heard.first?.text == "grant_type=a+b&code=%C3%BC%26")
    }

    @Test func aRedirectIsTheResponse() async throws {
        let (response, _, heard) = try await send(
            { OAuthHTTPRequest(post: $0 + "/token", form: [("code", "secret")]) }
        ) { _ in .status(307, headers: "Location: /elsewhere\r\n") }
        #expect(response?.status == 307)
        #expect(heard.count == 1)
    }

    @Test func aBodyHasALimit() async throws {
        for (count, fits) in [(256 << 10, true), ((256 << 10) + 1, false)] {
            let (response, error, _) = try await send({ OAuthHTTPRequest(get: $0 + "/x") }) { _ in
                .json(String(repeating: " ", count: count))
            }
            #expect((response?.body.count == count) == fits)
            #expect((error?.kind == .malformed) == !fits)
        }
    }

    @Test func nothingLeavesWithoutTLS() async throws {
        for url in ["http://192.0.2.1/token", "ftp://127.0.0.1/x", "token", "http:///x"] {
            await #expect(throws: AuthorizationError.self) {
                _ = try await URLSessionOAuth().send(OAuthHTTPRequest(get: url))
            }
        }
    }

    @Test func aRequestCanBeCancelled() async throws {
        let arrived = Gate()
        let peer = try HTTPPeer { _ in
            arrived.open()
            return .raw(then: .hang)
        }
        defer { peer.stop() }
        let place = "http://\(peer.endpoint)/x"
        let request = Task { try await URLSessionOAuth().send(OAuthHTTPRequest(get: place)) }
        #expect(await arrived.wait())
        request.cancel()
        let error = await #expect(throws: AuthorizationError.self) { _ = try await request.value }
        #expect(error?.kind == .cancelled)
    }
}
