// A host of MCP Apps without a browser: a program that shows views in frames of its own.
import MCPApps
import MCPCore

let host = AppHost()
let events = await host.events()
let server = try await host.addServer(
    .command(CommandLine.arguments[1], Array(CommandLine.arguments.dropFirst(2))), name: "the server")

/// Stands in for a frame: it loads the document and sends its script's messages. A real one is a sandboxed iframe
/// or a web view: `AppHost` receives what it posts, and each `viewMessage` is posted to it.
func play(_ message: JSONValue, in view: HostedView.ID) async {
    func say(_ message: JSONValue) async { await host.receive([message], from: view) }
    let params = message["params"] ?? [:]
    switch message["method"]?.stringValue {
    case "ui/notifications/sandbox-resource-ready":
        print("frame: a document of \(params["html"]?.stringValue?.utf8.count ?? 0) bytes")
        await say([
            "jsonrpc": "2.0", "id": 1, "method": "ui/initialize",
            "params": [
                "protocolVersion": "2026-01-26", "appInfo": ["name": "frame", "version": "1"],
                "appCapabilities": [:],
            ],
        ])
    case let method? where method.hasPrefix("ui/notifications/tool-"):
        print("frame: \(method) \(params)")
        if params["content"] != nil { await host.close() }
    case nil where message["id"] == 1:
        await say(["jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": [:]])
    default: print("frame: \(message)")
    }
}

for await event in events {
    switch event {
    case .tools(_, let tools) where !tools.isEmpty: try await host.call(server, tools[0].name)
    case .viewOpened(let view):
        print("frame: \(view.resource.uri) under \(view.csp.header(hostOrigin: "app://host"))")
        await host.receive(
            [["jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": [:]]],
            from: view.id)
    case .viewMessage(let view, let message): await play(message, in: view)
    case .question(let question): await host.answer(question.id, .allow())
    case .call(let call): print("call: \(call.tool) \(call.state.rawValue)")
    default: break
    }
}
