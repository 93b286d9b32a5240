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

    /// The names that services use for keys in URLs.
    @Test(arguments: [
        "api_key", "apikey", "API-Key", "key", "token", "secret", "pass", "sig", "signature", "auth",
    ])
    func keysInURLs(_ name: String) {
        #expect(SecretMask.url("https://a/?x=1&\(name)=S&y=2") == "https://a/?x=1&\(name)=[redacted]&y=2")
    }

    @Test(arguments: [
        ("ghp_S3CRET", "*"), ("x ghp_S3CRET, y", "x *, y"), ("--k=glpat-S3CRET", "--k=*"),
        ("\"xoxb-1-S3CRET\"", "\"*\""),
        ("AKIAIOSFODNN7EXAMPLE", "*"), ("Bearer eyJhbGciOiJIUzI1NiJ9.e30.x", "Bearer *"),
        ("sk-S3CRETabc", "*"),
        ("github_pat_S3CRET", "*"), ("sk-learn", "sk-learn"), ("task-12345678", "task-12345678"),
        ("eyJ", "eyJ"), ("AKIA", "AKIA"), ("", ""), ("ghp_", "ghp_"), ("ü ghp_S3CRET ü", "ü * ü"),
    ])
    func tokensOfKnownServices(_ text: String, _ masked: String) {
        #expect(SecretMask.tokens(text, mask: "*") == masked)
    }

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
