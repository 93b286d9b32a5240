import MCPHarness
import TestSupport
import Testing

@testable import MCPClientCLI

/// What nobody would see in a question.
@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("a\u{202E}b", "a⟨U+202E⟩b"), ("x\u{200B}", "x⟨U+200B⟩"), ("\u{7}", "⟨U+0007⟩"),
        ("a\r\nb", "a⟨U+000D⟩\nb"),
        ("ok\u{E0041}\u{E0042}\u{E0043}", "ok⟨3 hidden characters⟩"),
        ("a\u{FE0F}\u{FE01}b", "a⟨2 hidden characters⟩b"),
        ("👍\u{E0100}\u{E0101}", "👍⟨2 hidden characters⟩"), ("\u{2066}x\u{2069}", "⟨U+2066⟩x⟨U+2069⟩"),
        ("a\u{3164}b", "a⟨U+3164⟩b"), ("\u{E000}", "⟨U+E000⟩"),
    ])
    func whatIsHiddenIsNamed(text: String, shown: String) { #expect(VisibleText.naming(text) == shown) }

    /// The whole text in one line, in which nothing is out of sight.
    @Test(arguments: [
        ("a  b", "a  b"), ("a\nb", "a⏎b"), ("a\r\nb", "a⟨U+000D⟩⏎b"), ("a\u{A0}b", "a⟨U+00A0⟩b"),
        ("a" + String(repeating: " ", count: 5_000) + "b", "a⟨5000 blanks⟩b"),
        (String(repeating: "\n", count: 9) + "b", "⟨9 line ends⟩b"),
        ("a \u{2003}\n", "a⟨2 blanks and 1 line end⟩"), ("a\u{2800}b", "a⟨U+2800⟩b"),
        ("\u{1B}[2J", "⟨U+001B⟩[2J"),
        (String(repeating: "x", count: 10_000), String(repeating: "x", count: 10_000)),
    ])
    func lines(text: String, shown: String) { #expect(VisibleText.line(text) == shown) }

    /// The whole text in its lines, in which no blank moves anything out of sight.
    @Test(arguments: [
        ("a\n  b\n\n\nc", "a\n  b\n\n\nc"),
        (
            "Thanks!" + String(repeating: "\n", count: 200) + "Wipe all",
            "Thanks!\n⟨199 blank lines⟩\nWipe all"
        ),
        ("a\n \u{2003}\n\t\n\u{A0}\nb", "a\n⟨3 blank lines⟩\nb"),
        ("a" + String(repeating: "\u{3000}", count: 41) + "b", "a⟨41 blanks⟩b"), ("\u{202E}x", "⟨U+202E⟩x"),
    ])
    func blocks(text: String, shown: String) { #expect(VisibleText.block(text) == shown) }

    /// One long line of a peer costs as much for each of its characters as a short one.
    @Test(arguments: ["a", "a ", "a\u{A0}", "a\u{202E}", "a\n", "\u{200B}", "日", "👩\u{200D}"])
    func theTimeGrowsWithTheText(part: String) {
        func time(_ size: Int) -> Duration {
            let text = String(repeating: part, count: size / part.utf8.count)
            return threadTime {
                #expect(!VisibleText.block(text).isEmpty)
                #expect(!VisibleText.line(text).isEmpty)
            }
        }
        _ = time(16 << 10)
        // 16 times the work; 256 times if each character moved all of the text.
        #expect(time(1 << 20) < (time(64 << 10) + .milliseconds(5)) * 64)
    }

    /// The lines of a peer's text are marked, also where the terminal breaks them.
    @Test(
        arguments: [
            ("one", nil, ["one"]), ("", nil, [""]), ("one\ntwo", nil, ["one", "  | two"]),
            ("a\n\nb\n\n\n\nc\n\n", nil, ["a", "  | ", "  | b", "  | ⟨3 blank lines⟩", "  | c"]),
            ("aaaa bbbb cccc dddd eeee", 20, ["aaaa bbbb", "  | cccc dddd eeee"]),
            ("abcdefghijklmnopqrstuvwxyzABCD", 20, ["abcdefghijkl", "  | mnopqrstuvwxyzAB", "  | CD"]),
        ] as [(String, Int?, [String])])
    func markedLines(text: String, width: Int?, shown: [String]) {
        #expect(MarkedText.lines(text, after: 8, width: width) == shown)
    }

    @Test(arguments: [
        "", "plain\n\ttext", "Zürich, 日本語, עברית", "👩‍👩‍👧 ❤️ 1️⃣", "می‌خواهم", "क्‍ष", "e\u{301}",
    ])
    func whatIsSeenStays(text: String) { #expect(VisibleText.naming(text) == text) }
}

/// The text of a model, in the pieces in which it comes.
@Suite struct AgentPrinterTests {
    private func printed(_ pieces: [String]) -> String {
        let sink = MemorySink(isTerminal: true)
        let console = Console(stdout: sink, stderr: MemorySink(), options: Options(), variable: { _ in nil })
        var printer = AgentPrinter(console: console, printsEvents: false)
        for piece in pieces { printer.show(.textDelta(piece)) }
        printer.giveUp()
        return sink.text
    }

    /// An emoji of several characters, and joined letters, stay whole.
    @Test(arguments: [
        ["❤", "\u{FE0F}", " b"], ["👨", "\u{200D}", "👩", "\u{200D}", "👧"], ["1", "\u{FE0F}\u{20E3}"],
        ["می", "\u{200C}", "خواهم"], ["a", "", "b"], ["", "é"], ["क\u{94D}", "\u{200D}", "ष"],
    ])
    func piecesOfATextAreLookedAtTogether(_ pieces: [String]) {
        #expect(printed(pieces).utf8.elementsEqual("\(pieces.joined())\n".utf8))
    }

    /// While a question is open, whole lines stand above it; the rest comes when it has been answered.
    @Test func piecesDoNotMixWithAQuestion() async {
        let terminal = MemorySink(isTerminal: true)
        let prompt = PromptSink.on(terminal)
        let console = Console(
            stdout: prompt.sharing(terminal), stderr: prompt, options: Options(), variable: { _ in nil })
        var printer = AgentPrinter(console: console, printsEvents: false)
        func answering(_ pieces: [String]) async {
            let (lines, keyboard) = AsyncStream.makeStream(of: String.self)
            let asking = Task {
                prompt.write("\n")
                return await prompt.ask("name: ") { await lines.first { _ in true } }
            }
            while !prompt.isAsking { await Task.yield() }
            for piece in pieces { printer.show(.textDelta(piece)) }
            if pieces.isEmpty { printer.giveUp() }
            keyboard.yield("Ada")
            _ = await asking.value
        }
        printer.show(.textDelta("one tw"))
        await answering(["o", " three\nfour", " fi"])
        printer.show(.textDelta("ve"))
        await answering([" six"])
        printer.giveUp()
        printer.show(.textDelta("seven"))
        await answering([])
        let asked = "\nname: "
        #expect(
            terminal.text
                == "one tw" + asked + "\no three\n" + "name: " + "four five" + asked + " six\nseven" + asked)
    }

    @Test func hiddenCharactersAreNamed() {
        #expect(printed(["a", "\u{200B}", "\u{1B}[2J", "x\n"]) == "a\\u{200b}\\e[2Jx\n")
    }

    /// A character of any length is not waited for.
    @Test func marksWithoutEndAreWritten() {
        let sink = MemorySink(isTerminal: true)
        let console = Console(stdout: sink, stderr: MemorySink(), options: Options(), variable: { _ in nil })
        var printer = AgentPrinter(console: console, printsEvents: false)
        for _ in 0 ..< 200 { printer.show(.textDelta("\u{301}")) }
        #expect(sink.text.unicodeScalars.count > 100)
    }
}
