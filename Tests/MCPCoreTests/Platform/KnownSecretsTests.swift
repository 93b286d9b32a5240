import MCPCore
import Testing

@Suite struct KnownSecretsTests {
    private static let token = "eyJhbGciOi.a/b+c=_~-1234567890"

    @Test(arguments: [
        ("x \(token) y", "x [redacted] y"), (token + token, "[redacted][redacted]"),
        // Encodings: of a form in both cases, twice, JSON once and twice, HTML.
        ("t=eyJhbGciOi.a%2Fb%2Bc%3D_~-1234567890&x=1", "t=[redacted]&x=1"),
        ("%65%79JhbGciOi%2ea%2fb%2bc%3d_%7E-1234567890", "[redacted]"),
        ("eyJhbGciOi.a%252Fb%25252Bc%253D_~-1234567890", "[redacted]"),
        (#"{"a":"eyJhbGciOi.a\/b+c=_~-1234567890"}"#, #"{"a":"[redacted]"}"#),
        (#"\u0065\u0079JhbGciOi.a\u002Fb+c\u003d_~-1234567890."#, "[redacted]."),
        (#"{\"a\":\"eyJhbGciOi.a\\/b+c\\u003d_~-1234567890\"}"#, #"{\"a\":\"[redacted]\"}"#),
        (#"\x65yJhbGciOi.a/b+c=_~-1234567890"#, "[redacted]"),
        ("eyJhbGciOi.a&#47;b&#x2B;c&#x3d;_~-1234567890", "[redacted]"),
        // Cut off by somebody else, or where there is a mark.
        ("eyJhbGciOi.a/b+c is bad", "[redacted] is bad"), ("cut eyJhbG", "cut eyJhbG"),
        ("eyJhbGci is the beginning of any", "eyJhbGci is the beginning of any"),
        ("cut eyJh… or not", "cut [redacted]… or not"), ("cut eyJ…", "cut eyJ…"),
        ("x eyJh%…", "x [redacted]…"),
        ("eyJhbGciOi.a%2…", "[redacted]…"), (#""eyJh\\u00…""#, #""[redacted]…""#),
        ("eyJh&#x…", "[redacted]…"),
        ("eyJh\u{FFFD}…", "[redacted]…"), ("eyJh%3 …", "eyJh%3 …"), ("eyJh\\", "eyJh\\"), ("", ""),
        ("%", "%"), ("%2", "%2"), ("\\", "\\"), ("\\u00", "\\u00"),
        ("&#", "&#"), ("&#x", "&#x"), ("&#99999999999999999999;", "&#99999999999999999999;"),
    ])
    func masks(_ text: String, _ masked: String) {
        #expect(KnownSecrets([Self.token]).mask(text) == masked)
    }

    /// What follows in the secret begins as the ellipsis does.
    @Test(arguments: ["p\u{E4}ss\u{20AC}12", "p\u{E4}ss\u{2014}12", "p\u{E4}ss\u{201C}12"])
    func cutInFrontOfASimilarCharacter(_ secret: String) {
        #expect(KnownSecrets([secret]).mask("is p\u{E4}ss\u{2026} or not") == "is [redacted]\u{2026} or not")
    }

    /// Characters of several bytes, in the escapes of JSON, once and twice, of URLs and of HTML.
    @Test(arguments: [
        "p\u{E4}ss\u{2013}\u{1F600}!", #"p\u00e4ss\u2013\ud83d\ude00!"#, #"p\\u00E4ss\\u2013\\uD83D\\uDE00!"#,
        "p%C3%A4ss%e2%80%93%F0%9F%98%80!", "p%25C3%25A4ss%E2%80%93%F0%9F%98%80!",
        "p&#228;ss&#x2013;&#128512;!", "p&#xE4;ss\u{2013}&#x1F600;!",
        // Python and JavaScript.
        #"p\xe4ss\u2013\u{1F600}!"#,
        #"p\u{e4}ss\u{2013}\u{1f600}!"#, #"p\xc3\xa4ss\xe2\x80\x93\xf0\x9f\x98\x80!"#,
    ])
    func otherLetters(_ text: String) {
        let secrets = KnownSecrets(["p\u{E4}ss\u{2013}\u{1F600}!"])
        #expect(secrets.mask("a \(text) b") == "a [redacted] b")
        // Half of a pair, and other characters.
        for other in [
            #"p\u00e4ss\u2013\ud83d!"#, #"p\u00e4ss\u2013\ud83d\u0041!"#, "p&#229;ss", "&#1114112;",
        ] {
            #expect(secrets.mask(other) == other)
        }
    }

    /// What escapers of HTML and XML write by name, also twice, and bytes that escapes begin with.
    @Test(arguments: [
        ("Tr&7<q\"z>pass'wd=9", "Tr&amp;7&lt;q&quot;z&gt;pass&apos;wd=9"),
        ("Tr&7<q\"z>pass'wd=9", "Tr&amp;7&lt;q&quot;z&gt;pass&#x27;wd=9"),
        ("Tr&7<q\"z>pass'wd=9", "Tr&amp;amp;7&amp;lt;q&amp;quot;z&amp;gt;pass&amp;#39;wd=9"),
        ("Tr&7<q\"z>pass'wd=9", "Tr&#38;7&lt;q\"z>pass'wd=9"),
        ("&<secret>&-z", "&amp;&lt;secret&gt;&amp;-z"), ("<secret>", "&lt;secret>"),
        ("a&amp;b-c", "a&amp;b-c"), ("a&amp;b-c", "a&amp;amp;b-c"), ("&lt;secret", "&amp;lt;secret"),
        ("100%sure", "100%25sure"), ("100%sure", "100%2525sure"), ("a%25b-c", "a%2525b-c"),
        (#"CORP\user-7"#, #"CORP\\user-7"#), (#"CORP\xab-7"#, #"CORP\\\\xab-7"#),
        ("\u{E4}pfel-7", #"\xe4pfel-7"#),
    ])
    func named(_ secret: String, _ text: String) {
        let secrets = KnownSecrets([secret])
        #expect(secrets.mask("a \(text) b") == "a [redacted] b")
        #expect(secrets.mask(secret) == "[redacted]")
        #expect(secrets.mask("a \(text.dropLast(3))x") == "a \(text.dropLast(3))x")
    }

    @Test(arguments: ["Tr&amp;7&lt;q&…", "Tr&amp;7&lt;q&qu…", "Tr&amp;7…", "Tr&amp;7&am…"])
    func namesThatAreCut(_ text: String) {
        #expect(KnownSecrets(["Tr&7<q\"z>pass'wd=9"]).mask(text) == "[redacted]…")
        #expect(KnownSecrets(["Tr&7&q\"z>pass'wd=9"]).mask("Tr&amp;7&am…") == "[redacted]…")
    }

    /// Texts that are made to take long: each look at a place is bounded, and what is masked is written once.
    @Test(.timeLimit(.minutes(1))) func longTexts() {
        let secrets = KnownSecrets(["secret-abc"])
        let count = 1 << 17
        for hostile in [#"\"#, "%25", "&#", "secret-", "+", #"\u"#, "&amp;", #"\u{"#, #"\xe4"#] {
            let text = String(repeating: hostile, count: count)
            #expect(secrets.mask(text + "!") == text + "!")
        }
        var rules = KnownSecrets.Rules()
        rules.masksParts = false
        let marks = KnownSecrets([String(repeating: "%25", count: 100) + "&amp;&amp;-"], rules: rules)
        for hostile in ["%", "25", "%25", "%2525", "&amp;", "%25&amp;"] {
            let text = String(repeating: hostile, count: 1 << 10)
            #expect(marks.mask(text + "!") == text + "!")
        }
        #expect(
            secrets.mask(String(repeating: "secret-abc", count: count))
                == String(repeating: "[redacted]", count: count))
    }

    @Test func theLongestOneCounts() {
        let secrets = KnownSecrets(["secret", "secret-and-more"])
        #expect(secrets.mask("a secret-and-more b secret") == "a [redacted] b [redacted]")
        #expect(
            KnownSecrets(["pass word 1"]).mask("p=pass+word+1 pass%20word%201") == "p=[redacted] [redacted]")
    }

    /// A text of several lines, also as JSON, twice, and as a program shows it.
    @Test func linesMayBeEscaped() {
        let secrets = KnownSecrets(["one\ntwo\r\n\tthree"])
        #expect(secrets.mask("a one\ntwo\r\n\tthree b") == "a [redacted] b")
        #expect(secrets.mask(#"{"a":"one\ntwo\r\n\tthree"}"#) == #"{"a":"[redacted]"}"#)
        #expect(secrets.mask(#"{\"a\":\"one\\ntwo\\r\\n\\tthree\"}"#) == #"{\"a\":\"[redacted]\"}"#)
        #expect(secrets.mask("onentwornttthree") == "onentwornttthree")
    }

    @Test func shortOnesAreNoSecrets() {
        #expect(KnownSecrets(["", "abcde"]).mask("abcde") == "abcde")
        #expect(KnownSecrets(["abcdef"]).mask("abcdef") == "[redacted]")
    }

    @Test func otherRules() {
        var rules = KnownSecrets.Rules()
        rules.mask = "*"
        rules.minBytes = 3
        rules.maxCount = 2
        rules.masksParts = false
        let secrets = KnownSecrets(["ab", "abc", "x\"y", "12345678901234567890"], rules: rules)
        let part = "1234567890123456789"
        #expect(secrets.mask(#"ab abc x"y {"a":"x\"y"} \#(part) "#) == #"ab abc * {"a":"*"} \#(part) "#)
        #expect(secrets.mask("12345678901234567890") == "*")
        #expect(!secrets.isEmpty && KnownSecrets(["ab"], rules: rules).isEmpty)
    }

    static func number() {
        let secrets = KnownSecrets()
        for index in 0 ... KnownSecrets.maxCount { secrets.note("secret-\(index)-x") }
        #expect(secrets.mask("secret-0-x") == "secret-0-x")
        #expect(secrets.mask("secret-1-x secret-\(KnownSecrets.maxCount)-x") == "[redacted] [redacted]")
        // One that is used again stays.
        secrets.note("secret-1-x")
        secrets.note("secret-new")
        #expect(secrets.mask("secret-1-x secret-2-x") == "[redacted] secret-2-x")
    }

    static func size() {
        let long = String(repeating: "a", count: KnownSecrets.maxBytes + 100)
        // All of it is masked, although its end is not known.
        #expect(KnownSecrets([long]).mask("\"\(long)\" b") == "\"[redacted]\" b")
        let secrets = KnownSecrets([String(repeating: "a", count: KnownSecrets.maxBytes) + "b"])
        #expect(secrets.mask(String(repeating: "a", count: KnownSecrets.maxBytes) + "c") == "[redacted]")
    }

    @Test func limits() {
        Self.number()
        Self.size()
    }
}
