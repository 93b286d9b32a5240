import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// STDIO-20: the stdio client against real programs.
@Suite struct StdioClientTransportTests {
    /// A server in Python: `answer(request)` returns what is printed, or None.
    static func python(_ answer: String, before: String = "") -> ClientTarget {
        let lines = answer.split(separator: "\n", omittingEmptySubsequences: false)
        let body = lines.map { "    " + $0 }.joined(separator: "\n")
        let script = """
            import json, os, sys, time
            def say(value): print(value if isinstance(value, str) else json.dumps(value), flush=True)
            def result(r, value): return {"jsonrpc": "2.0", "id": r.get("id"), "result": value}
            DISCOVER = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {},
                        "ttlMs": 0, "cacheScope": "private"}
            LEGACY = {"protocolVersion": "2025-11-25", "capabilities": {},
                      "serverInfo": {"name": "p", "version": "1"}}
            \(before)
            for line in sys.stdin:
                r = json.loads(line)
                m = r.get("method")
            \(body)
            """
        return ClientTarget.command("python3", ["-c", script]).recorded()
    }

    private func connect(_ target: ClientTarget, _ options: ClientOptions = ClientOptions()) async
        -> ClientError?
    {
        await clientError { await (try MCPClient.connect(target, options: options)).close() }
    }

    // MARK: Programs that are no servers (fault 82)

    @Test func notFound() async {
        let error = await connect(.command("no-such-program-mcp"))
        #expect(error?.kind == .cannotStart)
        #expect(error?.message.contains("not found in PATH (") == true)
    }

    @Test func notExecutable() async {
        let error = await connect(.command("/etc/hostname"))
        #expect(error?.kind == .cannotStart)
    }

    @Test func endsAtOnce() async {
        let error = await connect(.command("false"))
        #expect(error?.kind == .connectionClosed)
        #expect(error?.message.contains("status 1") == true, "\(String(describing: error))")
    }

    @Test func echoes() async {
        let error = await connect(.command("cat"))
        #expect(error?.kind == .protocolViolation)
    }

    @Test func complainsAndEnds() async {
        let error = await connect(.command("cat", "/no/such/file"))
        #expect(error?.kind == .connectionClosed)
        #expect(
            error?.details.contains { $0.contains("/no/such/file") } == true, "\(String(describing: error))")
    }

    @Test func printsAFileAndEnds() async {
        let garbage = Mutex<[String]>([])
        var options = ClientOptions()
        options.trace = { event in
            if case .garbage(let line) = event { garbage.withLock { $0.append(line) } }
        }
        let error = await connect(.command("echo", "hello", "world"), options)
        #expect(error?.message.contains("status 0") == true, "\(String(describing: error))")
        #expect(garbage.withLock { $0 } == ["hello world"])
    }

    @Test func endlessLine() async {
        var options = ClientOptions()
        options.maxMessageBytes = 100_000
        // Not before it is asked: what comes earlier fails nothing, since nothing waits.
        let error = await connect(.command("sh", "-c", "read x; exec cat /dev/zero"), options)
        #expect(error?.kind == .protocolViolation)
    }

    @Test func silentProgramEndsInBoundedTime() async {  // STDIO-13, LIFE-13
        var options = ClientOptions()
        // Long enough to see, also on a busy machine, that nothing was read.
        options.connectTimeout = .seconds(2)
        let start = ContinuousClock.now
        let error = await connect(.command("sleep", "60"), options)
        #expect(error?.kind == .timeout)
        #expect(error?.message == "the program did not read its standard input within 2 s")
        // It ignores the end of its input, for which it is not waited (fault 83).
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    // MARK: Servers

    @Test(.enabled(if: isWanted("python3"), "python3 is not installed"))
    func conversation() async throws {  // STDIO-01, STDIO-04, STDIO-06: each line has to be JSON
        let target = Self.python(
            """
            if m == "server/discover": say(result(r, DISCOVER))
            elif m == "tools/call": say("debug: hello"); say(""); say(result(r, {"content": []}))
            """, before: #"print("banner é"); print("to stderr", file=sys.stderr, flush=True)"#)
        let lines = Mutex<[String]>([])
        var options = ClientOptions()
        options.onServerStderr = { line in lines.withLock { $0.append(line) } }
        let client = try await MCPClient.connect(target, options: options)
        #expect(client.protocolVersion == .newest)
        let result = try await client.request("tools/call", ["name": "x"])
        #expect(result["content"] != nil)
        await client.close()
        #expect(lines.withLock { $0 } == ["to stderr"])
        let late = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(late?.kind == .connectionClosed)
        await client.close()
    }

    @Test(.enabled(if: isWanted("python3"), "python3 is not installed"))
    func silentToTheProbe() async throws {  // DUAL-11, DUAL-12
        let target = Self.python(
            """
            if m == "initialize": say(result(r, LEGACY))
            elif m == "ping": say(result(r, {}))
            """)
        var options = ClientOptions()
        options.probeTimeout = .milliseconds(100)
        let client = try await MCPClient.connect(target, options: options)
        #expect(client.protocolVersion == .v2025_11_25)
        _ = try await client.ping()
        await client.close()
    }

    @Test(.enabled(if: isWanted("python3"), "python3 is not installed"))
    func diesInTheMiddle() async throws {  // fault 84
        let target = Self.python(
            """
            if m == "server/discover": say(result(r, DISCOVER))
            elif m in ("a", "b"):
                seen.append(m)
                if len(seen) == 2: print("about to die", file=sys.stderr, flush=True); os.kill(os.getpid(), 9)
            """, before: "seen = []")
        let client = try await MCPClient.connect(target)
        let first = Task { await clientError { _ = try await client.request("a") } }
        let second = await clientError { _ = try await client.request("b") }
        for error in [await first.value, second] {
            #expect(error?.kind == .connectionClosed)
            #expect(error?.message.contains("killed by signal 9") == true, "\(String(describing: error))")
            #expect(error?.details.contains("stderr: about to die") == true)
            #expect(error?.details.last?.hasSuffix("may have been executed; it was not sent again") == true)
        }
        await client.close()
    }

    @Test(.enabled(if: isWanted("python3"), "python3 is not installed"))
    func floodsStderrAndReadsLate() async throws {
        let target = Self.python(
            """
            if m == "server/discover": say(result(r, DISCOVER))
            elif m == "x":
                for i in range(20000): sys.stderr.write("noise " * 20 + chr(10))
                say(result(r, {"size": len(line)}))
            """)
        let client = try await MCPClient.connect(target)
        let text = String(repeating: "x", count: 3_000_000)
        let result = try await client.request("x", ["text": .string(text)])
        #expect(result["size"]?.int ?? 0 > 3_000_000)
        await client.close()
    }

    @Test(.enabled(if: isWanted("python3"), "python3 is not installed"))
    func cancelledByNotification() async throws {  // STDIO-11
        let target = Self.python(
            """
            if m == "server/discover": say(result(r, DISCOVER))
            elif m == "notifications/cancelled": told = r["params"]["requestId"]
            elif m == "told": say(result(r, {"id": told}))
            """)
        let client = try await MCPClient.connect(target)
        let error = await clientError {
            _ = try await client.request("slow", options: CallOptions(timeout: .milliseconds(500)))
        }
        #expect(error?.kind == .timeout)
        #expect(try await client.request("told")["id"]?.int == 2)
        await client.close()
    }

    @Test(.enabled(if: isWanted("python3"), "python3 is not installed"))
    func environmentAndDirectory() async throws {
        let program = """
            import json, os, sys
            r = json.loads(sys.stdin.readline())
            text = os.environ["A"] + " " + os.getcwd() + " " + str("PATH" in os.environ)
            print(json.dumps({"jsonrpc": "2.0", "id": r["id"], "result": {"resultType": "complete",
              "supportedVersions": ["2026-07-28"], "capabilities": {}, "instructions": text}}), flush=True)
            sys.stdin.read()
            """
        let client = try await MCPClient.connect(
            .command("python3", "-c", program, environment: ["A": "b"], directory: "/"))
        #expect(client.instructions == "b / True")
        await client.close()
    }

    // MARK: stderr

    @Test func tailIsBounded() {
        var tail = StderrTail()
        let long = String(repeating: "y", count: 10_000)
        let text = (0 ..< 100).map { "line \($0)\r\n" }.joined() + long + "\nrest"
        var bytes = ByteBuffer()
        bytes.append(utf8: text)
        let lines = unsafe bytes.withBytes { unsafe tail.take($0) }
        #expect(lines.count == 101)
        #expect(lines[3] == "line 3")
        #expect(tail.last.count == StderrTail.maxLines)
        #expect(tail.last.last == "rest")
        let cut = String(repeating: "y", count: StderrTail.maxLineBytes) + "…"
        #expect(tail.last.dropLast().last == cut && lines.last == cut)
    }
}
