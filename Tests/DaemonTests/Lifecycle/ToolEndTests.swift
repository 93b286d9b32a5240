import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

#if os(Linux)
/// No command of a tool outlives the program, however that ends.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ToolEndTests {
    /// A command that writes its process's number into the file `pids` and runs for ten minutes.
    enum Tool: String, CaseIterable {
        case plain = "echo $$ >> pids; exec sleep 600"
        /// SIGTERM does nothing, also not to what it starts.
        case stubborn = "trap '' TERM; echo $$ >> pids; sleep 600 & wait; sleep 600"
        /// The numbers are those of processes in sessions of their own.
        case detached = "setsid sh -c 'echo $$ >> pids; exec sleep 600' & wait"
        /// They have lost their parents and their environment, too.
        case forgotten = "env -i setsid -f sh -c 'echo $$ >> pids; exec sleep 600'; exec sleep 600"
        /// They have another group as well.
        case regrouped =
            "setpriv --regid=65534 --clear-groups env -i setsid -f sh -c 'echo $$ >> pids; exec sleep 600'; exec sleep 600"

        /// Only root may change its group.
        static var usable: [Tool] {
            let mayChange = unsafe getuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0
            return allCases.filter { $0 != .regrouped || mayChange }
        }
    }

    enum Ending: CaseIterable { case inputEnds, signal, twoSignals, kill }

    private static let calls = 12

    /// - Parameter drain: for two signals longer than any test: the second one must come before its end.
    private static func configure(
        _ tool: Tool, _ directory: TemporaryDirectory, drain: String = "500ms"
    ) throws {
        let exec = JSONValue.array(["sh", "-c", .string(tool.rawValue)]).serialized()
        try directory.write(
            "mcp.jsonc",
            #"{"tools":{"t":{"exec":\#(exec),"timeout":"20m"}},"limits":{"drain":"\#(drain)"}}"#)
        try directory.write("pids", "")
    }

    /// The processes of the commands, once all of them run.
    private static func started(_ directory: TemporaryDirectory, _ count: Int = calls) async throws -> [Int32]
    {
        var pids: [Int32] = []
        let all = await eventually(milliseconds: 30_000) {
            let bytes = (try? Files.read("\(directory.path)/pids", maxBytes: 1 << 16)) ?? []
            pids = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Int32($0) }
            return pids.count >= count
        }
        try #require(all, "\(pids.count) of \(count) commands have begun")
        return pids
    }

    private static func isRunning(_ pid: Int32) -> Bool {
        guard let bytes = try? Files.read("/proc/\(pid)/stat", maxBytes: 4_096) else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        let state = text.split(separator: ")").last?.drop { $0 == " " }.first
        return state != "Z" && state != "X"
    }

    /// Processes whose parent is `pid`, with their names.
    private static func children(of pid: Int32) -> [(pid: Int32, name: String)] {
        let names = (try? Files.names(in: "/proc").names) ?? []
        return names.compactMap { Int32($0) }.compactMap { child -> (pid: Int32, name: String)? in
            guard let bytes = try? Files.read("/proc/\(child)/stat", maxBytes: 4_096) else { return nil }
            let text = String(decoding: bytes, as: UTF8.self)
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 1, Int32(fields[1]) == pid, fields[0] != "Z" else { return nil }
            let name = text.split(separator: "(").dropFirst().first?.split(separator: ")").first
            return (child, String(name ?? ""))
        }
    }

    private static func helper(of pid: Int32) -> Int32? {
        children(of: pid).first { $0.name == SupervisorProgram.name }?.pid
    }

    /// The helper once it has named itself, which it does when the first command may run already.
    private static func startedHelper(of pid: Int32) async throws -> Int32 {
        var found: Int32?
        _ = await eventually {
            found = helper(of: pid)
            return found != nil
        }
        return try #require(found, "no helper")
    }

    @Test(arguments: Tool.usable, [Ending.signal, .twoSignals, .kill])
    func overHTTP(_ tool: Tool, _ ending: Ending) async throws {
        let directory = try TemporaryDirectory()
        try Self.configure(tool, directory, drain: ending == .twoSignals ? "10m" : "500ms")
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        let calls = (0 ..< Self.calls).map { _ in Task { try? await client.callTool("t") } }
        let pids = try await Self.started(directory)
        let helper = try await Self.startedHelper(of: program.pid)
        switch ending {
        case .kill: program.signal(SIGKILL)
        default: program.signal(SIGTERM)
        }
        if ending == .twoSignals {
            #expect(await program.logs(#""event":"stopping","reason":"SIGTERM""#))
            program.signal(SIGTERM)
        }
        let status = await program.wait()
        switch ending {
        case .kill:
            #expect(status == .signaled(SIGKILL))
            #expect(await eventually { !pids.contains(where: Self.isRunning) && !Self.isRunning(helper) })
        default:
            // At once. The helper looks on where processes begin and end all the time, as on a busy machine.
            #expect(status == .exited(ending == .signal ? 0 : 128 + SIGTERM))
            #expect(pids.filter(Self.isRunning) == [])
            #expect(await eventually { !Self.isRunning(helper) })
        }
        // A second signal ends the commands: none of them has failed by itself, and no call has a result.
        if ending == .twoSignals { for call in calls { #expect(await call.value == nil) } }
        for call in calls { call.cancel() }
        await client.close()
    }

    /// Whether a count stays the same for a while, within 100 times as long.
    private static func becomesStill(for time: Duration, _ count: () -> Int) async throws -> Bool {
        var last = count()
        for _ in 0 ..< 100 {
            try await Task.sleep(for: time)
            let now = count()
            if now == last { return true }
            last = now
        }
        return false
    }

    /// Starts a server with a tool that runs this command, calls it, and ends the server once the command has
    /// written to its file `beats`. Returns whether that grows no longer.
    private static func stopsCounting(
        _ exec: JSONValue, in directory: TemporaryDirectory, _ ending: Ending, after count: Int,
        stillFor time: Duration = .milliseconds(200), beforeItEnds: () throws -> Void = {}
    ) async throws -> Bool {
        try directory.write(
            "mcp.jsonc",
            #"{"tools":{"t":{"exec":\#(exec.serialized()),"timeout":"20m"}},"limits":{"drain":"500ms"}}"#)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        let call = Task { try? await client.callTool("t") }
        func beats() -> Int { (try? Files.info("\(directory.path)/beats").size).map { Int($0) } ?? 0 }
        #expect(await eventually { beats() > count })
        try beforeItEnds()
        program.signal(ending == .kill ? SIGKILL : SIGTERM)
        if ending == .twoSignals {
            #expect(await program.logs(#""event":"stopping","reason":"SIGTERM""#))
            program.signal(SIGTERM)
        }
        _ = await program.wait()
        let isStill = try await becomesStill(for: time, beats)
        call.cancel()
        await client.close()
        return isStill
    }

    /// Every process of the command starts another one and ends, so that no scan of all processes meets it.
    @Test(arguments: [Ending.signal, .twoSignals, .kill])
    func aCommandThatFlees(_ ending: Ending) async throws {
        let directory = try TemporaryDirectory()
        // It also ends by itself: what is wrong here must not stay on the machine.
        let script =
            "setsid sh -c 'n=0; f() { n=$((n+1)); echo . >> beats; [ $n -gt 60000 ] || f & }; f'; sleep 600"
        // 20 times as long as a process lives.
        let isStill = try await Self.stopsCounting(
            ["sh", "-c", .string(script)], in: directory, ending, after: 20, stillFor: .milliseconds(50))
        #expect(isStill)
    }

    /// They live for microseconds, less than it takes to read a file of `/proc`, and have cleared their
    /// environment.
    @Test(arguments: [Ending.signal, .kill]) func aCommandThatFleesFaster(_ ending: Ending) async throws {
        let compilers: [String] = ["/usr/bin/cc", "/usr/bin/clang"]
        guard let compiler = compilers.first(where: { unsafe access($0, X_OK) == 0 }) else {
            return print("skipped: a C compiler is missing")
        }
        let directory = try TemporaryDirectory()
        let program = "\(directory.path)/flee"
        try directory.write(
            "flee.c",
            """
            #include <fcntl.h>
            #include <sys/prctl.h>
            #include <sys/resource.h>
            #include <sys/wait.h>
            #include <time.h>
            #include <unistd.h>
            // Without a word: the command. r: it waits for all the others, so that they leave no zombies, and
            // is not found itself. x: those that flee.
            static void become(char **words, char *word) {
                char *arguments[] = {words[0], word, 0}, *environment[] = {0};
                setsid();
                execve(words[0], arguments, environment);
                _exit(1);
            }
            int main(int count, char **words) {
                time_t end = time(0) + 60;
                if (count < 2) {
                    if (!fork()) become(words, "r");
                    return sleep(600);
                }
                if (words[1][0] == 'r') {
                    struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
                    prctl(PR_SET_CHILD_SUBREAPER, 1);
                    if (!fork()) become(words, "x");
                    setrlimit(RLIMIT_LOCKS, &none);
                    while (time(0) < end && wait(0) > 0) {}
                    return 0;
                }
                int file = open("beats", O_WRONLY | O_APPEND | O_CREAT, 0600);
                while (time(0) < end) {
                    if (write(file, ".", 1) != 1 || fork()) _exit(0);
                }
            }
            """)
        var build = ProcessLaunch(
            compiler, ["-O1", "-static", "-o", program, "\(directory.path)/flee.c"],
            environment: WatchedProgram.environment)
        build.input = .null
        try #require(await ChildProcess(build).wait() == .exited(0))
        // Within 25 seconds: it ends by itself later.
        let isStill = try await Self.stopsCounting(
            [.string(program)], in: directory, ending, after: 20, stillFor: .milliseconds(250))
        #expect(isStill)
    }

    /// The process looks like one that has ended, and its memory is only that of its other threads.
    @Test(.enabled(if: isWanted("python3"), "python3 is not installed"), arguments: [Ending.signal, .kill])
    func aCommandWhoseFirstThreadHasEnded(_ ending: Ending) async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "t.py",
            """
            import ctypes, os, platform, threading, time
            if os.fork(): time.sleep(600)
            os.setsid()
            for number in range(3): os.close(number)
            def work():
                for _ in range(6000):
                    with open("beats", "a") as file: file.write(".")
                    time.sleep(0.01)
            threading.Thread(target=work).start()
            ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)
            """)
        // It writes every 10 ms, for a minute.
        let isStill = try await Self.stopsCounting(
            ["python3", .string("\(directory.path)/t.py")], in: directory, ending, after: 5
        ) {
            // The number of its thread is not one of the newest.
            for _ in 0 ..< 150 { _ = try ProcessRunner.run(ProcessLaunch("true")) }
        }
        #expect(isStill)
    }

    /// The name of a process is free text, and may look like the state of one that has ended. This one has left
    /// its environment behind, too.
    @Test(arguments: [Ending.signal, .kill])
    func aCommandWithTheNameOfOneThatHasEnded(_ ending: Ending) async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "t.py",
            """
            import os, time
            if os.fork(): time.sleep(600)
            os.setsid()
            if os.fork(): os._exit(0)
            for number in range(3): os.close(number)
            with open("/proc/self/comm", "w") as file: file.write("x) Z y")
            for _ in range(6000):
                with open("beats", "a") as file: file.write(".")
                time.sleep(0.01)
            """)
        let python = try ProcessLaunch("python3").resolvedProgram()
        let exec: JSONValue = ["env", "-i", .string(python), .string("\(directory.path)/t.py")]
        #expect(try await Self.stopsCounting(exec, in: directory, ending, after: 5))
    }

    /// The drain over standard input takes ten seconds, so not everything is tried.
    static let stdioCases: [(Tool, Ending)] = [
        (.stubborn, .inputEnds), (.plain, .signal), (.plain, .twoSignals), (.stubborn, .twoSignals),
        (.plain, .kill), (.stubborn, .kill), (.detached, .kill), (.forgotten, .kill),
    ]

    @Test(arguments: stdioCases) func overStdio(_ tool: Tool, _ ending: Ending) async throws {
        let directory = try TemporaryDirectory()
        try Self.configure(tool, directory)
        var launch = ProcessLaunch(
            try WatchedProgram.path(), ["-c", "\(directory.path)/mcp.jsonc", "--stdio"],
            environment: WatchedProgram.environment)
        launch.output = .null
        launch.errors = .null
        let child = try ChildProcess(launch)
        defer { child.signal(SIGKILL) }
        guard let input = child.takeInput() else { throw IOError(errno: EBADF, function: "pipe") }
        for id in 1 ... Self.calls {
            let line =
                #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"t","arguments":{},"#
                + #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
                + #""io.modelcontextprotocol/clientCapabilities":{}}}}"# + "\n"
            let bytes = Array(line.utf8)
            let fd = input.rawValue
            let written = unsafe bytes.withUnsafeBytes { unsafe write(fd, $0.baseAddress, $0.count) }
            try #require(written == bytes.count)
        }
        let pids = try await Self.started(directory)
        var open: FileDescriptor? = input
        switch ending {
        case .inputEnds: open = nil
        case .kill: child.signal(SIGKILL)
        case .signal: child.signal(SIGTERM)
        case .twoSignals:
            child.signal(SIGTERM)
            // Two signals of a kind that come together are one.
            child.signal(SIGINT)
        }
        let status = await child.wait()
        _ = open.take()
        switch ending {
        case .kill: #expect(await eventually { !pids.contains(where: Self.isRunning) })
        case .inputEnds, .signal:
            #expect(status == .exited(0))
            #expect(pids.filter(Self.isRunning) == [])
        case .twoSignals:
            #expect(status == .exited(128 + SIGTERM) || status == .exited(128 + SIGINT))
            #expect(pids.filter(Self.isRunning) == [])
        }
    }

    @Test func theHelperHoldsNothingAndIsReplaced() async throws {
        let directory = try TemporaryDirectory()
        try Self.configure(.plain, directory)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        #expect(Self.helper(of: program.pid) == nil, "a helper without a command")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        let call = Task { try? await client.callTool("t") }
        let pids = try await Self.started(directory, 1)
        let first = try await Self.startedHelper(of: program.pid)
        let open = try Files.names(in: "/proc/\(first)/fd").names.sorted()
        #expect(open == ["0", "1", "2"])
        // What a service manager and a terminal send does not end it.
        for number in [SIGTERM, SIGINT, SIGHUP] { kill(first, number) }
        kill(first, SIGKILL)
        #expect(await program.logs(#""event":"supervisor replaced""#))
        let isThere = await eventually { Self.helper(of: program.pid).map { $0 != first } ?? false }
        #expect(isThere)
        #expect(pids.allSatisfy(Self.isRunning), "the end of a helper is not that of the commands")
        // The new one knows of commands that began before it.
        program.signal(SIGKILL)
        _ = await program.wait()
        #expect(await eventually { !pids.contains(where: Self.isRunning) })
        call.cancel()
        await client.close()
    }

    @Test func aFinishedCommandIsForgotten() async throws {
        let supervisor = ProcessSupervisor(
            program: try WatchedProgram.path(), arguments: [Daemon.superviseCommand], log: .disabled)
        let result = try await Offload.run {
            try ProcessRunner.run(
                ProcessLaunch("sh", ["-c", "echo $MCP_SUPERVISOR"]), supervisor: supervisor)
        }
        #expect(result.status == .exited(0) && result.output.count == 33)
        await supervisor.waitUntilIdle(timeout: .seconds(60))
        supervisor.endNow()
        await #expect(throws: SpawnError.self) {
            try await Offload.run {
                try ProcessRunner.run(ProcessLaunch("true"), supervisor: supervisor)
            }
        }
    }
}
#endif
