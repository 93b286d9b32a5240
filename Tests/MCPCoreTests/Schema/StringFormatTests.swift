import Testing

@testable import MCPCore

@Suite struct StringFormatTests {
    static let cases: [(format: StringFormat, valid: [String], invalid: [String])] = [
        (
            .date, ["2024-02-29", "1999-12-31"],
            ["2023-02-29", "2024-13-01", "2024-1-01", "2024-01-00", "24-01-01"]
        ),
        (
            .time, ["23:59:60Z", "12:00:00.5+01:00", "22:59:60-01:00"],
            ["24:00:00Z", "12:00:60Z", "12:00:00", "12:00:00.Z", "12:00:00+24:00"]
        ),
        (
            .dateTime, ["2026-01-02T03:04:05Z", "2026-01-02t03:04:05.123z"],
            ["2026-01-02 03:04:05Z", "2026-01-02T", "2026-02-30T00:00:00Z"]
        ),
        (
            .duration, ["P1Y2M3DT4H5M6S", "P2W", "PT1S", "P1D"],
            ["P", "PT", "P1", "P1Y3D", "P1DT", "P1W2D", "1D", "PT1D"]
        ),
        (
            .email, ["a.b+c@example.com", "\"a b\"@x.org", "a@[127.0.0.1]", "a@[IPv6:::1]"],
            ["a", "a..b@x", "@x", "a@-x", "a b@x"]
        ),
        (
            .hostname, ["example.com", "a", "xn--4gbwdl.xn--wgbh1c", "1.2"],
            ["", "-a", "a-", "a..b", "a_b", "a."]
        ),
        (.ipv4, ["0.0.0.0", "255.255.255.255"], ["256.1.1.1", "1.2.3", "01.1.1.1", "1.2.3.4.5", "1.2.3.x"]),
        (
            .ipv6, ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2::7:8"],
            [
                "", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "12345::", "1:2:3:4:5:6:7::8:9", "::1.2.3",
                ":1:2:3:4:5:6:7",
            ]
        ),
        (
            .uri, ["http://a.b:80/c?d=e#f", "urn:x:y", "mailto:a@b.c", "http://[::1]/", "a:%20"],
            ["//a", "a b:c", "http://a b", "http://[x]/", "1a:b", "http://a/%2", "http://é"]
        ),
        (.uriReference, ["/a", "", "#f", "../x?y", "a/b:c"], ["a\\b", "\u{E9}", "1:b", "#a#b"]),
        (.iri, ["http://é.example/ü"], ["/é", "http://a b"]), (.iriReference, ["/é"], ["\\"]),
        (.uriTemplate, ["/a{b,c*}{?d:3}", "{+p}"], ["{", "a}", "{a b}", "{}", "{a:0}", "%zz"]),
        (
            .uuid, ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
            ["2eb8aa08aa9811eab4aa73b441d16380", "zeb8aa08-aa98-11ea-b4aa-73b441d16380"]
        ),
        (.jsonPointer, ["", "/a~0b/0", "/"], ["a", "/~2", "/~"]),
        (.relativeJSONPointer, ["0", "1/a", "10#"], ["01", "-1", "/a", "0a"]),
        (.regex, ["^a$"], ["(", "\\a"]),
    ]

    @Test(arguments: cases)
    func accepts(_ format: StringFormat, _ valid: [String], _ invalid: [String]) {
        for text in valid { #expect(format.accepts(text), "\(text)") }
        for text in invalid { #expect(!format.accepts(text), "\(text)") }
    }
}
