import Testing

@testable import MCPClientCLI

/// The grammar: our flags before the tool name, the tool's arguments behind it, a program after `--`.
struct InvocationParserTests {
    private func parse(_ line: String) throws -> Invocation {
        guard case .run(let invocation) = try InvocationParser.parse(words(line)) else {
            throw Failure.usage("help instead of a command")
        }
        return invocation
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    @Test func aTargetStandsAfterTheCommand() throws {
        let invocation = try parse("tools localhost:3000 git_*")
        #expect(invocation.command.name == "tools")
        #expect(invocation.target == .http("http://localhost:3000/mcp"))
        #expect(invocation.operands == ["git_*"])
    }

    /// A flag for a file either reads it, so that no result may replace it, or writes it.
    @Test func flagsForFilesSayWhetherTheyReadThem() {
        let written: [Flag] = [.output(.output), .check(.junit)]
        for flag in Flag.allCases where flag.row.value?.hasSuffix("FILE") == true {
            #expect((flag.row.reads == nil) == written.contains(flag), "\(flag.name)")
        }
    }

    @Test func aProgramAfterTwoDashesIsTheTarget() throws {
        let invocation = try parse("call git_log repo=web -- ./server --json -v")
        #expect(invocation.target == .program(["./server", "--json", "-v"]))
        #expect(invocation.operands == ["git_log"])
        #expect(invocation.arguments == ["repo=web"])
        #expect(!invocation.options.json)
        #expect(invocation.targetText == nil)
    }

    @Test(arguments: [
        "--json call localhost:1 add a=1", "call --json localhost:1 add a=1",
        "call localhost:1 --json add a=1",
    ])
    func ourFlagsMayStandAnywhereBeforeTheToolName(line: String) throws {
        let invocation = try parse(line)
        #expect(invocation.options.json)
        #expect(invocation.operands == ["add"])
        #expect(invocation.arguments == ["a=1"])
    }

    @Test func everythingAfterTheToolNameBelongsToTheTool() throws {
        let invocation = try parse("call localhost:1 add --json -v --timeout 5 a=1")
        #expect(!invocation.options.json)
        #expect(invocation.options.verbosity == 0)
        #expect(invocation.arguments == ["--json", "-v", "--timeout", "5", "a=1"])
    }

    @Test func withAProgramTheFirstWordIsTheToolName() throws {
        let invocation = try parse("call add --json -- p")
        #expect(invocation.operands == ["add"])
        #expect(invocation.arguments == ["--json"])
    }

    @Test func commandsWithoutArgumentsTakeFlagsBehindTheirOperands() throws {
        let invocation = try parse("tool localhost:1 add --json")
        #expect(invocation.options.json)
        #expect(invocation.operands == ["add"])
    }

    @Test func readTakesSeveralAddresses() throws {
        #expect(try parse("read localhost:1 a: b: c:").operands == ["a:", "b:", "c:"])
    }

    @Test func valuesStandBehindOrInsideTheWord() throws {
        let invocation = try parse("--timeout=5s --deadline 2m -ofile -HX-A:b -H X-B:c tools localhost:1")
        #expect(invocation.options.timeout == .seconds(5))
        #expect(invocation.options.deadline == .seconds(120))
        #expect(invocation.options.outputFile == "file")
        #expect(
            invocation.options.headers == [
                .init(name: "X-A", value: "b"), .init(name: "X-B", value: "c"),
            ])
    }

    @Test func verbosityCounts() throws {
        #expect(try parse("-v tools localhost:1").options.verbosity == 1)
        #expect(try parse("-v -v tools localhost:1").options.verbosity == 2)
        #expect(try parse("-vv tools localhost:1").options.verbosity == 2)
    }

    @Test func helpAndVersionComeFirst() throws {
        guard case .help(nil) = try InvocationParser.parse(["--help"]) else { return #expect(Bool(false)) }
        guard case .help(let command?) = try InvocationParser.parse(["call", "--help"]) else {
            return #expect(Bool(false))
        }
        #expect(command.name == "call")
        #expect(try parse("--version").command.name == "version")
    }

    @Test(arguments: [
        ("", "no command"),
        ("tolls localhost:1", "\"tolls\" is not a command"),
        ("--jsno tools localhost:1", "\"--jsno\" is not a flag"),
        ("tools", "missing TARGET"),
        ("call localhost:1", "missing TOOL"),
        ("call -- p", "missing TOOL"),
        ("call add --", "a program must follow --"),
        ("tools localhost:1 a b", "unexpected argument \"b\""),
        ("info localhost:1 x", "unexpected argument \"x\""),
        ("tools --structured localhost:1", "--structured does not apply to tools"),
        ("--no-validate tools localhost:1", "--no-validate does not apply to tools"),
        ("-o f ping localhost:1", "-o does not apply to ping"),
        ("--json --raw call localhost:1 x", "--json and --raw cannot be combined"),
        ("--raw --select .a call localhost:1 x", "--raw and --select cannot be combined"),
        ("--timeout", "--timeout needs a value"),
        ("--timeout soon tools localhost:1", "--timeout \"soon\" is not a time"),
        ("--json=yes tools localhost:1", "--json takes no value"),
        ("--color blue tools localhost:1", "--color is auto, always or never, not \"blue\""),
        ("--protocol 2020-01-01 tools localhost:1", "--protocol \"2020-01-01\" is not a revision of MCP"),
        ("-H nocolon tools localhost:1", "-H needs \"Name: value\", not \"nocolon\""),
        ("-H a(b:c tools localhost:1", "-H \"a(b\" is not a valid header"),
        ("-e NAME tools -- p", "-e \"NAME\" has no name and ="),
        ("-e A=b tools localhost:1", "-e is for a program after --, not for HTTP"),
        ("-C / tools localhost:1", "-C is for a program after --, not for HTTP"),
        ("-H A:b tools -- p", "-H is for HTTP targets, not for a program"),
        ("--cacert F tools -- p", "--cacert is for https targets"),
        ("--cacert F tools http://localhost:1/mcp", "--cacert is for https targets"),
        ("--cacert F tools unix:///a", "--cacert is for https targets"),
        ("--bearer-env T tools -- p", "--bearer-env is for HTTP targets, not for a program"),
        (
            "--bearer-env A --bearer-file B tools localhost:1",
            "--bearer-env and --bearer-file cannot be combined"
        ),
        ("version -- p", "version needs no server"),
        ("agent http://localhost:1/a x", "\"http://localhost:1/a\" is an address, but PROMPT comes first"),
        ("agent localhost:1", "\"localhost:1\" is an address, but PROMPT comes first"),
    ])
    func mistakesAreNamed(line: String, message: String) {
        let failure = #expect(throws: Failure.self) { try InvocationParser.parse(words(line)) }
        #expect(failure?.message == message)
        #expect(failure?.code == .usage)
    }

    @Test func mistakesGetASuggestion() {
        let command = #expect(throws: Failure.self) { try InvocationParser.parse(["tolls", "x"]) }
        #expect(command?.details == ["did you mean tools?"])
        let flag = #expect(throws: Failure.self) { try InvocationParser.parse(["--jsno"]) }
        #expect(flag?.details == ["did you mean --json?"])
        for word in ["--import", "--tokens", "--frob"] {
            let other = #expect(throws: Failure.self) { try InvocationParser.parse(["tools", word]) }
            #expect(other?.details == [], "\(word)")
        }
        #expect(#expect(throws: Failure.self) { try InvocationParser.parse(["gen"]) }?.details == [])
        // What other programs call it, and what another program of this project has.
        let synonym = #expect(throws: Failure.self) { try InvocationParser.parse(["invoke", "x"]) }
        #expect(synonym?.details == ["did you mean call?"])
        let expose = #expect(throws: Failure.self) { try InvocationParser.parse(["expose", "x"]) }
        #expect(expose?.hint?.hasPrefix("mcp-server expose ") == true)
        let bare = #expect(throws: Failure.self) { try InvocationParser.parse([]) }
        #expect(bare?.usage?.hasPrefix("usage: mcp-client ") == true)
    }

    /// A program that stands where TARGET is expected.
    @Test(arguments: [
        ("tools mcp-server --demo", "if mcp-server is a program: mcp-client tools -- mcp-server --demo"),
        ("call uvx --frob x", "if uvx is a program: mcp-client call TOOL -- uvx --frob"),
        ("tools localhost:1 --frob", "mcp-client tools --help lists the flags"),
        ("tools ops --jsno", "mcp-client tools --help lists the flags"),
    ])
    func theFlagOfAProgram(line: String, hint: String) {
        let failure = #expect(throws: Failure.self) { try InvocationParser.parse(words(line)) }
        #expect(failure?.hint == hint)
    }

    /// What is needed to reach the server stays in a hint; what may be secret does not.
    @Test func theFlagsOfTheConnectionAreRepeated() throws {
        let invocation = try parse(
            "--protocol 2025-06-18 --bearer-env TOKEN --timeout 5s -q call https://h/mcp?k=S3CRET add")
        #expect(
            invocation.line("tools", [])
                == "mcp-client --protocol 2025-06-18 --bearer-env TOKEN tools 'https://h/mcp?k=***'")
        #expect(try parse("-H A:S3CRET call localhost:1 x").line("tools", []).contains(" -H … tools "))
    }

    @Test func aLineCanBeRepeatedForAnotherCommand() throws {
        #expect(try parse("call localhost:1 add").line("tools", []) == "mcp-client tools localhost:1")
        let program = try InvocationParser.parse(["call", "add", "--", "./my server", "--x"])
        guard case .run(let invocation) = program else { return #expect(Bool(false)) }
        #expect(
            invocation.line("call", ["add", "a=<int>"]) == "mcp-client call add a=<int> -- './my server' --x")
    }
}
