import Testing

@testable import MCPCore

@Suite struct JSONScannerTests {
    private func scan<R>(_ text: String, _ body: (inout JSONScanner) throws -> R) rethrows -> R {
        let slice = ByteSlice(text)
        return unsafe try slice.withBytes { bytes in
            var scanner = unsafe JSONScanner(bytes)
            return try body(&scanner)
        }
    }

    @Test func walksOverAnObject() throws {
        try scan(#" { "method" : "tools\/call", "id":7 } "#) { scanner in
            scanner.skipWhitespace()
            try scanner.expect(ASCII.openBrace)
            let method = try scanner.scanKey()
            #expect(scanner.tokenEquals(method, "method"))
            #expect(!scanner.tokenEquals(method, "methods"))
            #expect(!scanner.tokenEquals(method, "Method"))
            let name = try scanner.scanString()
            #expect(name.hasEscapes)
            #expect(scanner.unescape(name) == "tools/call")
            #expect(scanner.tokenEquals(name, "tools/call"))
            #expect(scanner.string(name.quoted) == #""tools\/call""#)
            scanner.skipWhitespace()
            try scanner.expect(ASCII.comma)
            _ = try scanner.scanKey()
            let number = try scanner.scanNumber()
            #expect(scanner.string(number) == "7")
            scanner.skipWhitespace()
            try scanner.expect(ASCII.closeBrace)
            try scanner.finish()
        }
    }

    @Test func emptyTextHasNothingToPeek() {
        let scanner = unsafe JSONScanner(UnsafeBufferPointer(start: nil, count: 0))
        #expect(scanner.peek == 0)
    }

    @Test func valueIsSkippedToItsEnd() throws {
        try scan(#"  {"a":[1,{"b":"]}"}]} ,"#) { scanner in
            try scanner.scanValue(depth: 0)
            #expect(scanner.position == 22)
        }
    }

    /// The depth counts from what is open around the value.
    @Test func depthCountsTheContainersAround() throws {
        try scan("[[[]]]") { try $0.scanValue(depth: 61) }
        let error = #expect(throws: JSONError.self) { try scan("[[[]]]") { try $0.scanValue(depth: 62) } }
        #expect(error == JSONError(.depthExceeded(64), offset: 2))
    }

    @Test(arguments: [
        ("a", #"\u0061"#), ("é", #"\u00E9"#), ("😀", #"\ud83d\uDE00"#), ("a/b", #"a\/b"#),
        ("\u{0}", #"\u0000"#),
        ("\u{8}\u{c}\n\r\t\"\\", #"\b\f\n\r\t\"\\"#), ("€", #"\u20ac"#), ("x€y", #"x\u20acy"#),
    ])
    func escapesAreResolved(_ plain: String, _ escaped: String) throws {
        try scan("\"\(escaped)\"") { scanner in
            let token = try scanner.scanString()
            #expect(token.hasEscapes)
            #expect(scanner.unescape(token) == plain)
            var plain = plain
            #expect(plain.withUTF8 { unsafe scanner.tokenEquals(token, utf8: $0) })
            #expect(!scanner.tokenEquals(token, "nothing of the kind"))
        }
    }

    /// Every length and every place of a character that ends the plain part, across the borders of the
    /// vectors.
    @Test(arguments: ["\"", "\\n", "é", "😀", "\u{1}"]) func plainPartEndsAtEveryPlace(_ special: String) {
        for length in 0 ..< 70 {
            for place in 0 ... length {
                let text =
                    String(repeating: "x", count: place) + special
                    + String(repeating: "y", count: length - place)
                let isValid = special == "é" || special == "😀" || special == "\\n"
                let verdict = try? RawJSON(validating: "\"" + text + "\"")
                #expect((verdict != nil) == isValid)
                if isValid {
                    #expect(verdict?.string == text.replacing("\\n", with: "\n"))
                }
            }
        }
    }

    /// Fault row 21: linear, and the answer is right.
    @Test func megabyteOfEscapes() throws {
        let text = "\"" + String(repeating: #"\u0041"#, count: 175_000) + "\""
        let value = try JSONValue(parsing: text)
        #expect(value.stringValue == String(repeating: "A", count: 175_000))
        let backslashes = "\"" + String(repeating: #"\\"#, count: 500_000) + "\""
        #expect(try JSONValue(parsing: backslashes).stringValue?.utf8.count == 500_000)
        #expect(try JSONValue(parsing: backslashes).serialized() == backslashes)
    }

    /// Fault row 20: a million members and elements, linear.
    @Test func manyMembers() throws {
        let names = (0 ..< 200_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let value = try JSONValue(parsing: "{\(names),\"k5\":null}")
        #expect(value.objectValue?.count == 200_000)
        #expect(value["k199999"]?.intValue == 199_999)
        #expect(value["k5"] == .null)
        #expect(value["k200000"] == nil)
        #expect(value == value)
        let elements = "[" + String(repeating: "0,", count: 999_999) + "0]"
        #expect(try JSONValue(parsing: elements).arrayValue?.count == 1_000_000)
        let raw = try RawJSON(validating: "{\(names),\"k5\":null}")
        #expect(try raw.decode([String: Int?].self).count == 200_000)
    }
}
