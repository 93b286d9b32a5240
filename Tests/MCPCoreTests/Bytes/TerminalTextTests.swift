import MCPCore
import Testing

/// Fault row 108: a server's text cannot steer the terminal. Fault row 110: it cannot forge lines of ours.
struct TerminalTextTests {
    @Test(arguments: [
        ("plain ü 漢 🙂", "plain ü 漢 🙂"),
        ("\u{1B}[31mred\u{1B}[0m", "\\e[31mred\\e[0m"),
        ("\u{1B}]0;title\u{07}", "\\e]0;title\\u{7}"),
        ("\u{9B}31m", "\\u{9b}31m"),
        ("a\u{202E}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
        ("a\u{08}b\u{7F}", "a\\u{8}b\\u{7f}"),
        ("tag\u{E0041}", "tag\\u{e0041}"),
        ("over\rwritten", "over\\rwritten"),
        ("end\r", "end\\r"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("tab\tstays\nline", "tab\tstays\nline"),
        ("\u{2028}", "\\u{2028}"),
        ("ad\u{200D}d д\u{200D}а", "ad\\u{200d}d д\\u{200d}а"), ("1\u{FE0F}\u{20E3}", "1\u{FE0F}\u{20E3}"),
    ])
    func blocksAreHarmless(text: String, shown: String) {
        #expect(TerminalText.block(text) == shown)
    }

    @Test(arguments: [
        ("a\nerror: forged", "a\\nerror: forged"), ("a\r\nb", "a\\r\\nb"), ("a\tb", "a\\tb"),
        ("\u{1B}c", "\\ec"), ("ad\u{200B}d", "ad\\u{200b}d"), ("ad\u{200D}d", "ad\\u{200d}d"),
        ("ad\u{FE0F}d", "ad\\u{fe0f}d"), ("a\u{AD}\u{2060}\u{3164}b", "a\\u{ad}\\u{2060}\\u{3164}b"),
        ("a\u{E0100}", "a\\u{e0100}"), ("👩\u{200D}🚀 ❤\u{FE0F}", "👩\u{200D}🚀 ❤\u{FE0F}"),
        ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("क्\u{200D}ष", "क्\u{200D}ष"),
        ("д\u{200D}а", "д\\u{200d}а"), ("é\u{200C}", "é\\u{200c}"), ("1\u{FE0F}", "1\\u{fe0f}"),
        ("❤\u{FE0F}\u{200D}🔥", "❤\u{FE0F}\u{200D}🔥"),
        ("م\u{200D}\u{200D}", "م\u{200D}\\u{200d}"), ("❤\u{FE0F}\u{FE0F}", "❤\u{FE0F}\\u{fe0f}"),
    ])
    func namesStayInOneLine(text: String, shown: String) {
        #expect(TerminalText.inline(text) == shown)
    }

    @Test func aLongLineIsCutWithANote() {
        let text = String(repeating: "x", count: 10_000_000) + "\nnext"
        let shown = TerminalText.block(text)
        #expect(shown.utf8.count < 5000)
        #expect(shown.contains("… (9995904 more characters; a pipe gets all of them)\nnext"))
    }

    @Test func aLongNameIsCut() {
        #expect(TerminalText.inline(String(repeating: "x", count: 300), limit: 10) == "xxxxxxxxxx…")
        #expect(TerminalText.inline("exactly10!", limit: 10) == "exactly10!")
    }
}
