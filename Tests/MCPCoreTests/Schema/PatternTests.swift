import TestSupport
import Testing

@testable import MCPCore

@Suite struct PatternTests {
    private func find(_ pattern: String, _ text: String) throws -> Bool? {
        var budget = 50_000_000
        return try Pattern(pattern).isFound(in: text, budget: &budget)
    }

    @Test(arguments: [
        ("abc", "xabcx", true), ("^abc$", "abc\n", false), ("^a*$", "", true), ("a.c", "a\nc", false),
        ("^(ab|cd)+$", "abcdab", true), ("^(?:ab|)x", "x", true), ("^a{2,3}$", "aaaa", false),
        ("^a{2,3}$", "aaa", true), ("^a{2}$", "aa", true), ("^a{2,}$", "aaaaa", true), ("^a{0}$", "", true),
        ("^a+?b", "aab", true), ("^[a-c\\d_-]+$", "b7-_", true), ("[^a-z]", "abc", false),
        ("^[^]$", "\n", true),
        ("[]", "a", false), ("^\\w+\\s\\S$", "ab_1 é", true), ("^\\W\\D$", "éx", true),
        ("\\bfoo\\b", "a foo.", true),
        ("\\bfoo\\b", "afoo", false), ("a\\Bb", "ab", true), ("^\\u0041\\x42\\u{43}$", "ABC", true),
        ("^\\uD83D\\uDC32$", "🐲", true), ("^🐲*$", "🐲🐲", true), ("^\\p{Lu}\\p{Letter}+$", "Élan", true),
        ("^\\P{L}$", "1", true), ("^[\\p{Nd}x]$", "৪", true), ("^[^\\p{L}]$", "é", false),
        ("^\\cA$", "\u{1}", true),
        ("^\\.\\-\\/\\{$", ".-/{", true), ("^a{x}$", "a{x}", true), ("^(?<year>\\d{4})$", "2026", true),
        ("^\\s$", "\u{FEFF}", true), ("^[\\b]$", "\u{8}", true), ("^[\\W]$", "é", true),
        ("^[\\w-]+$", "a-b", true),
    ])
    func matches(_ pattern: String, _ text: String, _ expected: Bool) throws {
        #expect(try find(pattern, text) == expected)
    }

    /// An assertion itself has no quantifier; a group around it may have one.
    @Test(arguments: [
        ("^(?:\\b)?a$", "a", true), ("^(?:\\B)?a$", "a", true), ("x(\\b)+$", "x", true),
        ("x(\\b)+y", "xy", false),
        ("(^)?a", "ba", true), ("(^)*a$", "ba", true), ("^(\\b){2}a", "a", true), ("^($){0}a", "a", true),
        ("(?:\\b|c)*d", "ccd", true),
    ])
    func repeatsGroupsOfAssertions(_ pattern: String, _ text: String, _ expected: Bool) throws {
        #expect(try find(pattern, text) == expected)
    }

    @Test(arguments: [
        ("^(?=.*[A-Z])(?=.*\\d).{4,}$", "aB3x", true), ("^(?=.*[A-Z])(?=.*\\d).{4,}$", "ab3x", false),
        ("^(?!.*foo)", "a foo", false), ("^(?!.*foo)", "a bar", true), ("(?<=\\$)\\d+", "cost $42", true),
        ("(?<!\\$)\\b\\d+", "cost $42", false), ("^(?!(?=ab)a)", "ab", false), ("a(?=b$)", "ab", true),
    ])
    func looksAround(_ pattern: String, _ text: String, _ expected: Bool) throws {
        #expect(try find(pattern, text) == expected)
    }

    @Test(arguments: [
        ("(a", "\"(\" is not closed"), ("a)", "\")\" without \"(\""), ("[a", "\"[\" is not closed"),
        ("*a", "nothing to repeat"), ("a**", "nothing to repeat"), ("(a)\\1", "back references"),
        ("\\a", "unknown escape"), ("\\Z", "unknown escape"), ("\\p{Script=Greek}", "not supported"),
        ("(?i)a", "not supported"), ("[z-a]", "reversed"), ("a{3,1}", "reversed"), ("\\", "ends with"),
        ("\\u{110000}", "code point"), ("a{20000}", "more than 10000"), ("^*", "cannot be repeated"),
        ("(?:\\b+)a", "cannot be repeated"),
        ("[\\d-x]", "single characters"),
    ])
    func refuses(_ pattern: String, _ words: String) {
        let error = #expect(throws: PatternError.self) { try Pattern(pattern) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    /// SCH-08: neither the program nor the time may explode.
    @Test(arguments: ["(a{1000}){1000}", "((a{100}){100}){100}", "(?:(?:){9999}){9999}"])
    func refusesLargePrograms(_ pattern: String) {
        let error = #expect(throws: PatternError.self) { try Pattern(pattern) }
        #expect(error?.description.contains("too large") == true)
    }

    @Test(arguments: [
        "^(a+)+$", "^(a|a)*$", "^(a*)*b", "(a|aa)+$", "(.*a){12}x", "^(([a-z])+.)+[A-Z]([a-z])+$",
        "a*a*a*a*b",
    ])
    func takesLinearTime(_ pattern: String) throws {
        func steps(_ length: Int) throws -> Int {
            var budget = 1 << 40
            let text = String(repeating: "a", count: length) + "!"
            let isFound = try Pattern(pattern).isFound(in: text, budget: &budget)
            #expect(isFound == false)
            return (1 << 40) - budget
        }
        let (short, long) = (try steps(1_000), try steps(10_000))
        #expect(long < short * 11)
    }

    /// The marks of look-arounds have a bound, and pay for themselves out of the budget.
    @Test(.ownThreads) func looksAroundInBoundedMemory() throws {
        let text = String(repeating: "a", count: 400_000)
        var budget = 1 << 40
        let few = try Pattern(String(repeating: "(?=a)", count: 8))
        #expect(few.isFound(in: text, budget: &budget) == true)
        #expect((1 << 40) - budget >= 8 * text.utf8.count / 64)
        // 3,000 × 50 kB: nothing of it is begun.
        budget = 1 << 40
        let many = try Pattern(String(repeating: "(?=a)", count: 3_000))
        #expect(many.isFound(in: text, budget: &budget) == nil)
        #expect(budget == 0)
        // A used-up budget ends it before the marks of the next.
        budget = 10_000
        #expect(few.isFound(in: text, budget: &budget) == nil)
        #expect(budget == 0)
        let schema = try CompiledSchema(["pattern": .string(String(repeating: "(?=a)", count: 3_000))])
        #expect(schema.validate(.string(text)).first?.message.hasPrefix("the check was stopped") == true)
        #expect(schema.isValid("a"))
    }

    @Test func stopsWhenTheBudgetIsSpent() throws {
        var budget = 100
        let isFound = try Pattern("b").isFound(in: String(repeating: "a", count: 1_000), budget: &budget)
        #expect(isFound == nil)
        #expect(budget == 0)
    }

    @Test func refusesDeepGroupsAndLongExpressions() {
        let deep = String(repeating: "(", count: 100) + String(repeating: ")", count: 100)
        #expect(throws: PatternError.self) { try Pattern(deep) }
        #expect(throws: PatternError.self) { try Pattern(String(repeating: "a", count: 20_000)) }
    }
}
