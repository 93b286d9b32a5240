import Dispatch
import MCPCore
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite(.timeLimit(.minutes(5))) struct ChildProcessTests {
    @Test func talksThroughItsPipes() async throws {
        let child = try ChildProcess(ProcessLaunch("cat"))
        let input = try unwrap(child.takeInput()).release()
        let output = try unwrap(child.takeOutput()).release()
        try writeText(input, "hello")
        #expect(try readOnce(output) == Array("hello".utf8))
        closeDescriptor(input)
        #expect(await child.wait() == .exited(0))
        #expect(try readOnce(output) == [])
        closeDescriptor(output)
        #expect(throws: NothingThere.self) { _ = try unwrap(child.takeInput()) }
        #expect(!child.signal(SIGTERM))
    }

    @Test(arguments: [
        ("exit 0", ProcessExit.exited(0)), ("exit 7", .exited(7)), ("kill -9 $$", .signaled(9)),
    ])
    func exitStatus(_ script: String, _ expected: ProcessExit) async throws {
        let child = try ChildProcess(ProcessLaunch("sh", ["-c", script]))
        #expect(await child.wait() == expected)
        #expect(child.status == expected)
    }

    // Children started from a thread of Dispatch inherit blocked signals unless told otherwise.
    @Test func childrenOfDispatchThreadsObeySIGTERM() async throws {
        signal(SIGPIPE, SIG_IGN)
        let started = Promise<ChildProcess?>()
        DispatchQueue(label: "spawn").async {
            started.fulfil(try? ChildProcess(ProcessLaunch("sleep", ["100"])))
        }
        let child = try #require(started.wait() ?? nil)
        child.signal(SIGTERM)
        #expect(await child.wait() == .signaled(SIGTERM))
    }

    #if os(Linux)
    @Test func signalMaskAndDispositionsAreClean() throws {
        signal(SIGPIPE, SIG_IGN)
        let result = try ProcessRunner.run(ProcessLaunch("cat", ["/proc/self/status"]))
        let lines = text(result.output).split(separator: "\n")
        for name in ["SigBlk", "SigIgn"] {
            let line = try #require(lines.first { $0.hasPrefix(name) })
            let mask = try #require(UInt64(line.dropFirst(8), radix: 16))
            // Signals 32 and 33 are glibc's own, which it ignores in every child it spawns.
            #expect(mask & 0x7FFF_FFFF == 0, "\(line)")
        }
    }

    @Test func childrenInheritOnlyTheStandardDescriptors() throws {
        // A descriptor of a foreign library that forgot close-on-exec.
        let leaky = try openFile("/dev/null", O_RDONLY).duplicate(atLeast: 20)
        _ = fcntl(leaky.rawValue, F_SETFD, 0)
        let result = try ProcessRunner.run(ProcessLaunch("ls", ["/proc/self/fd"]), input: [1])
        // 3 is the directory that ls itself reads.
        #expect(text(result.output) == "0\n1\n2\n3\n")
    }
    #endif

    @Test func closingTheInputEndsAWellBehavedServer() async throws {
        let child = try ChildProcess(ProcessLaunch("cat"))
        #expect(await child.terminate(inputGrace: .seconds(20)) == .exited(0))
    }

    // Fault row 83
    @Test func ladderEndsWithSIGTERM() async throws {
        let child = try ChildProcess(ProcessLaunch("sleep", ["100"]))
        #expect(await child.terminate(inputGrace: .milliseconds(20)) == .signaled(SIGTERM))
    }

    // Fault row 83
    @Test func ladderKillsWhoIgnoresEverythingWithItsGrandchildren() async throws {
        let script = "trap '' TERM; sleep 100 & echo $!; while :; do sleep 100; done"
        let child = try ChildProcess(ProcessLaunch("sh", ["-c", script]))
        let output = try unwrap(child.takeOutput())
        let line = text(try #require(try readOnce(output.rawValue)))
        let grandchild = try #require(Int32(line.dropLast()))
        let status = await child.terminate(inputGrace: .milliseconds(20), signalGrace: .milliseconds(50))
        #expect(status == .signaled(SIGKILL))
        // The grandchild held the pipe too: its end says that it is gone.
        #expect(try readOnce(output.rawValue) == [])
        #if os(Linux)
        #expect(isGone(grandchild))
        #expect(ProcFS.state(of: child.pid) == nil)
        #endif
    }

    @Test func directoryAndEnvironmentAreGiven() throws {
        let directory = TemporaryDirectory()
        let launch = ProcessLaunch(
            "sh", ["-c", "pwd; echo $COLOUR-$HOME"], environment: ["COLOUR": "red", "PATH": "/usr/bin:/bin"],
            directory: directory.path)
        #expect(text(try ProcessRunner.run(launch).output) == "\(directory.path)\nred-\n")
    }

    @Test func argumentsAreNeverInterpreted() throws {
        let nasty = ["a b", "$(id)", "`id`", "; rm -rf /", "'\"", "", "*", "-n\n"]
        let result = try ProcessRunner.run(ProcessLaunch("printf", ["[%s]"] + nasty))
        #expect(text(result.output) == nasty.map { "[\($0)]" }.joined())
    }

    // Fault row 82
    @Test func failuresToStartSayWhy() throws {
        let directory = TemporaryDirectory()
        try directory.write("plain", "text")
        try directory.write("garbage", "\u{1}\u{2}")
        unsafe chmod("\(directory.path)/garbage", 0o755)
        let missing = ProcessLaunch("no-such-program", environment: ["PATH": "/bin:\(directory.path)"])
        #expect(throws: SpawnError.notFound(program: "no-such-program", searched: "/bin:\(directory.path)")) {
            try ChildProcess(missing)
        }
        #expect("\(SpawnError.notFound(program: "x", searched: "/bin"))".contains("/bin"))
        let cases: [(ProcessLaunch, String)] = [
            (ProcessLaunch("\(directory.path)/none"), "No such file"),
            (ProcessLaunch(directory.path), "cannot be executed"),
            // (or "Text file busy", while a child of another test still holds it from its fork)
            (ProcessLaunch("\(directory.path)/garbage"), "cannot start a process: posix_spawn"),
            (ProcessLaunch("true", directory: "/no/such"), "cannot use /no/such as the working directory"),
            (ProcessLaunch("true", ["a\0b"]), "NUL"), (ProcessLaunch(""), "empty"),
        ]
        for (launch, words) in cases {
            #expect { try ChildProcess(launch) } throws: { "\($0)".contains(words) }
        }
    }

    @Test func relativeProgramsAreFoundFromThisProcessesDirectory() throws {
        let directory = TemporaryDirectory()
        let launch = ProcessLaunch("./no-such-program-here", directory: directory.path)
        #expect { try launch.resolvedProgram() } throws: { "\($0)".contains("No such file") }
    }

    #if os(Linux)
    // Fault row 85, in small
    @Test func manyCyclesLeaveNothingBehind() async throws {
        for cycle in 0 ..< 200 {
            let child = try ChildProcess(ProcessLaunch("cat"))
            let input = try unwrap(child.takeInput())
            let name = try Files.info("/proc/self/fd/\(input.rawValue)")
            #expect(name.kind == .symlink)
            _ = consume input
            #expect(await child.wait() == .exited(0))
            // Reaped: a zombie would still be listed.
            #expect(ProcFS.state(of: child.pid) == nil, "cycle \(cycle)")
        }
    }

    @Test func aRunGivesAllItsDescriptorsBack() async {
        // In a process of its own: other tests open descriptors at the same time.
        await #expect(processExitsWith: .success) {
            let launch = ProcessLaunch("true")
            // The first run loads what stays loaded.
            _ = try ProcessRunner.run(launch, input: [1, 2, 3])
            let before = ProcFS.openDescriptors
            for _ in 0 ..< 100 { _ = try ProcessRunner.run(launch, input: [1, 2, 3]) }
            #expect(ProcFS.openDescriptors == before)
        }
    }
    #endif
}
