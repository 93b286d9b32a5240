import Testing

@testable import MCPCore

@Suite struct SchemaURITests {
    /// RFC 3986 section 5.4.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
    func resolves(_ reference: String, _ expected: String) {
        let base = SchemaURI("http://a/b/c/d;p?q")
        #expect(SchemaURI(reference).resolved(against: base).description == expected)
    }

    @Test func decodesPercents() {
        #expect(SchemaURI.percentDecoded("a%25%C3%A9") == "a%é")
        #expect(SchemaURI.percentDecoded("%C3") == nil)
        #expect(SchemaURI.percentDecoded("%4") == nil)
    }
}
