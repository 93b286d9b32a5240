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

    @Test(arguments: [
        "", "plain\n\ttext", "Zürich, 日本語, עברית", "👩‍👩‍👧 ❤️ 1️⃣", "می‌خواهم", "क्‍ष", "e\u{301}",
    ])
    func whatIsSeenStays(text: String) { #expect(VisibleText.naming(text) == text) }
}
