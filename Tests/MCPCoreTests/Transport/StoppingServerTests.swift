import Dispatch
import MCPCore
import Synchronization
import TestSupport
import Testing

/// Requests that reach a server while it begins to stop.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StoppingServerTests {
    private static func call(_ tool: String) -> String {
        let body = HTTPServerTests.body("tools/call", #""name":"\#(tool)","arguments":{}"#)
        return HTTPServerTests.post(body, method: "tools/call", more: "Mcp-Name: \(tool)\r\n")
    }

    private static func answer(_ socket: WireSocket) async throws -> WireResponse? {
        try await onThread { () throws -> WireResponse? in
            var reader = WireReader(socket)
            return reader.response()
        }
    }

    /// A proxy sends its requests on new connections, and some while the server is told to stop: those that the
    /// system has accepted for it are answered like those that it has read.
    @Test func whatWasSentIsServed() async throws {
        let (begun, release) = (Gate(), DispatchSemaphore(value: 0))
        let server = MCPServer("stopping", version: "1")
        server.addTool("quick", "Quick") { "done" }
        server.addTool("later", "Later") { () async -> String in "done" }
        server.addTool("block", "Occupies the loop") { () -> String in
            begun.open()
            release.wait()
            return "done"
        }
        var options = HTTPServerOptions()
        options.loops = 1
        let running = try server.start([.http(.tcp(port: 0), options: options)])
        let port = try running.port()
        let known = try WireSocket(port: port)
        known.send(Self.call("quick"))
        #expect(try await Self.answer(known)?.status == 200)
        let idle = try WireSocket(port: port)
        idle.send(Self.call("quick"))
        #expect(try await Self.answer(idle)?.status == 200)
        let blocking = try WireSocket(port: port)
        blocking.send(Self.call("block"))
        #expect(await begun.wait())
        known.send(Self.call("later"))
        let sockets = try (0 ..< 20).map { number in
            let socket = try WireSocket(port: port)
            socket.send(Self.call(number.isMultiple(of: 2) ? "quick" : "later"))
            return socket
        }
        running.requestStop()
        for _ in 0 ..< 20 { await pause() }
        release.signal()
        for socket in [blocking, known] + sockets {
            let answer = try await Self.answer(socket)
            #expect(answer?.status == 200)
            #expect(answer?.body.contains("done") == true)
        }
        #expect(try await Self.answer(idle) == nil)
        await running.waitUntilEnded()
    }

    /// A client of a handshake revision answers a question with a request of its own, which a server that
    /// stops does not accept: the call that asks does not wait for it.
    @Test func aQuestionThatCannotBeAnswered() async throws {
        let (asked, answered) = (Gate(), Gate())
        let server = MCPServer("stopping", version: "1")
        try server.register(Tool("ask")) { _, context in
            do {
                let answer = try await context.elicit("Name?", ElicitationSchema([]))
                return .text(answer.action.rawValue)
            } catch let error as MCPError {
                return .error(error.message)
            }
        }
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .seconds(600)
        let running = try server.start([.http(.tcp(port: 0), options: options)])
        var clientOptions = ClientOptions()
        clientOptions.protocol = .exactly(.v2025_11_25)
        clientOptions.onElicit = { _ in
            asked.open()
            _ = await answered.wait()
            return ElicitResult(.accept)
        }
        let client = try await MCPClient.connect(
            .http("http://127.0.0.1:\(try running.port())/mcp"), options: clientOptions)
        let call = Task { try await client.callTool("ask") }
        #expect(await asked.wait())
        await running.stop()
        let result = try await call.value
        #expect(result.isError && result.text.contains("the server is stopping"), "\(result.text)")
        answered.open()
        await client.close()
    }
}
