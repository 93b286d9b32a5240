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

    /// On a terminal, lines are broken at blanks; only a single word may be longer.
    @Test(arguments: [40, 60, 80, 200])
    func helpFitsATerminal(width: Int) throws {
        let names = ["call", "config", "provide", "agent"]
        let commands = try names.map { name throws(Failure) in try Command.find(name) }
        let texts = ([nil] + commands.map(Optional.some)).map { Help.text(for: $0, width: width) }
        for text in texts + [Help.everything(width: width)] {
            for line in text.split(separator: "\n") where line.utf8.count > width {
                let isOneWord = !line.drop { $0 == " " }.contains(" ")
                #expect(TextWrap.columns(of: line) <= width || isOneWord, "\(line)")
            }
            #expect(!text.contains(" \n"))
        }
        let piped = Help.text(for: nil)
        #expect(width < 80 || Help.text(for: nil, width: width) == piped)
        // Nothing is lost, and no word is broken.
        for command in commands {
            let words = Help.text(for: command).split(whereSeparator: \.isWhitespace)
            #expect(Help.text(for: command, width: width).split(whereSeparator: \.isWhitespace) == words)
        }
    }

    /// The flags of logins are those of every command: they are listed by `login` only.
    @Test func loginFlagsAreListedOnce() throws {
        let call = Help.text(for: try Command.find("call"))
        #expect(!call.contains("--dpop") && call.contains("mcp-client help login"))
        #expect(Help.text(for: try Command.find("login")).contains("--dpop"))
        #expect(Help.everything.contains("--dpop"))
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
