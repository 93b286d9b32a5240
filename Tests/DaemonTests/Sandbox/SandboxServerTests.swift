import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if os(Linux)
import Glibc

/// The daemon with sandboxes: servers behind it, kernels without Landlock, reloads.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SandboxServerTests {
    private static let server = """
        import json, os, socket, sys
        def attempt(body):
            try: return str(body())
            except OSError as e: return e.strerror
        for line in sys.stdin:
            m = json.loads(line)
            if "id" not in m: continue
            def answer(result): print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
            if m["method"] == "initialize":
                answer({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                        "serverInfo": {"name": "script", "version": "1"}})
            elif m["method"] == "tools/list":
                answer({"tools": [{"name": "try", "inputSchema": {"type": "object"}}]})
            elif m["method"] == "tools/call":
                text = [attempt(lambda: open("DIR/in/file").read()), attempt(lambda: open("DIR/out/secret").read()),
                        attempt(lambda: socket.socket()), attempt(lambda: os.kill(os.getppid(), 0)),
                        os.environ.get("MARK")]
                answer({"content": [{"type": "text", "text": " | ".join(map(str, text))}]})
            else:
                print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        """

    private static let configuration = #"""
        { "sandboxes": { "ro": { "fs": { "read": ["DIR/in", "PREFIX"] }, "net": "none", "env": { "MARK": "m" }MORE } },
          "mcpServers": { "s": { "command": "PYTHON", "args": ["DIR/in/s.py"], "sandbox": "ro" } },
          "tools": { "t": { "exec": ["cat", "DIR/out/secret"], "sandbox": "ro" },
                     "n": { "exec": ["PYTHON", "-c", "import socket; socket.socket()"], "sandbox": "ro" } } }
        """#

    private func fixture(_ more: String = "") throws -> SandboxFixture {
        let fixture = try SandboxFixture(Self.configuration.replacing("MORE", with: more))
        try fixture.directory.get().write("in/s.py", Self.server.replacing("DIR", with: fixture.path))
        return fixture
    }

    @Test func aServerInASandbox() async throws {
        let fixture = try fixture()
        guard SandboxFixture.isComplete else { return }
        let socket = "\(fixture.path)/s.sock"
        let program = try await WatchedProgram(configuration: "\(fixture.path)/mcp.jsonc", socket: socket)
        #expect(
            await program.logs("landlock v\(SandboxSupport.current.landlock), seccomp"), "\(program.output)")
        let client = try await MCPClient.connect(.unix(path: socket))
        _ = try await client.listTools()
        let text = try await client.callTool("try").text
        #expect(
            text == "open | Permission denied | Permission denied | Operation not permitted | m", "\(text)")
        let refused = try await client.callTool("t")
        #expect(refused.isError && refused.text.contains("note: sandbox ro may have refused this"))
        await client.close()
        await program.stop()
    }

    /// Without Landlock, nothing starts that should be confined; with "warn", it runs, and the log says so.
    @Test func aKernelWithoutLandlock() async throws {
        let strict = try fixture()
        let old = try strict.withoutLandlock()
        for arguments in [["check", "mcp.jsonc"], ["-c", "mcp.jsonc", "call", "t"], ["-c", "mcp.jsonc"]] {
            let outcome = try await strict.run(arguments, through: old)
            #expect(outcome.status == .exited(arguments[0] == "check" ? 8 : 2))
            #expect(
                (outcome.output + outcome.errors).contains(
                    "mcp.jsonc:1:24: error: sandboxes.ro cannot be enforced here: fs needs Landlock 3"),
                "\(outcome)")
            #expect(!outcome.output.contains("closed"))
        }
        let lenient = try fixture(#", "onUnsupported": "warn""#)
        let words = try lenient.withoutLandlock()
        let check = try await lenient.run(["check", "mcp.jsonc"], through: words)
        #expect(check.status == .exited(0) && check.output.contains("is enforced only in part here"))
        #expect(try await lenient.call("t", through: words).output == "closed\n")
        // The filter of system calls needs no Landlock.
        if SandboxSupport.current.hasSyscallFilter {
            #expect(try await lenient.call("n", through: words).errors.contains("Permission denied"))
        }
        let explained = try await lenient.run(["-c", "mcp.jsonc", "explain", "t"], through: words)
        #expect(explained.output.contains("NOT ENFORCED: fs needs Landlock 3"), "\(explained)")
    }

    /// The kernel changed its mind between the start and the call, as it can in a container: nothing is run.
    @Test func aChildThatCannotBeConfined() async throws {
        let fixture = try fixture()
        let words = try fixture.withoutLandlock()
        let all =
            words + [
                try WatchedProgram.path(), "restrict", "sandbox=refuse", "files=only", "--", "/bin/echo",
                "echo", "ran",
            ]
        let launch = ProcessLaunch(all[0], Array(all.dropFirst()), environment: WatchedProgram.environment)
        let result = try await Offload.run { try ProcessRunner.run(launch) }
        #expect(result.status == .exited(126) && result.output.isEmpty)
        #expect(
            String(decoding: result.errors, as: UTF8.self).contains(
                "/bin/echo was not started: its sandbox cannot be set up: fs needs Landlock 3"))
    }

    /// A call in flight keeps its sandbox; the next one has the new one.
    @Test func aReloadChangesTheSandbox() async throws {
        let fixture = try fixture()
        guard SandboxFixture.isComplete else { return }
        let socket = "\(fixture.path)/s.sock"
        let program = try await WatchedProgram(configuration: "\(fixture.path)/mcp.jsonc", socket: socket)
        let client = try await MCPClient.connect(.unix(path: socket))
        #expect(try await client.callTool("t").isError)
        let text = String(
            decoding: try Files.read("\(fixture.path)/mcp.jsonc", maxBytes: 10_000), as: UTF8.self)
        let wider = text.replacing("\(fixture.path)/in\",", with: "\(fixture.path)\",")
        try fixture.directory.get().write("mcp.jsonc", wider)
        #expect(await program.logs("~tool t"), "\(program.output)")
        #expect(try await client.callTool("t").text == "closed")
        // An unknown name leaves the running configuration as it is.
        try fixture.directory.get().write(
            "mcp.jsonc", wider.replacing("\"sandbox\": \"ro\"", with: "\"sandbox\": \"r\""))
        #expect(await program.logs(#""event":"not reloaded""#))
        #expect(try await client.callTool("t").text == "closed")
        await client.close()
        await program.stop()
    }

    @Test func statusAndExplain() async throws {
        let fixture = try fixture()
        guard SandboxFixture.isComplete else { return }
        let explained = try await fixture.run(["-c", "mcp.jsonc", "explain", "t"])
        let version = SandboxSupport.current.landlock
        #expect(
            explained.output.contains(
                "sandbox  ro, landlock v\(version), seccomp: read \(fixture.path)/in"), "\(explained)")
        #expect(explained.output.contains(" · no write · exec /usr/bin/cat "))
        let check = try await fixture.run(["check", "mcp.jsonc"])
        #expect(
            check.output.hasSuffix("3 in a sandbox (landlock v\(version), seccomp))\n"), "\(check.output)")
    }
}
#endif
