import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite(.serialized) struct CommandToolTests {
    private func server(_ tools: String, in directory: String = "/") throws -> ConfiguredServer {
        try ConfiguredServer("{ \"tools\": { \(tools) } }", in: directory)
    }

    @Test func standardOutputIsTheText() async throws {
        let server = try server(
            #""t": { "input": { "x": {"type": "string"} }, "exec": ["printf", "%s", "{x}"] }"#)
        let result = try await server.call("t", ["x": "a b;$(id)\n*"])
        #expect(result.text == "a b;$(id)\n*")
        #expect(!result.isError)
    }

    @Test func standardInputIsFedOrClosed() async throws {
        let server = try server(
            #""fed": { "input": { "x": {"type": "string"} }, "exec": ["cat"], "stdin": "<{x}>" }, "#
                + #""closed": { "exec": ["cat"] }"#)
        let large = String(repeating: "x", count: 200_000)
        #expect(try await server.call("fed", ["x": .string(large)]).text == "<\(large)>")
        #expect(try await server.call("closed").text == "")
    }

    @Test func theEnvironmentIsWhatTheConfigurationSays() async throws {
        let server = try server(#""t": { "exec": ["env"], "env": { "EXTRA": "1" } }"#)
        let names = try await server.call("t").text.split(separator: "\n").map { $0.prefix { $0 != "=" } }
        #expect(Set(names) == ["PATH", "LANG", "HOME", "MCP_TOOL", "EXTRA"])
    }

    @Test func aFailureShowsStatusStderrAndOutput() async throws {
        let server = try server(#""t": { "exec": ["sh", "-c", "echo out; echo oops >&2; exit 3"] }"#)
        let result = try await server.call("t")
        #expect(result.isError)
        #expect(result.content.compactMap(\.text) == ["exit status 3\nstderr: oops", "out\n"])
    }

    @Test(arguments: [
        (#"["sh", "-c", "kill -9 $$"]"#, "killed by signal 9 (SIGKILL)"),
        (#"["yes"]"#, "stopped: it wrote more than 1 KiB"),
        (#"["sleep", "60"]"#, "stopped after its timeout of 300 ms"),
        (#"["no-such-program-x"]"#, "the program no-such-program-x was not found"),
        (#"["/etc/passwd"]"#, "the program /etc/passwd cannot be executed: Permission denied"),
    ])
    func everyEndSaysWhy(exec: String, expected: String) async throws {
        let server = try server(#""t": { "exec": \#(exec), "timeout": "300ms", "maxOutput": "1KiB" }"#)
        let result = try await server.call("t")
        #expect(result.isError)
        #expect(result.content.first?.text == expected)
    }

    // The whole group dies, not only the program that was started (supercorp-ai/supergateway PR#124).
    @Test func aTimeoutKillsTheChildrenToo() async throws {
        let directory = try TemporaryDirectory()
        let server = try server(
            #""t": { "exec": ["sh", "-c", "sleep 60 & echo $! > pid; sleep 60"], "timeout": "500ms" }"#,
            in: directory.path)
        #expect(try await server.call("t").isError)
        let text = try ConfigFile.text(at: "\(directory.path)/pid", shownAs: "pid")
        let pid = try #require(Int32(text))
        #expect(await isGone(pid))
    }

    @Test func aCancelledCallKillsTheProgram() async throws {
        let directory = try TemporaryDirectory()
        let server = try server(
            #""t": { "exec": ["sh", "-c", "echo $$ > pid; exec sleep 60"] }"#, in: directory.path)
        let task = Task { await server.send("tools/call", ["name": "t"]) }
        var pid: Int32?
        for _ in 0 ..< 500 where pid == nil {
            pid = (try? ConfigFile.text(at: "\(directory.path)/pid", shownAs: "pid")).flatMap { Int32($0) }
            if pid == nil { try await Task.sleep(for: .milliseconds(10)) }
        }
        task.cancel()
        #expect(await task.value == nil)
        #expect(await isGone(try #require(pid)))
    }

    /// Whether a process ends within five seconds; one that nobody has reaped yet counts as ended.
    private func isGone(_ pid: Int32) async -> Bool {
        for _ in 0 ..< 500 {
            if kill(pid, 0) != 0 { return true }
            let state = try? ConfigFile.text(at: "/proc/\(pid)/stat", shownAs: "stat")
            if let state, state.contains(") Z ") { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    @Test func structuredResultsAreObjects() async throws {
        let server = try server(
            """
            "object": { "exec": ["echo", "{\\"a\\": 1}"], "result": "json" },
            "array": { "exec": ["echo", "[1]"], "result": "json" },
            "lines": { "exec": ["printf", "1\\n\\n{\\"x\\":2}\\n"], "result": "jsonlines" },
            "bad": { "exec": ["printf", "1\\n{x\\n"], "result": "jsonlines" },
            "unfit": { "exec": ["echo", "{}"], "result": "json",
                       "output": {"type": "object", "required": ["a"]} }
            """)
        #expect(try await server.call("object").structuredContent == ["a": 1])
        #expect(try await server.call("array").structuredContent == ["value": [1]])
        #expect(try await server.call("lines").structuredContent == ["items": [1, ["x": 2]]])
        let bad = try await server.call("bad")
        #expect(bad.isError)
        #expect(bad.text.hasPrefix("bad: line 2 of its output is not JSON"))
        let unfit = try await server.call("unfit")
        #expect(unfit.isError)
        #expect(unfit.text.hasPrefix("unfit: its output does not match the output schema"))
    }

    // Fault rows 96 and 97.
    @Test(
        "Advisory_CVE_2025_53110, Advisory_CVE_2025_53109, Advisory_CVE_2025_68143: paths"
    )
    func pathsStayBeneathTheirRoot() async throws {
        let directory = try TemporaryDirectory()
        for name in ["root", "root/web", "root-evil"] { try directory.makeDirectory(name) }
        try directory.link("root/out", to: "../root-evil")
        try directory.link("root/abs", to: "/etc")
        try directory.link("root/in", to: "web")
        let server = try server(
            #""t": { "input": { "p": { "type": "string", "format": "path", "x-root": "root" } }, "#
                + #""exec": ["echo", "{p}"] }"#,
            in: directory.path)
        #expect(try await server.call("t", ["p": "web"]).text == "\(directory.path)/root/web\n")
        #expect(try await server.call("t", ["p": "in"]).text == "\(directory.path)/root/web\n")
        for path in [
            "../root-evil", "out", "abs", "abs/passwd", "web/../../root-evil", "/etc", "", "none", "a\0b",
        ] {
            let result = try await server.call("t", ["p": .string(path)])
            #expect(result.isError, "\(path)")
            #expect(!result.text.contains(directory.path), "the root is nobody's business: \(result.text)")
        }
    }

    @Test func invalidArgumentsNeverReachTheProgram() async throws {
        let server = try server(#""t": { "input": { "n": {"type": "integer"} }, "exec": ["echo", "{n}"] }"#)
        for arguments in [[:], ["n": "5"], ["n": 5, "m": 1], ["n": -5]] as [JSONObject] {
            #expect(try await server.call("t", arguments).isError)
        }
        #expect(try await server.call("t", ["n": 5]).text == "5\n")
    }

    @Test func onlySoManyRunAtTheSameTime() async throws {
        let directory = try TemporaryDirectory()
        // Each run fails when another one holds the directory.
        let server = try server(
            #""t": { "exec": ["sh", "-c", "mkdir lock && sleep 0.02 && rmdir lock"], "concurrency": 1 }"#,
            in: directory.path)
        let failures = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0 ..< 8 { group.addTask { try await server.call("t").isError } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 0)
    }

    /// What had no room within its time is not run for a moment.
    @Test func aCallThatWaitedTooLongIsNotRun() async throws {
        let directory = try TemporaryDirectory()
        let server = try server(
            #""t": { "exec": ["sh", "-c", "echo x >> runs; exec sleep 60"], "concurrency": 1, "timeout": "1s" }"#,
            in: directory.path)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0 ..< 5 { group.addTask { try await server.call("t").text } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts.count { $0.contains("stopped after its timeout of 1 s") } == 1, "\(texts)")
        #expect(texts.count { $0.contains("was not run: no slot became free within 900 ms") } == 4)
        #expect(try Files.read("\(directory.path)/runs", maxBytes: 100).count == 2)
    }
}

@Suite struct CallSlotsTests {
    @Test func givesUpAfterTheTimeout() async {
        let slots = CallSlots(1)
        #expect(await slots.acquire(timeout: .seconds(5)))
        #expect(!(await slots.acquire(timeout: .milliseconds(20))))
        slots.release()
        #expect(await slots.acquire(timeout: .seconds(5)))
    }

    @Test func givesUpWhenCancelled() async {
        let slots = CallSlots(1)
        #expect(await slots.acquire(timeout: .seconds(5)))
        let waiting = Task { await slots.acquire(timeout: .seconds(60)) }
        waiting.cancel()
        #expect(!(await waiting.value))
        slots.release()
        #expect(await slots.acquire(timeout: .seconds(5)))
    }

    // One caller leaves a quarter of the slots and of the line to others.
    @Test func oneCallerCannotTakeAll() async {
        let slots = CallSlots(8, areShared: true)
        for _ in 0 ..< 6 { #expect(await slots.acquire(for: "greedy", timeout: .seconds(5))) }
        #expect(!(await slots.acquire(for: "greedy", timeout: .milliseconds(20))))
        for _ in 0 ..< 2 { #expect(await slots.acquire(for: "other", timeout: .seconds(5))) }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0 ... CallSlots.maxWaitingOfOne {
                group.addTask { await slots.acquire(for: "greedy", timeout: .seconds(60)) }
            }
            // One more than its part of the line.
            #expect(await group.next() == false)
            let other = Task { await slots.acquire(for: "third", timeout: .seconds(60)) }
            #expect(await comesTrue { slots.waiting == CallSlots.maxWaitingOfOne + 1 })
            // It came last, and goes first.
            slots.release(for: "greedy")
            #expect(await other.value)
            group.cancelAll()
        }
    }

    // Slots of a single tool may all be one caller's.
    @Test func theSlotsOfATool() async {
        let slots = CallSlots(4)
        for _ in 0 ..< 4 { #expect(await slots.acquire(for: "a", timeout: .seconds(5))) }
        for _ in 0 ..< 4 { slots.release(for: "a") }
        #expect(await slots.acquire(for: "b", timeout: .seconds(5)))
    }

    // Of its line, a quarter is for others, and they have their turns.
    @Test func theLineOfATool() async {
        let slots = CallSlots(1)
        #expect(await slots.acquire(for: "greedy", timeout: .seconds(5)))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0 ... CallSlots.maxWaitingOfOne {
                group.addTask { await slots.acquire(for: "greedy", timeout: .seconds(60)) }
            }
            #expect(await group.next() == false)
            #expect(slots.waiting == CallSlots.maxWaitingOfOne)
            let other = Task { await slots.acquire(for: "other", timeout: .seconds(60)) }
            #expect(await comesTrue { slots.waiting == CallSlots.maxWaitingOfOne + 1 })
            // One call that came earlier, and then the other caller's.
            slots.release(for: "greedy")
            #expect(await group.next() == true)
            slots.release(for: "greedy")
            #expect(await other.value)
            #expect(slots.waiting == CallSlots.maxWaitingOfOne - 1)
            group.cancelAll()
        }
    }

    /// A caller that waits for a slot of all tools does not keep a tool from others.
    @Test func whoWaitsHoldsNoSlotOfATool() async {
        let slots = CallSlots(4, areShared: true)
        let line = slots.addLine(1)
        for _ in 0 ..< 3 { #expect(await slots.acquire(for: "greedy", timeout: .seconds(60))) }
        let waiting = Task { await slots.acquire(for: "greedy", in: line, timeout: .seconds(60)) }
        #expect(await comesTrue { slots.waiting == 1 })
        #expect(await slots.acquire(for: "other", in: line, timeout: .seconds(60)))
        slots.release(for: "other", in: line)
        #expect(slots.waiting == 1)
        slots.release(for: "greedy")
        #expect(await waiting.value)
    }

    /// A caller that waits for a tool does not keep the slots of all tools from others.
    @Test func whoWaitsForAToolHoldsNoSlotOfAll() async {
        let slots = CallSlots(2)
        let line = slots.addLine(1)
        #expect(await slots.acquire(for: "a", in: line, timeout: .seconds(60)))
        let waiting = Task { await slots.acquire(for: "b", in: line, timeout: .seconds(60)) }
        #expect(await comesTrue { slots.waiting == 1 })
        #expect(await slots.acquire(for: "c", timeout: .seconds(60)))
        slots.release(for: "a", in: line)
        #expect(await waiting.value)
    }

    /// One end may let two begin: one waited for the tool, and one because its caller had enough.
    @Test func oneEndMayLetTwoBegin() async {
        let slots = CallSlots(4, areShared: true)
        let line = slots.addLine(1)
        for _ in 0 ..< 2 { #expect(await slots.acquire(for: "a", timeout: .seconds(60))) }
        #expect(await slots.acquire(for: "a", in: line, timeout: .seconds(60)))
        let first = Task { await slots.acquire(for: "a", timeout: .seconds(60)) }
        let second = Task { await slots.acquire(for: "b", in: line, timeout: .seconds(60)) }
        #expect(await comesTrue { slots.waiting == 2 })
        // A third one finds nothing free.
        #expect(await slots.acquire(for: "b", timeout: .seconds(60)))
        slots.release(for: "b")
        slots.release(for: "a", in: line)
        #expect(await first.value)
        #expect(await second.value)
    }

    @Test func turnsAwayWhatWouldWaitTooLong() async {
        let slots = CallSlots(1)
        #expect(await slots.acquire(timeout: .seconds(5)))
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0 ... CallSlots.maxWaiting + 5 {
                group.addTask { await slots.acquire(timeout: .milliseconds(200)) }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(answers.allSatisfy { !$0 })
    }
}
