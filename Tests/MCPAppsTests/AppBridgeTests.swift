import MCPApps
import MCPCore
import MCPHarness
import Synchronization
import Testing

/// The bridge for programs that embed a view, without a browser.
@Suite(.timeLimit(.minutes(5))) struct AppBridgeTests {
    /// What the handlers were given, in order.
    private final class Notes: Sendable {
        private let words = Mutex<[String]>([])
        func add(_ word: String) { words.withLock { $0.append(word) } }
        var all: [String] { words.withLock { $0 } }
    }

    /// A view in Swift: asks, and hears.
    private final class View: Sendable {
        /// A bridge that nobody holds ends.
        private let bridge: AppBridge
        private let transport: InMemoryAppTransport
        private let heard: Mutex<AsyncStream<JSONValue>.Iterator>

        init(_ transport: InMemoryAppTransport, _ bridge: AppBridge) {
            self.bridge = bridge
            self.transport = transport
            heard = Mutex(transport.incoming.makeAsyncIterator())
        }

        func send(_ message: JSONValue) { transport.send(message) }

        func notify(_ method: String, _ params: JSONValue = [:]) {
            send(["jsonrpc": "2.0", "method": .string(method), "params": params])
        }

        /// The next message; nil at the end.
        func next() async -> JSONValue? {
            var iterator = heard.withLock { $0 }
            return await iterator.next()
        }

        func request(_ method: String, _ params: JSONValue = [:], id: JSONValue = 1) async -> JSONValue? {
            send(["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params])
            return await next()
        }

        func initialize(_ app: JSONObject = [:]) async {
            let params: JSONValue = [
                "protocolVersion": "2026-01-26", "appInfo": ["name": "v", "version": "1"],
                "appCapabilities": .object(app),
            ]
            let answer = await request("ui/initialize", params, id: "init")
            #expect(answer?["result"]?["protocolVersion"] == "2026-01-26")
            notify("ui/notifications/initialized")
        }

        /// The same, until the host has heard it.
        func begin(_ app: JSONObject = [:]) async {
            await initialize(app)
            #expect(await request("ping", id: "ping")?["result"] == [:])
        }

        func close() { transport.close() }
    }

    private static func bridge(
        limits: AppBridgeLimits = AppBridgeLimits(), _ change: (inout AppBridgeHandlers) -> Void = { _ in }
    ) async -> (AppBridge, View) {
        var handlers = AppBridgeHandlers()
        change(&handlers)
        let (host, view) = InMemoryAppTransport.makePair()
        let bridge = AppBridge(
            host, hostInfo: Implementation(name: "host", version: "1"), capabilities: ViewBench.everything,
            context: ViewBench.context, limits: limits, handlers: handlers)
        await bridge.start()
        return (bridge, View(view, bridge))
    }

    // A15
    @Test func theSevenHandlers() async throws {
        let notes = Notes()
        let gate = AsyncStream<Void>.makeStream()
        let (bridge, view) = await Self.bridge { handlers in
            handlers.onInitialized = { notes.add("initialized") }
            handlers.onSizeChange = { notes.add("size \($0.height ?? -1)") }
            handlers.onLoggingMessage = {
                notes.add("log \($0.level.rawValue) \($0.data)")
                gate.continuation.finish()
            }
            handlers.onMessage = { message in
                notes.add("\(message.role.rawValue): \(message.content.first?.text ?? "")")
                return .done
            }
            handlers.onOpenLink = { $0 == "https://ok.example" ? .done : .denied("not that one") }
            handlers.onToolCall = { name, arguments in
                CallToolResult(structuredContent: .object(arguments), meta: ["name": .string(name)])
            }
            handlers.onResourceRead = { [.text("t", uri: $0)] }
        }
        await view.begin()
        let message = await view.request(
            "ui/message", ["role": "user", "content": ["type": "text", "text": "hi"]])
        #expect(message?["result"] == [:])
        #expect(await view.request("ui/open-link", ["url": "https://ok.example"])?["result"] == [:])
        #expect(
            await view.request("ui/open-link", ["url": "https://no.example"])?["error"]
                == ["code": -32000, "message": "not that one"])
        let call = await view.request("tools/call", ["name": "x", "arguments": ["a": [.null, true, 1.50]]])
        #expect(
            call?["result"] == [
                "content": [], "structuredContent": ["a": [.null, true, 1.5]], "_meta": ["name": "x"],
            ])
        #expect(
            await view.request("resources/read", ["uri": "x:///a"])?["result"]
                == ["contents": [["uri": "x:///a", "mimeType": "text/plain", "text": "t"]]])
        view.notify("ui/notifications/size-changed", ["height": 120])
        view.notify("notifications/message", ["level": "error", "data": "oh"])
        for await _ in gate.stream {}
        #expect(notes.all.filter { $0 != "user: hi" } == ["initialized", "size 120.0", #"log error "oh""#])
        #expect(notes.all.contains("user: hi"))
        #expect(await bridge.isReady)
        #expect(await bridge.appInfo?.name == "v")
    }

    // A15
    @Test func theFurtherHandlers() async throws {
        let (_, view) = await Self.bridge { handlers in
            handlers.onUpdateModelContext = { $0.structuredContent == ["a": 1] ? .done : .failed }
            handlers.onRequestDisplayMode = { $0 }
            handlers.onDownloadFile = { $0.count == 1 ? .done : .failed }
            handlers.onForward = { method, params in ["method": .string(method), "params": .object(params)] }
            handlers.onCreateMessage = { params in
                guard params["maxTokens"] == 1 else { throw MCPError.invalidParams("too many") }
                return ["model": "m"]
            }
        }
        await view.begin(["availableDisplayModes": ["fullscreen"]])
        #expect(
            await view.request("ui/update-model-context", ["structuredContent": ["a": 1]])?["result"] == [:])
        #expect(await view.request("ui/update-model-context")?["result"] == ["isError": true])
        #expect(
            await view.request("ui/request-display-mode", ["mode": "fullscreen"])?["result"] == [
                "mode": "fullscreen"
            ])
        let file: JSONValue = ["type": "resource_link", "uri": "f:///x", "name": "x"]
        #expect(await view.request("ui/download-file", ["contents": [file]])?["result"] == [:])
        #expect(
            await view.request("resources/list", ["cursor": "c"])?["result"]
                == ["method": "resources/list", "params": ["cursor": "c"]])
        // Without a handler of its own.
        #expect(await view.request("resources/read", ["uri": "u"])?["result"]?["method"] == "resources/read")
        #expect(await view.request("sampling/createMessage", ["maxTokens": 1])?["result"] == ["model": "m"])
        #expect(await view.request("sampling/createMessage", ["maxTokens": 2])?["error"]?["code"] == -32602)
    }

    // A15
    @Test func withoutHandlers() async throws {
        let (_, view) = await Self.bridge()
        await view.begin(["availableDisplayModes": ["fullscreen"]])
        for (method, params) in [
            ("tools/call", ["name": "x"]), ("resources/read", ["uri": "u"]), ("resources/list", [:]),
            ("ui/open-link", ["url": "https://x"]), ("ui/update-model-context", [:]),
            ("sampling/createMessage", [:]),
        ] as [(String, JSONValue)] {
            #expect(await view.request(method, params)?["error"]?["code"] == -32601, "\(method)")
        }
        #expect(
            await view.request("ui/request-display-mode", ["mode": "fullscreen"])?["result"] == [
                "mode": "inline"
            ])
    }

    // A18, A35
    @Test func theCall() async throws {
        let (bridge, view) = await Self.bridge()
        await bridge.toolInputPartial(["a": "x"])
        await bridge.toolInput(["a": "xy"])
        await view.initialize()
        #expect(await view.next()?["params"] == ["arguments": ["a": "xy"]])
        await bridge.toolResult(.text("done"))
        #expect(await view.next()?["method"] == "ui/notifications/tool-result")
        var context = ViewBench.context
        context.theme = "dark"
        await bridge.setContext(context)
        #expect(await view.next()?["params"] == ["theme": "dark"])
        await bridge.serverListChanged(.tools)
        #expect(await view.next()?["method"] == "notifications/tools/list_changed")
    }

    // A42
    @Test func toolsOfTheView() async throws {
        let (bridge, view) = await Self.bridge()
        await view.begin(["tools": [:]])
        async let listed = bridge.listTools()
        for page in 1 ... 2 {
            let request = try #require(await view.next())
            #expect(request["method"] == "tools/list")
            #expect(request["params"] == (page == 1 ? [:] : ["cursor": "p"]))
            var result: JSONObject = [
                "tools": .array((1 ... 40).map { ["name": .string("t\(page)_\($0)"), "inputSchema": [:]] })
            ]
            if page == 1 { result["nextCursor"] = "p" }
            view.send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": .object(result)])
        }
        #expect(try await listed.count == AppToolSource.maxTools)
        async let called = bridge.callTool("t", ["a": 1])
        let request = try #require(await view.next())
        #expect(request["params"] == ["name": "t", "arguments": ["a": 1]])
        view.send([
            "jsonrpc": "2.0", "id": request["id"] ?? .null,
            "result": ["content": [["type": "text", "text": "r"]]],
        ])
        #expect(try await called.text == "r")
    }

    @Test func aViewThatDoesNotAnswer() async throws {
        let (bridge, view) = await Self.bridge()
        await view.begin()
        await #expect(throws: MCPError.self) { try await bridge.ping(timeout: .milliseconds(20)) }
        #expect(await view.next()?["method"] == "ping")
        #expect(await view.next()?["method"] == "notifications/cancelled")
        // A task that is cancelled does not wait either.
        let task = Task { try await bridge.ping(timeout: .seconds(60)) }
        #expect(await view.next()?["method"] == "ping")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // A39
    @Test func close() async throws {
        let (bridge, view) = await Self.bridge()
        await view.begin()
        async let closed: Void = bridge.close(reason: "bye")
        let request = try #require(await view.next())
        #expect(request["method"] == "ui/resource-teardown")
        #expect(request["params"] == ["reason": "bye"])
        view.send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": [:]])
        await closed
        #expect(await view.next() == nil)
        await #expect(throws: MCPError.self) { try await bridge.ping() }
        await bridge.close()
    }

    // A39
    @Test func closeOfADeadView() async throws {
        var limits = AppBridgeLimits()
        limits.teardownTimeout = .milliseconds(20)
        let (bridge, view) = await Self.bridge(limits: limits)
        await view.begin()
        await bridge.close()
        #expect(await view.next()?["method"] == "ui/resource-teardown")
        #expect(await view.next() == nil)
    }

    // A24
    @Test func aFrameThatIsGone() async throws {
        let stopped = AsyncStream<Void>.makeStream()
        let (bridge, view) = await Self.bridge { handlers in
            handlers.onToolCall = { _, _ in
                do {
                    try await Task.sleep(for: .seconds(60))
                } catch {
                    stopped.continuation.finish()
                    throw error
                }
                return .text("late")
            }
        }
        await view.begin()
        view.send(["jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": ["name": "x"]])
        let asked = Task { try await bridge.ping() }
        #expect(await view.next()?["method"] == "ping")
        view.close()
        await #expect(throws: MCPError.self) { try await asked.value }
        // The call was cancelled: the stream ends.
        for await _ in stopped.stream {}
        #expect(await bridge.isReady == false)
    }
}
