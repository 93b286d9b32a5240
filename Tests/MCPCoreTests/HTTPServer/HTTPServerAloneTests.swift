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

/// An HTTP server without MCP.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HTTPServerAloneTests {
    private static func options() -> HTTPServerOptions {
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .seconds(2)
        return options
    }

    /// Serves its handler alone, under the same checks (A44).
    @Test func servesItsHandler() async throws {
        let server = try HTTPServer(on: [.tcp(port: 0)], options: Self.options())
        let port = try #require(server.addresses.first?.port)
        let handler = TestHandler()
        try server.start(handler)
        let requests = [
            RequestHandlerTests.request("GET /door/x"), RequestHandlerTests.request("GET /mcp"),
            RequestHandlerTests.request("GET /"),
            RequestHandlerTests.request("GET /door/x", host: "evil.example"),
            RequestHandlerTests.request("GET /door/x?access_token=1"),
            RequestHandlerTests.request("GET /door/%FF"), RequestHandlerTests.request("BREW /door/x"),
        ]
        let answers = try await RequestHandlerTests.answers(port, requests)
        #expect(answers.map { $0?.status } == [200, 404, 404, 403, 400, 400, 501])
        #expect(answers[1]?.body == "Not found\n")
        #expect(handler.seen.count == 1)
        await server.stop()
        // The second waits for nothing.
        await server.stop()
    }

    /// Who connects before it serves is answered once it does.
    @Test func connectionsWaitForTheStart() async throws {
        let server = try HTTPServer(on: [.tcp(port: 0)], options: Self.options())
        let port = try #require(server.addresses.first?.port)
        async let answers = RequestHandlerTests.answers(port, [RequestHandlerTests.request("GET /door/x")])
        try server.start(TestHandler())
        #expect(try await answers.first??.status == 200)
        await server.stop()
    }

    /// A server that never served leaves nothing behind, whether it is stopped or released.
    @Test func withoutAStart() async throws {
        let path = "/tmp/mcp-alone-\(UInt32.random(in: .min ... .max)).sock"
        for isStopped in [true, false] {
            let server = try HTTPServer(on: [.unix(path: path)], options: Self.options())
            #expect(unsafe access(path, F_OK) == 0)
            if isStopped {
                await server.stop()
                #expect(throws: ListenError.self) { try server.start(TestHandler()) }
            }
            _ = consume server
            #expect(unsafe access(path, F_OK) != 0)
        }
    }

    @Test func limitsOfItsResources() async throws {
        var resources = HTTPServerResources()
        resources.requestTimeout = .milliseconds(50)
        let server = try HTTPServer(on: [.tcp(port: 0)], options: Self.options(), resources: resources)
        let port = try #require(server.addresses.first?.port)
        let handler = TestHandler()
        try server.start(handler)
        let answers = try await RequestHandlerTests.answers(
            port, [RequestHandlerTests.request("GET /door/wait")])
        #expect(answers.first??.status == 504)
        #expect(await handler.cancelled.wait())
        await server.stop()
    }
}
