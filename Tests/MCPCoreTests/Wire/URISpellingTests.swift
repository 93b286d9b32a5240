import Testing

@testable import MCPCore

/// Which URIs servers may take for others.
@Suite struct URISpellingTests {
    @Test(arguments: [
        "kb:///pub/a.md", "kb:///pub/", "kb:", "kb:x", "docs://host/a/b?q=a.b&c=...#..d", "kb:///a..b/.c/d.",
        "kb:///a%20b%3Fc%C3%A9", "kb:///é", "kb:///100%25", "kb:///100%", "kb:///%zz", "git_log", "ns:tool",
        "fetch://https://example.com/a", "kb:///https://example.com/?u=http://a//b", "a%2Fb",
    ]) func plain(_ uri: String) {
        #expect(URISpelling(uri).isPlain)
    }

    @Test(arguments: [
        "kb:///a/../b", "kb:///./a", "kb:..", "kb:///a/%2e%2E/b", "kb:///a/.%2e", "kb:///a/%252e%252e/b",
        #"kb:///a\..\b"#, "kb:///a%5C..%5Cb", "kb:///a%2F..%2Fb", "kb:///a?/../b", "kb:///a?p=../b",
        "kb:///a?%2F..%2Fb", "kb:///a#/../b", "kb:///a/..;/b", "kb:///a?..", "kb:///a%00", "kb:///a%0Ab",
        "kb:///%FF", "kb:///%C0%AE", "kb:///%%32%65/a",
        " kb:///a", "kb:///a ", "kb:///a\u{3000}", "\u{FEFF}kb:///a",
    ]) func unclear(_ uri: String) {
        #expect(URISpelling(uri).isUnclear && !URISpelling(uri).isPlain)
    }

    @Test(arguments: [
        "kb:///%73ecret", "kb:///a%2Fb", "kb:///a%5cb", #"kb:///a\b"#, "kb:////a", "kb:///a//b", "kb://h//a",
        "kb:a//b", "kb:///a%7Eb", "kb:///a%2Db", "kb:///a%252Fb", "kb:///%2573ecret",
    ]) func unusual(_ uri: String) {
        #expect(!URISpelling(uri).isUnclear && !URISpelling(uri).isPlain)
    }
}
