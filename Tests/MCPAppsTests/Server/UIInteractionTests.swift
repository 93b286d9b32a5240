import MCPApps
import MCPCore
import MCPHarness
import TestSupport
import Testing

/// Views of a server, in every revision over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UIInteractionTests {
    private static let uri = "ui://clock/face"
    private static let html = "<!doctype html><title>Clock</title>"

    private static func server() throws -> MCPServer {
        let server = MCPServer("clock", version: "1")
        try server.addUIResource(
            uri, title: "Face", html: html, csp: UICSPDomains(connect: ["https://time.example"]),
            permissions: [.geolocation], prefersBorder: true)
        try server.addUITool(Tool("clock"), resourceURI: uri) { _, context in
            .text(context.clientSupportsUI ? "a view shows it" : "12:00")
        }
        try server.addAppTool(Tool("tick")) { _, _ in .text("tick") }
        // The same is known to code that answers on the spot.
        try server.registerRaw(Tool("raw")) { _, context, out in
            out.text(context.clientSupportsUI ? "yes" : "no")
        }
        return server
    }

    private static func connect(
        _ served: ServedServer, _ extensions: JSONObject
    ) async throws -> MCPClient {
        var options = ClientOptions()
        options.extensions = extensions
        return try await served.connect(options)
    }

    // EXT-01, EXT-02, A01: what a host with views finds.
    @Test(arguments: Setting.all) func views(_ setting: Setting) async throws {
        try await withServer(setting, try Self.server()) { served in
            let ui: JSONObject = [UIExtension.identifier: .object(UIExtension.clientCapability)]
            let client = try await Self.connect(served, ui)
            #expect(client.serverCapabilities.extensions[UIExtension.identifier] == [:])
            let tools = try await client.listTools()
            #expect(tools.map(\.name) == ["clock", "tick", "raw"])
            // Before 2025-06-18 a tool has no `_meta`, and so no view.
            if setting.hasStructuredContent {
                #expect(try tools[0].uiResourceURI() == Self.uri)
                #expect(tools[0].meta?["ui/resourceUri"] == .string(Self.uri))
                #expect(tools[0].visibility == [.model, .app])
                #expect(tools[1].visibility == [.app])
                #expect(try tools[2].uiResourceURI() == nil)
            }
            let read = try await client.readResource(Self.uri)
            #expect(read.first?.mimeType == "text/html;profile=mcp-app")
            let resource = try UIResource.load(
                Self.uri, read: read, listed: try await client.listResources().first)
            #expect(resource.html == Self.html)
            if setting.hasStructuredContent {
                #expect(
                    resource.meta
                        == UIResourceMeta(
                            csp: UICSPDomains(connect: ["https://time.example"]), permissions: [.geolocation],
                            prefersBorder: true))
            }
            #expect(try await client.callTool("clock").text == "a view shows it")
            #expect(try await client.callTool("raw").text == "yes")
            await client.close()
        }
    }

    // EXT-02, EXT-05: a client without views, or with other ones, gets the text.
    @Test(arguments: Setting.all) func textWithoutViews(_ setting: Setting) async throws {
        try await withServer(setting, try Self.server()) { served in
            for extensions in [
                [:], [UIExtension.identifier: [:]], [UIExtension.identifier: ["mimeTypes": ["text/html"]]],
                [UIExtension.identifier: ["mimeTypes": "text/html;profile=mcp-app"]],
            ] as [JSONObject] {
                let client = try await Self.connect(served, extensions)
                #expect(try await client.callTool("clock").text == "12:00")
                #expect(try await client.callTool("raw").text == "no")
                await client.close()
            }
        }
    }

    // EXT-05: settings that are no object are no settings.
    @Test func settingsThatAreNoObject() {
        #expect(!ClientCapabilities(extensions: [UIExtension.identifier: []]).hasUI)
        #expect(
            ClientCapabilities(extensions: [UIExtension.identifier: .object(UIExtension.clientCapability)])
                .hasUI)
    }

    // EXT-01
    @Test func whatCannotBeRegistered() throws {
        let server = try Self.server()
        #expect(throws: RegistrationError.self) { try server.addUIResource("https://x/y", html: "") }
        #expect(throws: RegistrationError.self) { try server.addUIResource(Self.uri, html: "") }
        let long = String(repeating: "x", count: UIResource.maxBytes + 1)
        #expect(throws: RegistrationError.self) { try server.addUIResource("ui://long", html: long) }
        #expect(throws: RegistrationError.self) {
            try server.addUITool(Tool("x"), resourceURI: "clock") { _, _ in .text("") }
        }
        #expect(throws: RegistrationError.self) {
            try server.addUITool(Tool("clock"), resourceURI: Self.uri) { _, _ in .text("") }
        }
    }

    /// Other members of `_meta` stay.
    @Test func metaOfATool() async throws {
        let server = MCPServer("x", version: "1")
        try server.addUITool(
            Tool("t", meta: ["a": 1, "ui": ["b": 2]]), resourceURI: Self.uri, visibility: [.model]
        ) { _, _ in .text("") }
        let client = try await MCPClient.connect(.inProcess(server))
        let ui: JSONValue = ["b": 2, "resourceUri": .string(Self.uri), "visibility": ["model"]]
        #expect(
            try await client.listTools().first?.meta == [
                "a": 1, "ui/resourceUri": .string(Self.uri), "ui": ui,
            ])
        await client.close()
    }
}
