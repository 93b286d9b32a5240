import MCPCore
import TestSupport
import Testing

@Suite struct URITemplateTests {
    // RES-10
    @Test(
        arguments: [
            ("file:///{path}", "file:///a.txt", ["path": "a.txt"]),
            ("file:///{path}", "file:///a/b", nil),
            ("file:///{path}", "file:///", nil),
            ("file:///{path}", "file:///a?q", nil),
            ("file:///{path}", "file:///a#f", nil),
            ("file:///{+path}", "file:///a/b?c#d", ["path": "a/b?c#d"]),
            ("mem://a", "mem://a", [:]),
            ("mem://a", "mem://ab", nil),
            ("mem://a", "mem://", nil),
            ("db://{table}/{row}", "db://users/7", ["table": "users", "row": "7"]),
            ("db://{table}/{row}", "db://users/", nil),
            ("db://{table}/{row}", "db://users/7/8", nil),
            ("x:{a}.json", "x:b.json", ["a": "b"]),
            ("x:{a}.json", "x:b.json.json", ["a": "b.json"]),
            ("x:{a}.json", "x:.json", nil),
            ("x:{a}-{b}", "x:1-2-3", ["a": "1", "b": "2-3"]),
            ("x:{a}-{b}", "x:--2", ["a": "-", "b": "2"]),
            ("x:{a}-{b}", "x:-2", nil), ("x:{a}-{b}", "x:-2", nil),
            ("x:{+a}/end", "x:1/2/end", ["a": "1/2"]),
            ("x:{a_b.c1}", "x:1", ["a_b.c1": "1"]),
            ("x:{a}", "x:%41%20%C3%A9", ["a": "A é"]),
            // RES-18: what is not UTF-8, or holds a NUL, is no value.
            ("x:{a}", "x:%", nil), ("x:{a}", "x:%4", nil), ("x:{a}", "x:%zz", nil), ("x:{a}", "x:%FF", nil),
            ("x:{a}", "x:%00", nil),
            ("x:{a}", "x:é", ["a": "é"]),
        ] as [(String, String, [String: String]?)])
    func matches(_ template: String, _ uri: String, _ values: [String: String]?) throws {
        #expect(try URITemplate(template).match(uri) == values)
    }

    @Test(arguments: [
        "x:{", "x:{a", "x:{}", "x:{+}", "x:{a,b}", "x:{?q}", "x:{/a}", "x:{a*}", "x:{a}{b}", "x:{a:3}",
    ])
    func unsupported(_ template: String) {
        let error = #expect(throws: RegistrationError.self) { try URITemplate(template) }
        #expect(error?.description.contains(template) == true)
    }

    /// Addresses that make backtracking matchers slow (CVE-2026-0621): the time grows with the text only.
    @Test(arguments: [
        ("x:{a}-{b}-{c}-{d}!", "-"), ("x:{+a}/{+b}/{+c}/end", "/"), ("x:{+a}ab{+b}ab{+c}abc", "ab"),
        ("x:{a}aaaaaaaa{b}", "a"), ("x:{+a}aaaaaaab", "a"), ("x:{a}", "%41"), ("x:{+a},{+b};", ","),
    ]) func hostileAddresses(_ template: String, _ piece: String) throws {
        let pattern = try URITemplate(template)
        // A matcher that backtracks needs more than 10^10 steps for this; a linear one a few milliseconds.
        let uri = "x:" + String(repeating: piece, count: 262_144 / piece.utf8.count)
        let elapsed = threadTime { _ = pattern.match(uri) }
        #expect(elapsed < .seconds(5))
    }

    /// As many variables as there may be: each byte is looked at once.
    @Test func manyVariables() throws {
        for variable in ["{a}", "{+a}"] {
            let count = (URITemplate.maxBytes - 4) / (variable.utf8.count + 1)
            let pattern = try URITemplate("x:" + String(repeating: "\(variable)x", count: count) + "!k")
            let uri = "x:" + String(repeating: "x", count: 1 << 20)
            let elapsed = threadTime { _ = pattern.match(uri) }
            #expect(elapsed < .seconds(5))
        }
    }

    @Test func aLongTemplate() throws {
        let text = "x:" + String(repeating: "a", count: URITemplate.maxBytes - 2)
        #expect(try URITemplate(text).match(text) == [:])
        #expect(throws: RegistrationError.self) { try URITemplate(text + "a") }
    }

    @Test(
        arguments: [
            ("x:{a}/{+b}", ["a": "1/2", "b": "3/4"], "x:1%2F2/3/4", true),
            ("x:{a}/{+b}", ["b": "c"], "x:", false), ("x:{a}/{+b}", ["a": "{"], "x:%7B/", false),
            ("x:y", [:], "x:y", true),
        ] as [(String, [String: String], String, Bool)])
    func filled(_ template: String, _ values: [String: String], _ text: String, _ isWhole: Bool) throws {
        let filled = try URITemplate(template).filled(values)
        #expect(filled.text == text && filled.isWhole == isWhole)
    }
}
