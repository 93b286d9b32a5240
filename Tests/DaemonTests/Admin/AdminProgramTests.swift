import Dispatch
import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The address for operators of a running program, and the commands that use it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AdminProgramTests {
    private struct Outcome {
        var status: ProcessExit
        var output: String
        var errors: String
    }

    private func run(_ arguments: String...) async throws -> Outcome {
        let launch = ProcessLaunch(
            try WatchedProgram.path(), arguments, environment: WatchedProgram.environment)
        let result = try await Offload.run { try ProcessRunner.run(launch, input: []) }
        try #require(result.end == .exited)
        return Outcome(
            status: result.status, output: String(decoding: result.output, as: UTF8.self),
            errors: String(decoding: result.errors, as: UTF8.self))
    }

    private func get(_ directory: TemporaryDirectory, _ path: String, _ method: String = "GET") async throws
        -> (status: Int, text: String)
    {
        let address = try ConfiguredAddress(unixPath: "\(directory.path)/admin.sock")
        let answer = try await AdminClient(address: address).send(method, path)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    private func write(_ directory: TemporaryDirectory, tools: String, more: String = "") throws {
        try directory.write(
            "mcp.jsonc",
            """
            { "admin": { "listen": "unix://\(directory.path)/admin.sock" },
              "observe": { "audit": { "file": "audit.jsonl", "chain": true }, "log": { "calls": "all" } },
              \(more) "tools": { \(tools) } }
            """)
    }

    private func started(_ directory: TemporaryDirectory, tools: String) async throws -> WatchedProgram {
        try write(directory, tools: tools)
        return try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s.sock")
    }

    private func call(_ program: WatchedProgram, _ tool: String) async throws {
        let client = try await MCPClient.connect(.unix(path: program.socket))
        _ = try? await client.callTool(tool)
        await client.close()
    }

    /// A server that cannot listen leaves nothing where operators find one that runs.
    @Test func aStartThatFailsLeavesNoSocket() async throws {
        let directory = try TemporaryDirectory()
        try write(directory, tools: #""good": { "exec": ["true"] }"#)
        try await MCPServer("other", version: "1").withPort { port in
            let failed = try await run(
                "-c", "\(directory.path)/mcp.jsonc", "--listen", "127.0.0.1:\(port)")
            #expect(failed.status == .exited(3), "\(failed)")
        }
        let names = try Files.names(in: directory.path).names
        #expect(!names.contains { $0.hasPrefix("admin.sock") }, "\(names)")
    }

    @Test func healthMetricsAndStatus() async throws {
        let directory = try TemporaryDirectory()
        let program = try await started(
            directory, tools: #""good": { "exec": ["true"] }, "bad": { "exec": ["false"] }"#)
        try await call(program, "good")
        try await call(program, "bad")
        #expect(try await get(directory, "/healthz") == (200, "ok\n"))
        #expect(try await get(directory, "/readyz") == (200, "ready\n"))
        let metrics = try await get(directory, "/metrics").text
        #expect(
            metrics.contains(
                #"gen_ai_tool_name="good",mcp_protocol_version="2026-07-28",outcome="ok",le="+Inf"} 1"#))
        #expect(metrics.contains(#"outcome="tool_error",le="+Inf"} 1"#))
        #expect(metrics.contains("\nprocess_resident_memory_bytes "))
        #expect(try await get(directory, "/nothing").status == 404)
        #expect(try await get(directory, "/metrics", "POST").status == 405)
        for number in ["abc", "-1"] {
            #expect(try await get(directory, "/errors?n=\(number)").status == 400, "\(number)")
        }
        #expect(try await get(directory, "/errors?n=0") == (200, "[]\n"))

        let file = "\(directory.path)/mcp.jsonc"
        let status = try JSONValue(parsing: try await run("status", "--json", "-c", file).output)
        #expect(status["state"] == "ready" && status["configuration"] == .string(file))
        #expect(status["pid"]?.intValue == Int(program.pid))
        let people = try await run("status", "--admin", "unix://\(directory.path)/admin.sock")
        #expect(people.status == .exited(0) && people.output.contains("\nbad   1         1"), "\(people)")
        let errors = try await run("errors", "-n", "1", "-c", file)
        #expect(errors.output.contains("call  bad  exit status 1"), "\(errors)")
        await program.stop()

        let audit = try await run("audit", "verify", "\(directory.path)/audit.jsonl")
        #expect(audit.status == .exited(0) && audit.output.contains(": ok ("), "\(audit)")
        let lines = String(
            decoding: try Files.read("\(directory.path)/audit.jsonl", maxBytes: 1 << 20), as: UTF8.self)
        #expect(lines.contains(#""address":"unix:uid="#), "\(lines)")
        #expect(lines.contains(#""name":"bad","arguments":{},"outcome":"tool_error""#), "\(lines)")
        // The hint fits what is known: a configuration that has `admin`, or an address alone.
        let none = try await run("status", "-c", file)
        #expect(none.status == .exited(1))
        #expect(none.errors.hasPrefix("mcp-server: no server is running at"))
        #expect(none.errors.hasSuffix("\nhint: start it: mcp-server -c \(file)\n"), "\(none)")
        let address = try await run("drain", "--admin", "unix://\(directory.path)/admin.sock")
        #expect(address.errors.contains("\nhint: compare the address with the one that the server prints"))
    }

    /// A call that becomes a task has succeeded; what comes of the task is seen at its end.
    @Test func tasksThatFail() async throws {
        let directory = try TemporaryDirectory()
        let program = try await started(
            directory,
            tools:
                #""job": { "exec": ["sh", "-c", "printf 'a\\tb\\r\\nc' >&2; exit 3"], "task": "optional" }"#)
        var options = ClientOptions()
        options.followsTasks = true
        let client = try await MCPClient.connect(.unix(path: program.socket), options: options)
        #expect(try await client.callTool("job").isError)
        await client.close()
        #expect(await program.logs(#""event":"task","name":"job","outcome":"tool_error""#))
        let metrics = try await get(directory, "/metrics").text
        let labels = #"{gen_ai_tool_name="job",outcome="tool_error"}"#
        #expect(metrics.contains("mcp_server_tasks_ended_total\(labels) 1\n"), "\(metrics)")
        let file = "\(directory.path)/mcp.jsonc"
        let status = try JSONValue(parsing: try await run("status", "--json", "-c", file).output)
        #expect(status["failed"] == 1, "\(status)")
        let errors = try await run("errors", "-n", "1", "-c", file)
        #expect(errors.output.contains("task  job  exit status 3"), "\(errors)")
        #expect(errors.output.contains("a b | c"), "\(errors)")
        await program.stop()
        let lines = String(
            decoding: try Files.read("\(directory.path)/audit.jsonl", maxBytes: 1 << 20), as: UTF8.self)
        #expect(lines.contains(#""event":"task","principal":null,"address":"unix:uid="#), "\(lines)")
        #expect(lines.contains(#"","outcome":"tool_error","ms":"#), "\(lines)")
    }

    @Test func reloadTellsTheDifferenceOrTheFindings() async throws {
        let directory = try TemporaryDirectory()
        let program = try await started(directory, tools: #""one": { "exec": ["true"] }"#)
        let file = "\(directory.path)/mcp.jsonc"
        try write(
            directory, tools: #""two": { "exec": ["true"] }"#, more: #""server": { "version": "2" },"#)
        let done = try await run("reload", "-c", file)
        #expect(done.status == .exited(0))
        #expect(done.output.contains("not in effect until a restart: server.version"), "\(done)")
        #expect(await program.logs("+tool two -tool one"))
        let same = try await run("reload", "-c", file)
        #expect(same.output.hasPrefix("reloaded: no changes that take effect now\n"), "\(same)")

        try write(directory, tools: #""two": { "exec": "true" }"#)
        let refused = try await run("reload", "--admin", "unix://\(directory.path)/admin.sock")
        #expect(refused.status == .exited(8))
        #expect(refused.output.contains("mcp.jsonc:3:"), "\(refused)")
        #expect(refused.output.hasSuffix("not reloaded: the running configuration stays\n"))
        // As ready as before.
        #expect(try await get(directory, "/readyz") == (200, "ready\n"))
        #expect(try await get(directory, "/metrics").text.contains("mcp_server_reload_successful 0\n"))
        // Where it is and what it is are values of their own.
        #expect(await program.logs(#""event":"configuration error","at":""#))
        await program.stop()
    }

    /// A call in flight ends; meanwhile the server is not ready.
    @Test func drain() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeFIFO("gate")
        let program = try await started(
            directory, tools: #""wait": { "exec": ["cat", "gate"] }"#)
        let waiting = Task { try await call(program, "wait") }
        var isRunning = false
        for _ in 0 ..< 2_000 where !isRunning {
            isRunning = try await get(directory, "/metrics").text.contains("mcp_server_commands_running 1\n")
        }
        #expect(isRunning)
        let drained = try await run("drain", "--admin", "unix://\(directory.path)/admin.sock")
        #expect(drained.status == .exited(0) && drained.output == "draining\n")
        #expect(try await get(directory, "/readyz") == (503, "draining\n"))
        let gate = unsafe open("\(directory.path)/gate", O_WRONLY)
        close(gate)
        #expect(await program.wait() == .exited(0))
        #expect(program.output.contains(#""event":"stopping","reason":"mcp-server drain""#))
        try await waiting.value
    }

    /// A second server with the same address for operators does not start, and leaves the first one alone.
    @Test func theAddressIsThatOfOneServer() async throws {
        let directory = try TemporaryDirectory()
        let program = try await started(directory, tools: "")
        let second = try await run(
            "-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(directory.path)/other.sock",
            "--set", "observe.audit.file=\(directory.path)/other.jsonl")
        #expect(second.status == .exited(3), "\(second)")
        #expect(try await get(directory, "/readyz").status == 200)
        await program.stop()
    }

    /// Without `admin.listen`, a shell has another environment than the service: all places are tried.
    @Test func theAddressOfAService() async throws {
        let directory = try TemporaryDirectory()
        for name in ["service", "shell"] { try directory.makeDirectory(name) }
        let (service, shell) = ("\(directory.path)/service", "\(directory.path)/shell")
        let settings = AdminSettings()
        func shown(_ environment: [String: String]) -> [String] {
            settings.addresses(environment, service: service).map(\.shown)
        }
        let own = "unix://\(shell)/mcp-admin.sock"
        let serving = "unix://\(service)/mcp-admin.sock"
        #expect(shown(["XDG_RUNTIME_DIR": shell]) == [own, serving])
        try directory.write("service/mcp-admin.sock", "")
        #expect(shown(["XDG_RUNTIME_DIR": shell]) == [serving, own])
        #expect(shown([:]) == [serving])
        try directory.write("shell/mcp-admin.sock", "")
        #expect(shown(["XDG_RUNTIME_DIR": shell]) == [own, serving])
        // A server chooses by its own environment alone.
        #expect(settings.address(["RUNTIME_DIRECTORY": "\(service):/x"])?.shown == serving)
        #expect(settings.address([:]) == nil)
        #expect(AdminSettings.problem([:]) == "neither RUNTIME_DIRECTORY nor XDG_RUNTIME_DIR is set")
        #expect(
            AdminSettings.problem(["XDG_RUNTIME_DIR": "/none"])
                == "neither RUNTIME_DIRECTORY nor XDG_RUNTIME_DIR is a directory")

        // A socket that a server has left is passed over.
        try directory.write("mcp.jsonc", #"{ "admin": {} }"#)
        unsafe unlink("\(service)/mcp-admin.sock")
        let program = try await WatchedProgram(
            ["-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(directory.path)/s.sock"],
            environment: WatchedProgram.environment.merging(["RUNTIME_DIRECTORY": service]) { $1 })
        let launch = ProcessLaunch(
            try WatchedProgram.path(), ["status", "-c", "\(directory.path)/mcp.jsonc"],
            environment: WatchedProgram.environment.merging([
                "RUNTIME_DIRECTORY": shell, "XDG_RUNTIME_DIR": service,
            ]) { $1 })
        let result = try await Offload.run { try ProcessRunner.run(launch, input: []) }
        #expect(result.status == .exited(0), "\(String(decoding: result.errors, as: UTF8.self))")
        await program.stop()
    }

    /// The health check of a container asks `status`, whatever the address is.
    @Test func theStatusAtAPort() async throws {
        let directory = try TemporaryDirectory()
        let address = "127.0.0.1:\(try freePort())"
        let file = "\(directory.path)/mcp.jsonc"
        try directory.write("mcp.jsonc", "{ \"admin\": { \"listen\": \"\(address)\" } }")
        let none = try await run("status", "-c", file)
        #expect(none.status == .exited(1), "\(none)")
        #expect(none.errors.contains("no server is running at \(address)\n"), "\(none)")
        let program = try await WatchedProgram(configuration: file, socket: "\(directory.path)/s.sock")
        let status = try await run("status", "-c", file)
        #expect(status.status == .exited(0) && status.output == "ready\n", "\(status)")
        #expect(
            status.errors == "note: \(address) serves health and metrics only; with a unix socket as "
                + "admin.listen, status shows everything\n")
        let json = try await run("status", "--json", "--admin", address)
        #expect(json.status == .exited(0) && json.output == "{\"state\":\"ready\"}\n", "\(json)")
        let drain = try await run("drain", "-c", file)
        #expect(drain.status == .exited(1), "\(drain)")
        #expect(drain.errors.contains("\(address) serves health and metrics only\n"), "\(drain)")
        await program.stop()
    }

    @Test func compressedAuditLogsAreNamedAsThat() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("audit.jsonl.1.gz", [0x1F, 0x8B, 8, 0, 0x0A, 0])
        let outcome = try await run("audit", "verify", "\(directory.path)/audit.jsonl.1.gz")
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors.contains("audit.jsonl.1.gz is compressed"), "\(outcome)")
        #expect(outcome.errors.contains("gunzip --keep"))
    }

    @Test func whatIsNoAuditLogIsNamedAsThat() async throws {
        let outcome = try await run("audit", "verify", "/dev/null")
        #expect(outcome.status == .exited(1))
        #expect(
            outcome.errors == "mcp-server: /dev/null cannot be read: it is not a regular file\n", "\(outcome)"
        )
    }

    private static func service(_ state: ServerState) -> AdminService {
        let observer = Observer(
            metrics: CallMetrics { _ in true }, audit: nil, recorder: nil, errors: nil, calls: .none,
            log: .disabled)
        let subject = AdminService.Subject(
            server: ("s", "1"), state: state, observer: observer,
            supervisor: ProcessSupervisor(program: "/nonexistent", arguments: [], log: .disabled),
            log: .disabled, drain: { true })
        return AdminService(subject: subject, mayControl: false)
    }

    /// A loop that does not come to the end of its turn makes the server unhealthy, for as long as that lasts.
    @Test func aLoopThatIsStuck() async throws {
        let (begun, release) = (Gate(), DispatchSemaphore(value: 0))
        let server = MCPServer("stuck", version: "1")
        server.addTool("block", "Occupies the loop") { () -> String in
            begun.open()
            release.wait()
            return "done"
        }
        var options = HTTPServerOptions()
        options.loops = 1
        let running = try server.start([.http(.tcp(port: 0), options: options)])
        let state = ServerState()
        state.begins(running)
        let service = Self.service(state)
        #expect(await service.respond(to: HTTPRequest(method: "GET", target: "/healthz")).status == 200)
        let client = try await MCPClient.connect(.http("http://127.0.0.1:\(try running.port())/mcp"))
        let call = Task { try await client.callTool("block").text }
        #expect(await begun.wait())
        #expect(await service.respond(to: HTTPRequest(method: "GET", target: "/healthz")).status == 503)
        release.signal()
        #expect(try await call.value == "done")
        #expect(await service.respond(to: HTTPRequest(method: "GET", target: "/healthz")).status == 200)
        await client.close()
        await running.stop()
    }

    /// Any user of the host can connect to a port: health and metrics only.
    @Test func aPortDoesNotControl() async throws {
        let service = Self.service(ServerState())
        for (method, path, status) in [
            ("GET", "/healthz", 200), ("GET", "/readyz", 503), ("GET", "/metrics", 200),
            ("GET", "/status", 403),
            ("GET", "/errors", 403), ("POST", "/reload", 403), ("POST", "/drain", 403),
            ("GET", "/drain", 405),
        ] {
            #expect(await service.respond(to: HTTPRequest(method: method, target: path)).status == status)
        }
    }
}
