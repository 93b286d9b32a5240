import MCPCore
import Testing

@Suite struct ProgramArgumentsTests {
    @Test(arguments: [
        ("a\0", ["a"]), ("a\0-c\0f\0", ["a", "-c", "f"]), ("a\0\0b\0\0", ["a", "", "b", ""]), ("\0", [""]),
    ]) func areSplitAtTheirEnds(_ text: String, _ arguments: [String]) {
        #expect(ProgramArguments.parse(Array(text.utf8)) == arguments)
    }

    @Test(arguments: ["", "cut off"]) func whatIsNoListIsNotGuessed(_ text: String) {
        #expect(ProgramArguments.parse(Array(text.utf8)) == nil)
    }

    @Test func areThoseOfThisProcess() { #expect(ProgramArguments.all == CommandLine.arguments) }
}
