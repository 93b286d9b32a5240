import MCPCore
import Synchronization
import TestSupport
import Testing

/// Changes in the handshake revisions: on stdio at once, over HTTP by the stream that a GET opens.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SessionChangesTests {
    private static let updated = "notifications/resources/updated"

    /// 2024-11-05 has no such stream over HTTP.
    static let settings = Setting.legacy.filter { $0.leg != .http || $0.version > "2024-11-05" }

    /// A client, and where the server's own messages to it arrive.
    private struct Listener {
        let client: RawClient
        let stream: WireStream?

        var heard: [RawJSON] { stream?.messages.compactMap(\.json) ?? client.heard }

        init(_ served: ServedServer) async throws {
            client = try await served.client()
            guard served.setting.leg == .http else {
                stream = nil
                return
            }
            let session = try await WireSession(
                port: served.port(), version: served.setting.version, id: client.sessionID)
            let opened = try session.get()
            #expect(await opened.opened())
            stream = opened
        }

        func heard(_ method: String, uri: String? = nil) async -> Bool {
            await comesTrue { count(method, uri: uri) > 0 }
        }

        func count(_ method: String, uri: String? = nil) -> Int {
            heard.count { message in
                message["method"]?.string == method
                    && (uri == nil || message["params"]?["uri"]?.string == uri)
            }
        }
    }

    private static func withListeners(
        _ setting: Setting, _ count: Int, _ body: (MCPServer, [Listener]) async throws -> Void
    ) async throws {
        let server = try TestServer().server
        try await withServer(setting, server) { served in
            var listeners: [Listener] = []
            for _ in 0 ..< count { listeners.append(try await Listener(served)) }
            try await body(server, listeners)
            for listener in listeners { listener.stream?.close() }
        }
    }

    // TOOL-21, PROM-08, DUAL-24, LEG-12, LEG-15: list changes need no subscription.
    @Test(arguments: settings) func lists(_ setting: Setting) async throws {
        try await Self.withListeners(setting, 2) { server, listeners in
            server.addTool("new", "New") { "" }
            try server.register(Prompt("new")) { _, _ in GetPromptResult([]) }
            #expect(server.unregisterResource("mem://a"))
            for listener in listeners {
                for list in ["tools", "prompts", "resources"] {
                    #expect(await listener.heard("notifications/\(list)/list_changed"))
                }
                #expect(listener.count(Self.updated) == 0)
                // META-14: no subscription, no tag.
                #expect(listener.heard.allSatisfy { $0.subscription == nil })
            }
        }
    }

    // RES-12, RES-14: a resource is told of from the subscription on, until it is given up, to who asked.
    @Test(arguments: settings) func resources(_ setting: Setting) async throws {
        try await Self.withListeners(setting, 2) { server, listeners in
            let (one, two) = (listeners[0], listeners[1])
            server.notifyResourceUpdated("mem://a")
            server.probe.deliverChanges()
            #expect(
                await one.client.request("resources/subscribe", ["uri": "mem://a"]).result?.value
                    .objectValue?.isEmpty == true)
            // Twice is once.
            #expect(await one.client.request("resources/subscribe", ["uri": "mem://a"]).result != nil)
            #expect(await two.client.request("resources/subscribe", ["uri": "mem://item/b"]).result != nil)
            server.notifyResourceUpdated("mem://a")
            server.notifyResourceUpdated("mem://item/b")
            #expect(await one.heard(Self.updated, uri: "mem://a"))
            #expect(await two.heard(Self.updated, uri: "mem://item/b"))
            #expect(one.count(Self.updated) == 1 && one.count(Self.updated, uri: "mem://item/b") == 0)
            #expect(two.count(Self.updated) == 1)
            #expect(
                await one.client.request("resources/unsubscribe", ["uri": "mem://a"]).result?.value
                    .objectValue?.isEmpty == true)
            #expect(await one.client.request("resources/unsubscribe", ["uri": "never"]).result != nil)
            server.notifyResourceUpdated("mem://a")
            server.notifyToolsChanged()
            #expect(await one.heard("notifications/tools/list_changed"))
            #expect(one.count(Self.updated) == 1)
        }
    }

    // LEG-16, DUAL-24: each change is told once to each session.
    @Test(arguments: settings) func once(_ setting: Setting) async throws {
        try await Self.withListeners(setting, 2) { server, listeners in
            for round in 1 ... 20 {
                server.notifyToolsChanged()
                server.probe.deliverChanges()
                for listener in listeners {
                    let isTold = await comesTrue {
                        listener.count("notifications/tools/list_changed") == round
                    }
                    #expect(isTold)
                }
            }
        }
    }

    @Test(arguments: Setting.legacy) func refused(_ setting: Setting) async throws {
        let server = try TestServer().server
        try await withClient(setting, server) { client in
            for params in [["uri": 1], ["uri": ""], ["uri": "no scheme"], ["url": "a:b"]] as [JSONObject] {
                #expect(await client.request("resources/subscribe", params).errorCode == -32602)
            }
            #expect(await client.request("subscriptions/listen", ["notifications": [:]]).errorCode == -32601)
        }
        // RES-12: nothing would ever be told of these.
        try await withClient(setting, try Watchable.server()) { client in
            for uri in Watchable.yes {
                let reply = await client.request("resources/subscribe", ["uri": .string(uri)])
                #expect(reply.result?.value == [:], "\(uri)")
            }
            for uri in Watchable.no {
                let reply = await client.request("resources/subscribe", ["uri": .string(uri)])
                #expect(reply.errorCode == MCPError.legacyResourceNotFoundCode, "\(uri)")
            }
        }
        // RES-12: without the capability there is no such method.
        let plain = MCPServer("plain", version: "1")
        plain.addTool("t", "T") { "" }
        try await withClient(setting, plain) { client in
            #expect(await client.request("resources/subscribe", ["uri": "a:b"]).errorCode == -32601)
        }
    }

    // CAP-09, LIFE-10: what is offered is what is there.
    @Test(arguments: Setting.all) func capabilities(_ setting: Setting) async throws {
        let method = setting.isModern ? "server/discover" : "initialize"
        let params: JSONObject =
            setting.isModern
            ? [:]
            : [
                "protocolVersion": .string(setting.version), "capabilities": [:],
                "clientInfo": ["name": "c", "version": "1"],
            ]
        try await withServer(setting, try TestServer().server) { served in
            let reply = await (try served.silentClient()).request(method, params)
            let capabilities = reply.result?["capabilities"]?.value
            #expect(capabilities?["tools"] == ["listChanged": true])
            #expect(capabilities?["prompts"] == ["listChanged": true])
            #expect(capabilities?["resources"] == ["subscribe": true, "listChanged": true])
        }
    }

    /// What may come later is declared, listed and told of while there is none of it.
    @Test(arguments: Setting.all) func declaredKinds(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.declaredKinds = [.prompts, .resources]
        let server = MCPServer("growing", version: "1", options: options)
        try await withClient(setting, server) { client in
            #expect(await client.request("prompts/list").result?["prompts"]?.elements?.isEmpty == true)
            #expect(await client.request("resources/list").result?["resources"]?.elements?.isEmpty == true)
            #expect(
                await client.request("resources/templates/list").result?["resourceTemplates"]?.elements?
                    .isEmpty == true)
            #expect(await client.request("tools/list").errorCode == -32601)
            if setting.isModern {
                let capabilities = await client.request("server/discover").result?["capabilities"]?.value
                #expect(capabilities?["prompts"] == ["listChanged": true])
                #expect(capabilities?["tools"] == nil)
            }
            try server.register(Prompt("first")) { _, _ in GetPromptResult([]) }
            let prompts = await client.request("prompts/list").result?["prompts"]?.elements
            #expect(prompts?.count == 1)
        }
    }
}
