import Foundation
import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// The parts of the line editor: keys, the line, its history.
struct LineEditingTests {
    private func keys(_ text: String) -> [Key] {
        var decoder = KeyDecoder()
        return decoder.take(text.utf8)
    }

    @Test func bytesBecomeKeys() {
        #expect(keys("aé\u{1F600}") == [.text("a"), .text("é"), .text("\u{1F600}")])
        #expect(keys("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D") == [.up, .down, .right, .left])
        #expect(
            keys("\u{1B}[H\u{1B}[4~\u{1B}[3~\u{1B}[1;5C\u{1B}b") == [
                .home, .end, .delete, .wordRight, .wordLeft,
            ])
        #expect(
            keys("\u{03}\u{04}\t\r\u{7F}\u{17}") == [
                .interrupt, .endOfInput, .tab, .enter, .backspace, .deleteWord,
            ])
        // A character that arrives in parts.
        var decoder = KeyDecoder()
        #expect(decoder.take([0xC3]) == [])
        #expect(decoder.take([0xA9]) == [.text("é")])
    }

    /// The beginning of a sequence that nothing continues takes no key with it.
    @Test func strayBytesSwallowNoKey() {
        for stray: [UInt8] in [[0xF0], [0xE4], [0xF0, 0x9F], [0x1B], [0x1B, 0x5B], [0x9F]] {
            var decoder = KeyDecoder()
            let before = decoder.take(stray).filter { $0 != .other }
            #expect(before == [])
            #expect(decoder.take([0x03]).filter { $0 != .other } == [.interrupt])
            _ = decoder.take(stray)
            #expect(decoder.take([0x0D]).filter { $0 != .other } == [.enter])
        }
        var decoder = KeyDecoder()
        _ = decoder.take([0x1B])
        decoder.dropUnfinished()
        #expect(decoder.take("b".utf8) == [.text("b")])
        _ = decoder.take([0xF0, 0x9F])
        #expect(decoder.take("cdef".utf8) == [.text("c"), .text("d"), .text("e"), .text("f")])
    }

    /// Nothing that is pasted runs, completes or edits anything, also if it arrives in parts.
    @Test func whatIsPastedIsText() {
        let paste = "\u{1B}[200~call a\rb\tc\n\u{03}\u{04}\u{15}\u{1B}[A\u{1B}[3~é\u{1B}[201~"
        #expect(keys("x" + paste + "\r") == [.text("x"), .text("call a b c é"), .enter])
        var decoder = KeyDecoder()
        var parts: [Key] = []
        for byte in paste.utf8 { parts += decoder.take([byte]) }
        #expect(parts.map { if case .text(let text) = $0 { text } else { "?" } }.joined() == "call a b c é")
        #expect(decoder.take("\r".utf8) == [.enter])
        #expect(keys("\u{1B}[200~\u{1B}[201~") == [])
    }

    /// The end of a paste may never come: Ctrl-C drops it, after a silence, and nothing runs what was pasted.
    @Test func aPasteWithoutEnd() {
        var decoder = KeyDecoder()
        #expect(decoder.take("\u{1B}[200~ab".utf8) == [.text("ab")])
        #expect(decoder.take([0x03]) == [])
        #expect(decoder.take([0x03], after: .milliseconds(999)) == [])
        #expect(decoder.take("\r".utf8, after: .seconds(60)) == [.text(" ")])
        #expect(decoder.take([0x03], after: .milliseconds(600)) == [] && decoder.isPasting)
        #expect(decoder.take([0x03, 0x03], after: .milliseconds(600)) == [.interrupt] && !decoder.isPasting)
        #expect(decoder.take("\u{1B}[201~x\r".utf8) == [.text("x"), .enter])
    }

    @Test func controlCharactersAreNotText() {
        #expect(keys("\u{9B}\u{202E}") == [.other, .other])
        // A sequence without end is given up.
        #expect(keys("\u{1B}[" + String(repeating: "0", count: 40)).count < 40)
    }

    @Test func keysEditTheLine() {
        var line = LineBuffer("call add")
        for key in keys(" x\u{1B}[D\u{1B}[Dab\u{01}>\u{05}!\u{7F}") { _ = line.apply(key) }
        #expect(line.text == ">call addab x")
        for key in keys("\u{17}\u{17}") { _ = line.apply(key) }
        #expect(line.text == ">call ")
        for key in keys("\u{02}\u{02}\u{0B}") { _ = line.apply(key) }
        #expect(line.text == ">cal")
        for key in keys("\u{15}\u{7F}\u{1B}[3~\u{1B}[D") { _ = line.apply(key) }
        #expect(line.text.isEmpty && line.cursor == 0)
    }

    @Test func aLongLineIsShownAroundItsCursor() {
        let line = LineBuffer(String(repeating: "x", count: 100) + "end")
        let (text, column) = line.visible(width: 20)
        #expect(text.hasSuffix("end") && column < 20 && text.count < 20)
        #expect(LineBuffer("日本").visible(width: 20).column == 4)
    }

    @Test(arguments: [
        "call add a=1 --answer pin=1234", "raw x '{\"token\":\"Bearer abc\"}'", " call secretly",
        "call login password=x", "tools -H 'X: y'", "call x api_key=abc", "",
        "a\u{1B}[2J", "call book pin=1234", "call book card.pin:=1234", "call x '{\"pin\":1234}'",
        "call x login:={\"password\":\"a\"}", "call x text=ghp_abc123", "call x text='use sk-abc12345'",
        "call x --otp 123456",
    ])
    func secretsAreNotKept(line: String) { #expect(!ShellHistory.isKept(line)) }

    @Test(arguments: ["call add a=2 b=3", "call x '{\"spin\":1}'", "call x opinion=good", "read file:///a"])
    func otherLinesAreKept(line: String) { #expect(ShellHistory.isKept(line)) }

    @Test func theHistoryIsAFileOfItsOwner() throws {
        let folder = TemporaryDirectory()
        let history = ShellHistory { $0 == "XDG_STATE_HOME" ? folder.path : nil }
        history.add("tools")
        history.add("tools")
        history.add("call login password=x")
        history.add("call add a=1 b=2")
        #expect(history.lines == ["tools", "call add a=1 b=2"])
        let path = folder.path + "/mcpcore/" + ShellHistory.name
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "tools\ncall add a=1 b=2\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(ShellHistory { $0 == "XDG_STATE_HOME" ? folder.path : nil }.lines == history.lines)
    }

    /// What is written while a line is being typed.
    @Test func aMessageComesAboveTheLine() {
        let terminal = MemorySink(isTerminal: true)
        let sink = PromptSink.on(terminal)
        sink.write("before\n")
        sink.draw("\rdemo> ca\u{1B}[K")
        sink.write("info: a message\n")
        sink.leave("\r\n")
        sink.write("a result\n")
        #expect(
            terminal.text == "before\n" + "\rdemo> ca\u{1B}[K"
                + "\r\u{1B}[Kinfo: a message\n\rdemo> ca\u{1B}[K" + "\r\n" + "a result\n")
        #expect(sink.isTerminal)
    }
}
