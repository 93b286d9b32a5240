import MCPCore
import TestSupport
import Testing

/// Questions of servers before 2026-07-28 that need no answer any more, to callers with sessions.
@Suite(.timeLimit(.minutes(5))) struct UpstreamQuestionTests {
    /// What happens while a caller has a question.
    enum Change: CaseIterable, Sendable {
        /// The call ends without the answer.
        case ends
        /// The server takes the question back, and the call ends once its caller has heard of that.
        case isTakenBack
        /// The server goes away.
        case isLost
    }

    private static func makeServer(_ change: Change, _ asked: Gate, _ withdrawn: Gate) throws -> MCPServer {
        let server = MCPServer("far", version: "1")
        try server.register(Tool("ask")) { _, context in
            let question = Task { try await context.elicit("Name?", ElicitationSchema([])) }
            _ = await asked.wait()
            if change == .isTakenBack {
                question.cancel()
                _ = await withdrawn.wait()
            }
            if change == .isLost { _ = try await question.value }
            return .text("done without")
        }
        return server
    }

    /// The question is withdrawn at the caller, and the call ends with what the server said.
    @Test(arguments: Change.allCases) func aQuestionThatIsOver(_ change: Change) async throws {
        let folder = TemporaryDirectory()
        let (asked, withdrawn) = (Gate(), Gate())
        let far = try Self.makeServer(change, asked, withdrawn)
        var http = HTTPServerOptions()
        http.drainTimeout = .zero
        let running = try far.start([.http(.unix(path: "\(folder.path)/s"), options: http)])
        var options = UpstreamOptions()
        options.protocol = .exactly(.v2025_11_25)
        options.isPerPrincipal = true
        let upstream = Upstream("far", .unix(path: "\(folder.path)/s", endpoint: "/mcp"), options: options)
        let group = UpstreamGroup()
        group.set([upstream])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        var caller = ClientOptions()
        caller.protocol = .exactly(.v2025_11_25)
        caller.onElicit = { _ in
            asked.open()
            do {
                try await Task.sleep(for: .seconds(600))
            } catch {
                withdrawn.open()
                throw error
            }
            return ElicitResult(.accept)
        }
        let client = try await MCPClient.connect(.inProcess(near), options: caller)
        let call = Task { try await client.callTool("ask") }
        #expect(await asked.wait())
        if change == .isLost {
            running.requestStop()
            await #expect(throws: MCPError.self) { try await call.value }
        } else {
            #expect(try await call.value.text == "done without")
        }
        #expect(await withdrawn.wait())
        await client.close()
        await group.stop()
        if change != .isLost { running.requestStop() }
        await running.waitUntilEnded()
    }
}

/// Questions of tasks at servers of 2026-07-28, to callers of both eras.
@Suite(.timeLimit(.minutes(5))) struct UpstreamTaskQuestionTests {
    private static func call(
        _ tool: String, _ arguments: JSONObject = [:], as revision: ProtocolVersion,
        _ answer: @escaping @Sendable (ElicitRequest) -> ElicitResult
    ) async throws -> String {
        let tasks = try TaskServer()
        let group = UpstreamGroup()
        group.set([Upstream("far", .inProcess(tasks.server))])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        var caller = ClientOptions()
        caller.protocol = .exactly(revision)
        caller.onElicit = { answer($0) }
        let client = try await MCPClient.connect(.inProcess(near), options: caller)
        let result: String
        do {
            result = try await client.callTool(tool, arguments).text
        } catch {
            result = "\(error)"
        }
        await client.close()
        await group.stop()
        return result
    }

    @Test(arguments: [ProtocolVersion.v2026_07_28, .v2025_11_25])
    func aTaskAsksItsCaller(_ revision: ProtocolVersion) async throws {
        let deleted = try await Self.call("confirm_delete", ["filename": "a.txt"], as: revision) { request in
            #expect(request.message == "Delete a.txt?")
            return ElicitResult(.accept, content: ["confirm": true])
        }
        #expect(deleted == "a.txt: accept true")
        let both = try await Self.call("multi_input", as: revision) {
            ElicitResult(.accept, content: ["v": .string($0.message)])
        }
        #expect(both == "First? Second?")
        // It asks before it becomes a task.
        let hello = try await Self.call("test_tool_with_task", as: revision) { _ in
            ElicitResult(.accept, content: ["name": "Ada"])
        }
        #expect(hello == "Hello, Ada!")
    }
}
