import Foundation
import MCPCore
import MCPFoundation
import TestSupport
import Testing

/// A provider of tools whose requests `URLSession` carries, as those of a phone.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProviderCarrierTests {
    private final class Phone: ClientTool {
        let toolDefinition = Tool(name: "place", description: "Where the phone is")
        var scopes: Set<PermissionScope> { [.location] }
        func call(_ invocation: ClientToolInvocation) async throws -> ClientToolResult? { .text("here") }
    }

    @Test @MainActor func aPhoneOffersItsToolsByURLSession() async throws {
        let hub = ClientToolHub { _ in MCPServer("hub", version: "1") }
        let endpoints = ClientToolEndpoints(hub, token: "secret")
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .seconds(1)
        let running = try hub.server().start([
            .http(.tcp(port: 0), servers: endpoints, handler: endpoints, options: options)
        ])
        let port = try #require(running.addresses.first?.port)
        let registry = ClientToolRegistry()
        registry.register(tool: Phone())
        let accepted = AsyncStream.makeStream(of: ClientToolReport.self)
        let provider = ClientToolProvider(
            registry: registry, channel: "c", clientID: "phone", address: .tcp(port: port), token: "secret",
            carrier: URLSessionCarrier()
        ) { event in
            if case .registered(let report) = event { accepted.continuation.yield(report) }
        }
        let run = Task { try await provider.run() }
        var reports = accepted.stream.makeAsyncIterator()
        #expect(await reports.next()?.tools == ["place"])
        let agent = try await MCPClient.connect(.http("http://127.0.0.1:\(port)/mcp/channels/c"))
        #expect(try await agent.callTool("place").text == "here")
        // A tool that the app adds later is known at once.
        let other = MoreTools()
        registry.register(tool: other)
        #expect(await reports.next()?.tools == ["place", "more"])
        #expect(try await agent.callTool("more").text == "more: done")
        run.cancel()
        try await run.value
        await agent.close()
        await hub.stop()
        await running.stop()
    }

    private final class MoreTools: ClientTool {
        let toolDefinition = Tool(name: "more", description: "One more")
    }
}
