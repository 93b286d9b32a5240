import MCPCore
import Testing

@Suite struct SecretMaskTests {
    @Test(arguments: [
        (
            "http://127.0.0.1:1/callback?code=abc&state=x%20y&iss=https://a",
            "http://127.0.0.1:1/callback?code=[redacted]&state=[redacted]&iss=https://a"
        ),
        ("/a?c%6Fde=1;x=2", "/a?c%6Fde=[redacted];x=2"),
        ("https://a/#access_token=t&x", "https://a/#access_token=[redacted]&x"),
        ("https://a/code=1", "https://a/code=1"), ("/a?code", "/a?code"),
        ("/a?x=1#code=2", "/a?x=1#code=[redacted]"),
    ])
    func urls(_ text: String, _ masked: String) { #expect(SecretMask.url(text) == masked) }

    @Test func requestLine() {
        #expect(
            SecretMask.requestLine("GET /cb?code=1&Code=2 HTTP/1.1")
                == "GET /cb?code=[redacted]&Code=[redacted] HTTP/1.1")
    }

    @Test func form() {
        #expect(
            SecretMask.form("grant_type=authorization_code&code=1&code_verifier=2&client_secret=3&resource=r")
                == "grant_type=authorization_code&code=[redacted]&code_verifier=[redacted]"
                + "&client_secret=[redacted]&resource=r")
    }

    @Test(arguments: [
        (#"{"access_token":"a","expires_in":3}"#, #"{"access_token":"[redacted]","expires_in":3}"#),
        (#"{"error":{"code":-32600,"message":"x"}}"#, #"{"error":{"code":-32600,"message":"x"}}"#),
        (#"{"refresh_token" : "a\"b", "x":"code"}"#, #"{"refresh_token" : "[redacted]", "x":"code"}"#),
        (#"{"c\u006fde":"a"}"#, #"{"c\u006fde":"[redacted]"}"#),
        (#"{"assertion":"cut off"#, #"{"assertion":"[redacted]""#), (#"no JSON, "code"#, #"no JSON, "code"#),
        ("\"\\", "\"\\"),
    ])
    func json(_ text: String, _ masked: String) { #expect(SecretMask.json(text) == masked) }
}
