import Testing

@testable import MCPCore

/// What limits a process: its form as words, and the files that starting a program needs.
@Suite struct ProcessRestrictionTests {
    @Test func wordsSayEverything() {
        var sandbox = Sandbox()
        sandbox.files = Sandbox.Files(read: ["/a=b", "/c d"], write: ["/w"], exec: ["/e"])
        var network = Sandbox.Network()
        (network.connect, network.bind) = ([1, 65_535], [0])
        (network.isUDPAllowed, network.isUnixAllowed) = (true, true)
        sandbox.network = network
        sandbox.user = Sandbox.User(id: 7, group: 8)
        sandbox.isBestEffort = true
        var passing = ProcessRestriction(sandbox: Sandbox())
        passing.descriptors = PassedDescriptor.maxCount
        var limits = ResourceLimits()
        (limits.cpu, limits.fileSize) = (3, 0)
        var empty = Sandbox()
        empty.files = Sandbox.Files()
        empty.network = Sandbox.Network()
        for restriction in [
            ProcessRestriction(limits: limits, sandbox: sandbox), ProcessRestriction(sandbox: Sandbox()),
            ProcessRestriction(sandbox: empty), ProcessRestriction(limits: limits), ProcessRestriction(),
            passing,
        ] {
            #expect(ProcessRestriction(words: restriction.words) == restriction, "\(restriction.words)")
        }
    }

    @Test(arguments: [
        "x=1", "cpu", "cpu=-1", "cpu=x", "read=/a", "sandbox=maybe", "sandbox",
        "sandbox=refuse connect=65536",
        "sandbox=refuse user=-1", "connect=1", "descriptors=1", "sandbox=refuse descriptors=-1",
        "sandbox=refuse descriptors=5",
    ]) func otherWordsAreRefused(_ text: String) {
        #expect(ProcessRestriction(words: text.split(separator: " ").map(String.init)) == nil)
    }

    @Test func theLowerLimitHolds() {
        var one = ResourceLimits()
        var other = ResourceLimits()
        (one.cpu, one.memory) = (5, 10)
        (other.cpu, other.processes) = (9, 3)
        let merged = one.merged(with: other)
        #expect(merged.cpu == 5 && merged.memory == 10 && merged.processes == 3 && merged.openFiles == nil)
        #expect(other.merged(with: one) == merged)
    }

    #if os(Linux)
    @Test func filesThatAProgramNeeds() throws {
        let shell = ProgramFiles.paths(of: "/bin/sh", searchPath: "")
        #expect(shell.first == "/bin/sh" && shell.count <= 2)
        if shell.count == 2 { #expect(shell[1].contains("ld-")) }
        #expect(ProgramFiles.paths(of: "/nonexistent", searchPath: "") == ["/nonexistent"])
        #expect(ProgramFiles.paths(of: "/etc/passwd", searchPath: "") == ["/etc/passwd"])
        #expect(ProgramFiles.paths(of: "/", searchPath: "") == ["/"])
    }

    /// A filter that the kernel refuses would be no filter: every jump stays within the program.
    @Test func filtersAreComplete() {
        var sandbox = Sandbox()
        sandbox.files = Sandbox.Files()
        var network = Sandbox.Network()
        (network.connect, network.isUDPAllowed, network.isUnixAllowed) = ([1], true, true)
        for network in [nil, Sandbox.Network(), network] {
            sandbox.network = network
            let code = SyscallFilter(sandbox).code
            #expect(code.count < 4_096)
            for (index, step) in code.enumerated() where step & 0x07 == 0x05 {
                let longest = max(step >> 16 & 0xFF, step >> 24 & 0xFF)
                #expect(index + 1 + Int(longest) < code.count)
            }
            #expect(code.last.map { $0 >> 32 } == 0x7FFF_0000)
        }
    }

    @Test func rulesHaveErrorsOfTheSystem() {
        let rules = SyscallRules.always + SyscallRules.metadata + SyscallRules.network(Sandbox.Network())
        for rule in rules { #expect([1, 13, 38, 95].contains(rule.error), "\(rule)") }
    }
    #endif
}
