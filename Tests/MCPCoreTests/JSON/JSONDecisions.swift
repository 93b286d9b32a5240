import MCPCore

/// What is accepted and what is refused, and why: the tests run this table and docs/json.md shows it.
enum JSONDecisions {
    struct Section: Sendable {
        let title: String
        let rows: [JSONDecision]
    }

    static let all: [JSONDecision] = sections.flatMap(\.rows)

    static let sections = [
        Section(title: "Structure", rows: structure),
        Section(title: "Literals", rows: literals),
        Section(title: "Numbers", rows: numbers),
        Section(title: "Strings", rows: strings),
        Section(title: "Encoding", rows: encoding),
        Section(title: "Where RFC 8259 leaves a choice", rows: choices),
    ]

    private static func nested(_ open: String, _ middle: String, _ close: String, _ depth: Int) -> String {
        String(repeating: open, count: depth) + middle + String(repeating: close, count: depth)
    }

    private static let structure: [JSONDecision] = [
        .accept("s-empty-object", "{}", "an object may be empty"),
        .accept("s-empty-array", "[]", "an array may be empty"),
        .accept("s-object", #"{"a":1,"b":[true,null],"c":{"d":""}}"#, "members keep their order"),
        .accept("s-array", #"[1,"a",{},[],null]"#, "elements may be of different kinds"),
        .accept("s-scalar-top", "17", "any value may stand at the top (section 2)"),
        .accept("s-string-top", #""x""#, "any value may stand at the top (section 2)"),
        .accept(
            "s-whitespace", " \t\r\n{ \"a\" :\n[ 1 , 2 ] , \"b\" : { } } \n", as: #"{"a":[1,2],"b":{}}"#,
            "space, tab, LF and CR may stand around every token"),
        .accept("s-empty-key", #"{"":0}"#, "a name may be empty"),
        .reject("s-empty", "", .unexpectedEnd, "a text holds exactly one value"),
        .reject("s-only-space", " \n ", .unexpectedEnd, "a text holds exactly one value"),
        .reject("s-two-values", "1 2", .trailingContent, "a text holds exactly one value"),
        .reject("s-two-objects", "{}{}", .trailingContent, "two messages on one line are an error"),
        .reject("s-junk-behind", "[] x", .trailingContent, "nothing but whitespace may follow"),
        .reject("s-nul-behind", "[]\0", .trailingContent, "NUL is not whitespace"),
        .reject("s-extra-bracket", "[]]", .trailingContent, "more closed than opened"),
        .reject("s-extra-brace", "{}}", .trailingContent, "more closed than opened"),
        .reject("s-open-array", "[", .unexpectedEnd, "not closed"),
        .reject("s-open-array-2", "[1", .unexpectedEnd, "not closed"),
        .reject("s-open-array-3", "[1,", .unexpectedEnd, "not closed"),
        .reject("s-open-object", "{", .unexpectedEnd, "not closed"),
        .reject("s-open-object-2", #"{"a"#, .unexpectedEnd, "not closed"),
        .reject("s-open-object-3", #"{"a""#, .unexpectedEnd, "not closed"),
        .reject("s-open-object-4", #"{"a":"#, .unexpectedEnd, "not closed"),
        .reject("s-open-object-5", #"{"a":1"#, .unexpectedEnd, "not closed"),
        .reject("s-open-object-6", #"{"a":1,"#, .unexpectedEnd, "not closed"),
        .reject("s-mixed-brackets", "[}", .unexpectedCharacter(0x7D), "closed by the wrong bracket"),
        .reject("s-mixed-brackets-2", #"{"a":1]"#, .unexpectedCharacter(0x5D), "closed by the wrong bracket"),
        .reject("s-trailing-comma", "[1,]", .unexpectedCharacter(0x5D), "a value must follow a comma"),
        .reject(
            "s-trailing-comma-object", #"{"a":1,}"#, .unexpectedCharacter(0x7D), "a name follows a comma"),
        .reject("s-leading-comma", "[,1]", .unexpectedCharacter(0x2C), "a value must precede a comma"),
        .reject("s-double-comma", "[1,,2]", .unexpectedCharacter(0x2C), "a value must stand between commas"),
        .reject("s-only-comma", "{,}", .unexpectedCharacter(0x2C), "a name must precede a comma"),
        .reject("s-no-comma", "[1 2]", .unexpectedCharacter(0x32), "elements are separated by commas"),
        .reject(
            "s-no-comma-object", #"{"a":1 "b":2}"#, .unexpectedCharacter(0x22),
            "members are separated by commas"),
        .reject("s-no-colon", #"{"a" 1}"#, .unexpectedCharacter(0x31), "a colon follows the name"),
        .reject("s-no-colon-2", #"{"a",1}"#, .unexpectedCharacter(0x2C), "a colon follows the name"),
        .reject("s-double-colon", #"{"a"::1}"#, .unexpectedCharacter(0x3A), "one colon follows the name"),
        .reject("s-no-value", #"{"a":}"#, .unexpectedCharacter(0x7D), "a value follows the colon"),
        .reject("s-number-key", "{1:2}", .unexpectedCharacter(0x31), "a name is a string"),
        .reject("s-bare-key", "{a:1}", .unexpectedCharacter(0x61), "a name is a string"),
        .reject("s-single-quotes", "{'a':1}", .unexpectedCharacter(0x27), "strings have double quotes"),
        .reject("s-colon-in-array", "[1:2]", .unexpectedCharacter(0x3A), "an array has no names"),
        .reject("s-comment", "/* x */[]", .unexpectedCharacter(0x2F), "JSON has no comments"),
        .reject("s-line-comment", "[1]//", .trailingContent, "JSON has no comments"),
        .reject("s-hash-comment", "[1,#\n2]", .unexpectedCharacter(0x23), "JSON has no comments"),
        .reject(
            "s-form-feed", "[\u{0C}1]", .unexpectedCharacter(0x0C), "form feed is not whitespace in JSON"),
        .reject(
            "s-vertical-tab", "[\u{0B}1]", .unexpectedCharacter(0x0B),
            "vertical tab is not whitespace in JSON"),
        .reject(
            "s-nbsp", "[\u{A0}1]", .unexpectedCharacter(0xC2), "a no-break space is not whitespace in JSON"),
        .reject("s-line-separator", "[1]\u{2028}", .trailingContent, "U+2028 is not whitespace in JSON"),
        .reject("s-text", "hello", .unexpectedCharacter(0x68), "a line that is not JSON"),
        .reject("s-http", "POST / HTTP/1.1", .unexpectedCharacter(0x50), "a line that is not JSON"),
    ]

    private static let literals: [JSONDecision] = [
        .accept("l-true", "true", "one of the three literal names"),
        .accept("l-false", "[false]", "one of the three literal names"),
        .accept("l-null", #"{"a":null}"#, "one of the three literal names"),
        .reject("l-upper", "True", .unexpectedCharacter(0x54), "literal names are lower case"),
        .reject("l-upper-2", "tRUE", .unexpectedCharacter(0x52), "literal names are lower case"),
        .reject("l-short", "tru", .unexpectedEnd, "literal names are complete"),
        .reject("l-short-2", "[nul]", .unexpectedCharacter(0x5D), "literal names are complete"),
        .reject("l-short-3", "f", .unexpectedEnd, "literal names are complete"),
        .reject("l-long", "nulls", .trailingContent, "nothing follows a literal name"),
        .reject("l-crossed", "frue", .unexpectedCharacter(0x72), "no such name"),
        .reject("l-alse", "alse", .unexpectedCharacter(0x61), "no such name"),
        .reject("l-undefined", "undefined", .unexpectedCharacter(0x75), "JavaScript, not JSON"),
        .reject("l-nan", "NaN", .unexpectedCharacter(0x4E), "JSON has no NaN (section 6)"),
        .reject("l-infinity", "Infinity", .unexpectedCharacter(0x49), "JSON has no infinities (section 6)"),
    ]

    private static let numbers: [JSONDecision] = [
        .accept("n-zero", "0", "the grammar's smallest number"),
        .accept("n-minus-zero", "-0", "the sign of zero is kept in the text"),
        .accept("n-int", "[1,-1,1234567890]", "integers"),
        .accept("n-fraction", "[0.5,-0.25,10.010]", "fractions keep their zeros"),
        .accept("n-exponent", "[1e2,1E2,1e+2,1e-2,1.5E10]", "exponents keep their spelling"),
        .accept("n-exponent-zeros", "1e00002", "an exponent may have leading zeros"),
        .accept("n-zero-exponent", "0e0", "zero may have an exponent"),
        .reject("n-plus", "+1", .unexpectedCharacter(0x2B), "no plus sign"),
        .reject("n-leading-zero", "01", .invalidNumber, "no leading zeros"),
        .reject("n-leading-zeros", "[-00]", .invalidNumber, "no leading zeros"),
        .reject("n-leading-zero-fraction", "00.5", .invalidNumber, "no leading zeros"),
        .reject("n-no-int", ".5", .unexpectedCharacter(0x2E), "a digit precedes the point"),
        .reject("n-no-int-minus", "-.5", .invalidNumber, "a digit precedes the point"),
        .reject("n-no-fraction", "[1.]", .invalidNumber, "a digit follows the point"),
        .reject("n-no-fraction-end", "1.", .unexpectedEnd, "a digit follows the point"),
        .reject("n-no-fraction-exponent", "1.e5", .invalidNumber, "a digit follows the point"),
        .reject("n-two-points", "1.2.3", .trailingContent, "one point"),
        .reject("n-no-exponent", "[1e]", .invalidNumber, "a digit follows the e"),
        .reject("n-no-exponent-end", "1e", .unexpectedEnd, "a digit follows the e"),
        .reject("n-no-exponent-sign", "[1e+]", .invalidNumber, "a digit follows the sign"),
        .reject("n-exponent-fraction", "1e2.5", .trailingContent, "an exponent is integral"),
        .reject("n-minus", "-", .unexpectedEnd, "a digit follows the minus"),
        .reject("n-minus-2", "[-]", .invalidNumber, "a digit follows the minus"),
        .reject("n-two-minus", "--1", .invalidNumber, "one minus"),
        .reject("n-minus-space", "[- 1]", .invalidNumber, "no space inside a number"),
        .reject("n-minus-infinity", "-Infinity", .invalidNumber, "JSON has no infinities"),
        .reject("n-hex", "0x1F", .trailingContent, "decimal only"),
        .reject("n-hex-array", "[0x1F]", .unexpectedCharacter(0x78), "decimal only"),
        .reject("n-underscore", "1_000", .trailingContent, "no separators"),
        .reject("n-suffix", "1f", .trailingContent, "no suffix"),
        .reject("n-fullwidth", "\u{FF11}", .unexpectedCharacter(0xEF), "ASCII digits only"),
    ]

    private static let strings: [JSONDecision] = [
        .accept("t-empty", #""""#, "a string may be empty"),
        .accept("t-plain", #""the quick brown fox jumps over the lazy dog""#, "longer than a vector"),
        .accept("t-escapes", #""\"\\\b\f\n\r\t""#, "the escapes that are written back as such"),
        .accept("t-slash", #""\/""#, as: #""/""#, "an escaped slash is a slash"),
        .accept(
            "t-u-escape", #""\u0041\u00e9\u20AC""#, as: #""Aé€""#, "four hexadecimal digits of either case"),
        .accept("t-u-control", #""\u0000\u001f""#, "control characters are escaped on writing"),
        .accept("t-u-quote", #""\u0022\u005c""#, as: #""\"\\""#, "an escaped quote does not end the string"),
        .accept("t-pair", #""\ud83d\ude00""#, as: #""😀""#, "a surrogate pair is one character"),
        .accept("t-delete", "\"\u{7F}\"", "U+007F is not a control character to the grammar"),
        .accept("t-separators", "\"\u{2028}\u{2029}\"", "line separators need no escape"),
        .accept("t-unicode", #""Grüße, 日本語, 😀, привет""#, "any character outside of ASCII"),
        .accept("t-noncharacter", "\"\u{FFFF}\u{10FFFF}\"", "noncharacters are code points like others"),
        .accept("t-bom-inside", "\"\u{FEFF}\"", "a byte order mark inside a string is a character"),
        .reject("t-open", #""abc"#, .unexpectedEnd, "not closed"),
        .reject("t-open-escape", #""abc\"#, .unexpectedEnd, "not closed"),
        .reject("t-open-escaped-quote", #""abc\""#, .unexpectedEnd, "the quote is escaped"),
        .reject("t-open-u", #""\u12"#, .unexpectedEnd, "not closed"),
        .reject("t-newline", "\"a\nb\"", .controlCharacter, "control characters must be escaped"),
        .reject("t-tab", "\"a\tb\"", .controlCharacter, "control characters must be escaped"),
        .reject("t-nul", "\"a\0b\"", .controlCharacter, "control characters must be escaped"),
        .reject(
            "t-unit-separator", "\"a long enough text before \u{1F}\"", .controlCharacter, "the last one"),
        .reject("t-newline-key", "{\"a\n\":1}", .controlCharacter, "names are strings"),
        .reject("t-bad-escape", #""\a""#, .invalidEscape, "no such escape"),
        .reject("t-bad-escape-x", #""\x41""#, .invalidEscape, "no such escape"),
        .reject("t-bad-escape-quote", #""\'""#, .invalidEscape, "no such escape"),
        .reject("t-bad-escape-octal", #""\0""#, .invalidEscape, "no such escape"),
        .reject("t-bad-escape-newline", "\"\\\n\"", .invalidEscape, "lines do not continue"),
        .reject("t-bad-escape-upper", #""\U0041""#, .invalidEscape, "the u is lower case"),
        .reject("t-bad-escape-utf8", "\"\\é\"", .invalidEscape, "no such escape"),
        .reject("t-u-short", #""\u41""#, .invalidEscape, "four digits"),
        .reject("t-u-letters", #""\u00zz""#, .invalidEscape, "hexadecimal digits"),
        .reject("t-u-braces", #""\u{41}""#, .invalidEscape, "not the form of other languages"),
        .reject("t-u-sign", #""\u+041""#, .invalidEscape, "hexadecimal digits"),
        .reject("t-single", "'a'", .unexpectedCharacter(0x27), "strings have double quotes"),
    ]

    private static let encoding: [JSONDecision] = [
        .reject(
            "e-bom", [0xEF, 0xBB, 0xBF, 0x5B, 0x5D], .byteOrderMark,
            "section 8.1 forbids to add one; no exceptions"),
        .reject("e-utf16-le", [0x5B, 0x00, 0x5D, 0x00], .unexpectedCharacter(0), "UTF-8 only (8.1)"),
        .reject("e-utf16-be", [0x00, 0x5B, 0x00, 0x5D], .unexpectedCharacter(0), "UTF-8 only (8.1)"),
        .reject(
            "e-utf16-bom", [0xFF, 0xFE, 0x5B, 0x00], .unexpectedCharacter(0xFF), "UTF-8 only (8.1)"),
        .reject(
            "e-utf32-le", [0x5B, 0, 0, 0, 0x5D, 0, 0, 0], .unexpectedCharacter(0), "UTF-8 only (8.1)"),
        .reject("e-latin1", [0x22, 0xE9, 0x22], .invalidUTF8, "Latin-1 is not UTF-8"),
        .reject("e-ff", [0x22, 0xFF, 0x22], .invalidUTF8, "no byte of UTF-8"),
        .reject("e-fe", [0x22, 0xFE, 0x22], .invalidUTF8, "no byte of UTF-8"),
        .reject("e-continuation", [0x22, 0x80, 0x22], .invalidUTF8, "a continuation byte without a lead"),
        .reject("e-cut-2", [0x22, 0xC3, 0x22], .invalidUTF8, "a sequence that is cut off"),
        .reject("e-cut-3", [0x22, 0xE2, 0x82, 0x22], .invalidUTF8, "a sequence that is cut off"),
        .reject("e-cut-4", [0x22, 0xF0, 0x9F, 0x98, 0x22], .invalidUTF8, "a sequence that is cut off"),
        .reject("e-cut-end", [0x22, 0xE2, 0x82], .invalidUTF8, "a sequence that is cut off by the end"),
        .reject("e-overlong-nul", [0x22, 0xC0, 0x80, 0x22], .invalidUTF8, "an overlong form"),
        .reject("e-overlong-slash", [0x22, 0xC0, 0xAF, 0x22], .invalidUTF8, "an overlong form"),
        .reject("e-overlong-c1", [0x22, 0xC1, 0xBF, 0x22], .invalidUTF8, "an overlong form"),
        .reject("e-overlong-3", [0x22, 0xE0, 0x9F, 0xBF, 0x22], .invalidUTF8, "an overlong form"),
        .reject("e-overlong-4", [0x22, 0xF0, 0x8F, 0xBF, 0xBF, 0x22], .invalidUTF8, "an overlong form"),
        .reject("e-surrogate", [0x22, 0xED, 0xA0, 0x80, 0x22], .invalidUTF8, "an encoded surrogate"),
        .reject(
            "e-cesu", [0x22, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80, 0x22], .invalidUTF8, "a pair as in CESU-8"),
        .reject("e-above", [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], .invalidUTF8, "above U+10FFFF"),
        .reject("e-f5", [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], .invalidUTF8, "above U+10FFFF"),
        .reject("e-five", [0x22, 0xF8, 0x88, 0x80, 0x80, 0x80, 0x22], .invalidUTF8, "five bytes"),
        .reject("e-key", [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], .invalidUTF8, "also in names"),
        .reject("e-outside", [0x5B, 0xFF, 0x5D], .unexpectedCharacter(0xFF), "also outside of strings"),
        .accept(
            "e-edges", "\"\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFD}\u{10000}\u{10FFFF}\"",
            "the ends of all ranges"),
    ]

    private static let choices: [JSONDecision] = [
        .reject(
            "c-lone-high", #""\ud800""#, .loneSurrogate,
            "section 8.2: not a character; never turned into U+FFFD"),
        .reject("c-lone-low", #""\udc00""#, .loneSurrogate, "section 8.2: not a character"),
        .reject("c-two-high", #""\ud800\ud800""#, .loneSurrogate, "section 8.2: not a pair"),
        .reject("c-reversed", #""\ude00\ud83d""#, .loneSurrogate, "section 8.2: not a pair"),
        .reject("c-high-text", #""\ud83dx""#, .loneSurrogate, "section 8.2: not a pair"),
        .reject("c-high-escape", #""\ud83d\n""#, .loneSurrogate, "section 8.2: not a pair"),
        .accept(
            "c-duplicate", #"{"a":1,"b":2,"a":3}"#, as: #"{"a":3,"b":2}"#,
            "section 4: the last value counts, at the place of the first"),
        .accept("c-duplicate-escaped", #"{"a":1,"\u0061":2}"#, as: #"{"a":2}"#, "section 8.3: the same name"),
        .accept(
            "c-equivalent-names", "{\"\u{E9}\":1,\"e\u{301}\":2}",
            "section 8.3: names are compared by code point, not by canonical equivalence"),
        .accept("c-nul-escape", #"{"a\u0000b":"\u0000"}"#, "allowed in JSON; what uses a text may refuse it"),
        .accept("c-huge", "1e400", "section 6: any range; the exact text is kept"),
        .accept("c-tiny", "1e-400", "section 6: any range; the exact text is kept"),
        .accept("c-huge-exponent", "1e99999999999999999999", "section 6: any range; the exact text is kept"),
        .accept(
            "c-precise", "3.141592653589793238462643383279",
            "section 6: any precision; the exact text is kept"),
        .accept(
            "c-2-63", "[9223372036854775807,9223372036854775808,-9223372036854775809]",
            "the text is kept; asking for an Int64 fails where it does not fit"),
        .accept(
            "c-integral", "[1.0,1e2,100e-2]", "the text is kept; asking for an integer gives 1, 100 and 1"),
        .accept(
            "c-depth-64", shown: "`[` × 64, `]` × 64", nested("[", "", "]", 64),
            "section 9: the default limit"),
        .reject(
            "c-depth-65", shown: "`[` × 65, `]` × 65", nested("[", "", "]", 65), .depthExceeded(64),
            "section 9: one more than the limit"),
        .accept(
            "c-depth-64-object", shown: "`{\"a\":` × 63, `{}`, `}` × 63", nested("{\"a\":", "{}", "}", 63),
            "section 9: objects count as arrays do"),
        .reject(
            "c-depth-65-object", shown: "`{\"a\":` × 65, `1`, `}` × 65", nested("{\"a\":", "1", "}", 65),
            .depthExceeded(64), "section 9: objects count as arrays do"),
        .reject(
            "c-depth-million", shown: "`[` × 1,000,000", nested("[", "", "", 1_000_000), .depthExceeded(64),
            "section 9: refused at the 65th, without memory for the others"),
        .accept(
            "c-long-string", shown: "a string of 100,000 letters", "\"" + nested("a", "", "", 100_000) + "\"",
            "section 9: strings have no limit of their own"),
        .accept(
            "c-long-number", shown: "`1` × 100,000", nested("1", "", "", 100_000),
            "section 9: numbers have no limit of their own"),
    ]
}
