import Testing

@testable import MCPClientCLI

struct HelpTests {
    @Test func theOverviewFitsOneScreen() {
        let lines = Help.overview.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24 + 1)
        for line in lines { #expect(line.count <= 80, "\(line)") }
        for command in Command.all {
            let isNamed = lines.contains { $0.split(separator: " ").contains(Substring(command.name)) }
            #expect(isNamed, "\(command.name)")
        }
        for code in ExitCode.allCases { #expect(Help.overview.contains("\(code.rawValue) \(code.brief)")) }
    }

    @Test func everythingNamesEveryCommandFlagAndExitCode() {
        let text = Help.everything
        for command in Command.all { #expect(text.contains("\n  \(command.name) ")) }
        for flag in Flag.allCases {
            for name in flag.row.names { #expect(text.contains(name)) }
        }
        for code in ExitCode.allCases { #expect(text.contains("\n  \(code.rawValue) ")) }
    }

    @Test(arguments: Command.all)
    func helpOfACommandShowsOnlyItsFlags(command: Command) {
        let text = Help.text(for: command)
        #expect(text.contains("usage: \(command.usage)\n"))
        for flag in Flag.allCases where !command.knows(flag) {
            for end in [" ", ","] { #expect(!text.contains("  \(flag.name)\(end)")) }
        }
    }

    @Test func noTwoCommandsShareAName() {
        #expect(Set(Command.all.map(\.name)).count == Command.all.count)
    }

    /// A flag that no command knows could never be given.
    @Test(arguments: Flag.allCases)
    func everyFlagIsOneOfACommand(flag: Flag) {
        #expect(Command.all.contains { $0.knows(flag) })
    }

    @Test func noTwoFlagsShareAName() {
        let names = Flag.allCases.flatMap(\.row.names)
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: Command.all)
    func everyExampleIsAValidCommandLine(command: Command) throws {
        for example in command.examples {
            let words = Self.words(example).dropFirst().map { $0 }
            guard case .run(let invocation) = try InvocationParser.parse(words) else {
                return #expect(Bool(false), "\(example)")
            }
            #expect(invocation.command.name == command.name)
        }
    }

    /// As a shell would split them: what stands in quotes is one word.
    private static func words(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }

    /// Lines fit a terminal of usual width.
    @Test func linesAreNotTooLong() {
        for command in [nil] + Command.all.map(Optional.some) {
            for line in Help.text(for: command).split(separator: "\n") {
                #expect(line.count <= 110, "\(line)")
            }
        }
    }
}
