import MCPApps
import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// Servers of a host that require logins.
@Suite(.timeLimit(.minutes(5))) struct HostLoginTests {
    @Test func thePageNamesTheCommandForAServerThatNeedsALogin() async throws {
        let setting = try LoginSetting()
        let host = AppHost()
        let events = await host.events()
        let authorizer = OAuthAuthorizer(for: setting.server.url, store: MemoryTokenStore())
        try await host.addServer(.http(setting.server.url), name: "s", authorizer: authorizer)
        var shown: JSONValue?
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        for await event in events {
            guard case .server(let server) = event else { continue }
            let json = writer.json(event)
            guard case .lost = server.state else { continue }
            #expect(server.needsLogin)
            shown = json
            break
        }
        await host.close()
        #expect(
            shown?["problem"]?.stringValue.map(setting.plain)
                == "ORIGIN/mcp requires an access token (HTTP 401); in a terminal: mcp-client login ORIGIN/mcp"
        )
        // The host opened nothing and registered nothing.
        #expect(setting.server.requests("/register").isEmpty)
        await setting.end()
    }

    @Test func storedLoginsAreUsed() async throws {
        let setting = try LoginSetting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        setting.server.clearLog()
        let (harness, server, store) = (setting.harness, setting.server, setting.store)
        let running = Task { await harness.run("host", "--store", store, server.url) }
        await waitUntil { !server.requests("/mcp").isEmpty }
        running.cancel()
        let host = await running.value
        #expect(host.code == .ok, "\(host.stderr)")
        let requests = server.requests("/mcp")
        #expect(requests.allSatisfy { $0.authorization?.hasPrefix("Bearer access-") == true })
        #expect(setting.server.requests("/authorize").isEmpty)
        await setting.end()
    }
}
