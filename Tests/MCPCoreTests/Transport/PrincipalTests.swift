import MCPCore
import Synchronization
import TestSupport
import Testing

/// What belongs to one principal does not exist for another, and goes on with a new token of the same
/// principal.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PrincipalTests {
    private static func bearer(_ token: String) -> [String] { ["Authorization: Bearer \(token)"] }

    private static func serve(
        _ server: MCPServer, _ verifier: TestVerifier = TestVerifier(TestVerifier.people),
        _ body: (UInt16) async throws -> Void
    ) async throws {
        try await Protected.serve(server, try Protected.authorization(verifier), body)
    }

    // LEG-28, SEC-02, SEC-03, AUTH-45: a foreign session is an unknown one, whatever is asked of it.
    @Test(arguments: ["2025-03-26", "2025-11-25"]) func sessions(_ version: String) async throws {
        try await Self.serve(try TestServer().server) { port in
            let alice = try await WireSession(port: port, version: version, more: Self.bearer("alice"))
            let renewed = try await WireSession(
                port: port, version: version, id: alice.id, more: Self.bearer("alice-new"))
            let bob = try await WireSession(
                port: port, version: version, id: alice.id, more: Self.bearer("bob"))
            let nobody = try await WireSession(port: port, version: version, id: alice.id)
            for (session, status) in [(alice, 200), (renewed, 200), (bob, 404), (nobody, 401)] {
                #expect(try await session.request("ping")?.status == status)
                let stream = try session.get()
                #expect(await stream.until { $0.status != nil })
                #expect(stream.status == status)
                stream.close()
            }
            let end = { (token: String) in
                RequestHandlerTests.request(
                    "DELETE /mcp", ["Mcp-Session-Id: \(alice.id)"] + Self.bearer(token))
            }
            #expect(try await Protected.answer(port, end("bob")).status == 404)
            #expect(try await alice.request("ping")?.status == 200)
            #expect(try await Protected.answer(port, end("alice-new")).status == 204)
            #expect(try await alice.request("ping")?.status == 404)
        }
    }

    // A session of one principal that names a stream position of another's session gets nothing.
    @Test func resumedStreams() async throws {
        let gate = Gate()
        let server = try TestServer().server
        try server.register(Tool("slow")) { _, context in
            await context.progress(1)
            await gate.wait()
            await context.progress(2)
            return .text("done")
        }
        try await Self.serve(server) { port in
            let alice = try await WireSession(port: port, version: "2025-11-25", more: Self.bearer("alice"))
            let bob = try await WireSession(port: port, version: "2025-11-25", more: Self.bearer("bob"))
            let call = try alice.stream(
                "tools/call", #"{"name":"slow","arguments":{},"_meta":{"progressToken":"p"}}"#, id: 7)
            #expect(await call.heard("notifications/progress") != nil)
            let position = try #require(call.lastID)
            call.close()
            let foreign = try bob.get(after: position)
            #expect(await foreign.until { $0.status != nil })
            #expect(foreign.status == 400)
            let stolen = try await WireSession(
                port: port, version: "2025-11-25", id: alice.id, more: Self.bearer("bob")
            ).get(after: position)
            #expect(await stolen.until { $0.status != nil })
            #expect(stolen.status == 404)
            gate.open()
            let renewed = try await WireSession(
                port: port, version: "2025-11-25", id: alice.id, more: Self.bearer("alice-new")
            ).get(after: position)
            #expect(await renewed.until { $0.messages.contains { $0.json?["result"] != nil } })
            for stream in [foreign, stolen, renewed] { stream.close() }
        }
    }

    private static let tasks =
        #""io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#

    private static func withTasks(_ request: String) -> String {
        let capability = #""io.modelcontextprotocol/clientCapabilities":{}"#
        let parts = request.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
        let body = parts[1].replacing(capability, with: tasks)
        let head = parts[0].replacing(
            "Content-Length: \(parts[1].utf8.count)", with: "Content-Length: \(body.utf8.count)")
        return head + "\r\n\r\n" + body
    }

    // TASK-21, TASK-23
    @Test func tasks() async throws {
        let jobs = try TaskServer()
        try await Self.serve(jobs.server) { port in
            let opened = try await Protected.answer(
                port, Self.withTasks(Protected.call("slow_compute", #"{"seconds":1}"#)))
            let id = try #require(opened.json?["result"]?["taskId"]?.string, "\(opened)")
            func ask(_ method: String, _ token: String, _ more: String = "") async throws -> RawJSON? {
                let request = Protected.post(method, #""taskId":"\#(id)"\#(more)"#, name: id, token: token)
                return try await Protected.answer(port, Self.withTasks(request)).json
            }
            let answers = #","inputResponses":{}"#
            for (method, more) in [("tasks/get", ""), ("tasks/update", answers), ("tasks/cancel", "")] {
                let json = try await ask(method, "bob", more)
                #expect(json?["error"]?["code"]?.int == -32602, "\(method)")
                #expect(json?["error"]?["message"]?.string == "Unknown task; it may have expired")
            }
            #expect(try await ask("tasks/get", "alice-new")?["result"]?["status"]?.string == "working")
            // A subscription of the other principal does not hear of it.
            let filter = #""notifications":{"taskIds":["\#(id)"]}"#
            let heard = try ["bob", "alice-new"].map { token in
                try WireStream(
                    port: port, Self.withTasks(Protected.post("subscriptions/listen", filter, token: token)))
            }
            let acknowledged = "notifications/subscriptions/acknowledged"
            let taskIDs = try await [heard[0].heard(acknowledged), heard[1].heard(acknowledged)].map {
                try #require($0?.json?["params"]?["notifications"])["taskIds"]?.elements?.count ?? 0
            }
            #expect(taskIDs == [0, 1])
            jobs.release.open()
            #expect(await heard[1].heard("notifications/tasks") != nil)
            #expect(!heard[0].methods.contains("notifications/tasks"))
            for stream in heard { stream.close() }
        }
    }

    // MRTR-09, MRTR-10
    @Test func requestStates() async throws {
        try await Self.serve(try AskingServer().server) { port in
            func call(_ token: String, _ more: String = "") async throws -> RawJSON? {
                let request = Protected.post(
                    "tools/call", #""name":"greet","arguments":{}\#(more)"#, name: "greet", token: token)
                return try await Protected.answer(port, Self.withTasks(request)).json
            }
            let state = try #require(try await call("alice")?["result"]?["requestState"]?.string)
            let more =
                #","requestState":"\#(state)","inputResponses":{"user_name":{"action":"accept","content":{"name":"Ada"}}}"#
            let foreign = try await call("bob", more)
            #expect(foreign?["error"]?["code"]?.int == -32602)
            #expect(foreign?["error"]?["message"]?.string?.contains("was not made by this server") == true)
            let renewed = try await call("alice-new", more)
            #expect(
                renewed?["result"]?["content"]?[0]?["text"]?.string == "Hello, Ada!",
                "\(renewed.map { String($0.bytes) } ?? "")")
        }
    }

    // MARK: What handlers see

    private final class Watcher: ServerMiddleware {
        let seen = Mutex<[String]>([])

        func willServe(_ request: IncomingRequest) throws {
            seen.withLock { $0.append("\(request.method) \(request.principal?.subject ?? "nobody")") }
        }
    }

    private static func server(_ options: ServerOptions = ServerOptions()) -> MCPServer {
        let server = MCPServer("who", version: "1", options: options)
        server.addTool("who", "Says who calls", schema: #"{"type":"object"}"#) { _, context, out in
            out.text("\(context.principal?.subject ?? "nobody") \(context.principal?.clientID ?? "-")")
        }
        server.addTool("later", "Says who calls, later") { (_: TestServer.Forecast, context) async in
            context.principal?.key ?? "nobody"
        }
        server.addTool("write", "Needs a scope", schema: #"{"type":"object"}"#) { _, context, out in
            try context.require(scopes: ["files:read", "files:write"])
            out.text("written")
        }
        try? server.register(Tool("write_later", inputSchema: ["type": "object"])) { call, context in
            if call.arguments["begin"]?.bool == true { await context.progress(1) }
            try context.require(scopes: ["files:write"])
            return .text("written")
        }
        return server
    }

    @Test func handlersAndMiddleware() async throws {
        var options = ServerOptions()
        let watcher = Watcher()
        options.middleware = [watcher]
        let server = Self.server(options)
        try await Self.serve(server) { port in
            let who = try await Protected.answer(port, Protected.call("who"))
            #expect(who.json?["result"]?["content"]?[0]?["text"]?.string == "alice app")
            var keys: Set<String> = []
            for token in ["alice", "alice-new", "bob"] {
                let later = try await Protected.answer(
                    port, Protected.call("later", #"{"city":"x"}"#, token: token))
                keys.insert(try #require(later.json?["result"]?["content"]?[0]?["text"]?.string))
            }
            #expect(keys.count == 2 && !keys.contains("nobody"))
            // CACHE-08, AUTH-46
            let list = try await Protected.answer(port, Protected.post("tools/list"))
            #expect(list.json?["result"]?["cacheScope"]?.string == "private")
            let discover = try await Protected.answer(port, Protected.post("server/discover"))
            #expect(discover.json?["result"]?["cacheScope"]?.string == "private")
        }
        #expect(watcher.seen.withLock { $0.first } == "tools/call alice")
        #expect(watcher.seen.withLock { $0.contains("tools/call bob") })
        // Without authorization, and with a token that nobody asked for.
        try await server.withPort { port in
            let who = try await Protected.answer(port, Protected.call("who"))
            #expect(who.json?["result"]?["content"]?[0]?["text"]?.string == "nobody -")
            let list = try await Protected.answer(port, Protected.post("tools/list"))
            #expect(list.json?["result"]?["cacheScope"]?.string == "public")
            let write = try await Protected.answer(port, Protected.call("write"))
            #expect(write.json?["result"]?["content"]?[0]?["text"]?.string == "written")
        }
    }

    // MARK: Scopes

    private static let challenge =
        #"Bearer error="insufficient_scope", resource_metadata="\#(Protected.document)", scope="mcp:use "#

    // AUTH-31, AUTH-33, AUTH-34, AUTH-35, SEC-08
    @Test func requiredScopes() async throws {
        let verifier = TestVerifier([
            "reader": TestVerifier.user("reader", scopes: ["mcp:use", "files:read"]),
            "writer": TestVerifier.user("writer", scopes: ["mcp:use", "files:admin"]),
        ])
        let authorization = try Protected.authorization(
            verifier,
            implied: ["files:admin": ["files:write"], "files:write": ["files:read", "files:admin"]])
        let server = Self.server()
        try await Protected.serve(server, authorization) { port in
            let refused = try await Protected.answer(port, Protected.call("write", token: "reader"))
            #expect(refused.status == 403)
            #expect(
                refused.headers["www-authenticate"] == Self.challenge + #"files:read files:write""#)
            #expect(refused.headers["cache-control"] == "no-store")
            #expect(refused.json?["error"]?["code"]?.int == MCPError.insufficientScopeCode)
            #expect(refused.json?["id"]?.int == 1)
            let later = try await Protected.answer(port, Protected.call("write_later", token: "reader"))
            #expect(later.status == 403)
            #expect(later.headers["www-authenticate"] == Self.challenge + #"files:write""#)
            for tool in ["write", "write_later"] {
                let granted = try await Protected.answer(port, Protected.call(tool, token: "writer"))
                #expect(granted.status == 200 && granted.headers["www-authenticate"] == nil)
                #expect(granted.json?["result"]?["content"]?[0]?["text"]?.string == "written")
            }
            // Once the response has begun, the error is in it.
            let request = Protected.call("write_later", #"{"begin":true}"#, token: "reader")
                .replacing(#""_meta":{"#, with: #""_meta":{"progressToken":7,"#)
            let parts = request.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
            let length = parts[1].utf8.count
            let head = parts[0].replacing(
                "Content-Length: \(length - #""progressToken":7,"#.utf8.count)",
                with: "Content-Length: \(length)")
            let streamed = try await Protected.answer(port, head + "\r\n\r\n" + parts[1])
            #expect(streamed.status == 200 && streamed.isEventStream)
            #expect(streamed.events.last?.contains(#""code":403"#) == true)
            // Sessions of the handshake revisions, and their batches.
            let session = try await WireSession(
                port: port, version: "2025-03-26", more: Self.bearer("reader"))
            let call = #"{"name":"write","arguments":{}}"#
            let legacy = try await session.request("tools/call", call)
            #expect(legacy?.status == 403)
            #expect(legacy?.headers["www-authenticate"] == Self.challenge + #"files:read files:write""#)
            let batch = try await session.post(
                #"[{"jsonrpc":"2.0","id":5,"method":"tools/call","params":\#(call)}]"#)
            #expect(batch?.status == 200 && batch?.headers["www-authenticate"] == nil)
            #expect(batch?.json?[0]?["error"]?["code"]?.int == 403)
        }
        let endpoint = server.makeEndpoint(authorization: authorization)
        for tool in ["write", "write_later"] {
            let response = await endpoint.respond(
                to: try Protected.request(Protected.call(tool, token: "reader")))
            #expect(response.status == 403)
            #expect(response.headers["WWW-Authenticate"]?.hasPrefix(Self.challenge) == true)
            #expect(response.headers["Content-Type"] == "application/json")
        }
    }
}
