public import MCPApps
import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// A host with its two listeners in this process, and a server with a view.
struct HostFixture {
    let host: AppHost
    let server: HostServer
    let running: RunningServer
    let port: UInt16

    static func with(
        _ settings: HostSettings = HostSettings(), themes: ThemeFile? = nil, meta: JSONObject? = nil,
        _ body: (HostFixture) async throws -> Void
    ) async throws {
        let view = MCPServer("views", version: "1")
        let contents = ResourceContents(
            uri: "ui://show/view", mimeType: "text/html;profile=mcp-app", text: "<p>view</p>",
            meta: meta.map { ["ui": .object($0)] })
        try view.register(Resource("ui://show/view", name: "show")) { _ in [contents] }
        let schema: JSONValue = ["type": "object", "properties": ["n": ["type": "integer", "minimum": 1]]]
        try view.register(
            Tool("show", inputSchema: schema, meta: ["ui": ["resourceUri": "ui://show/view"]])
        ) { _, _ in .text("shown") }
        var http = HTTPServerOptions()
        http.drainTimeout = .milliseconds(100)
        let running = try view.start([.http([.tcp(port: 0)], options: http)])
        let host = AppHost()
        let targets = ServerTargets(options: Options(), settings: settings)
        let server = try HostServer(host, settings, themes: themes) { text throws(Failure) in
            let (target, name, _) = try targets.target(typed: text)
            do {
                try await host.addServer(target, name: name)
            } catch {
                throw .usage("\(error)")
            }
        }
        let fixture = HostFixture(
            host: host, server: server, running: running, port: running.addresses.first?.port ?? 0)
        do {
            try await body(fixture)
        } catch {
            await fixture.stop()
            throw error
        }
        await fixture.stop()
    }

    private func stop() async {
        await server.stop()
        await host.close()
        await running.stop()
    }

    var url: String { "http://127.0.0.1:\(port)/mcp" }
    var pagePort: UInt16 { UInt16(server.origin.split(separator: ":").last ?? "") ?? 0 }

    /// A request of the page.
    func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil, host: String? = nil,
        origin: String? = nil
    ) async throws -> PlainResponse {
        var headers = [("Authorization", "Bearer \(token ?? server.token.text)")]
        if let origin { headers.append(("Origin", origin)) }
        if body != nil { headers.append(("Content-Type", "application/json")) }
        return try await PlainHTTP.send(
            method, path, port: pagePort, host: host, headers: headers, body: body?.serialized())
    }

    /// Adds the server with a view by way of the page, and waits until it is connected.
    func connect() async throws -> HostedServer.ID {
        let events = await host.events()
        #expect(try await send("POST", "/api/servers", ["target": .string(url)]).status == 204)
        for await event in events {
            if case .server(let server) = event, server.state == .connected { return server.id }
        }
        throw HostClosed()
    }

    /// Calls the tool with a view; the view.
    func show(_ server: HostedServer.ID) async throws -> HostedView {
        let events = await host.events()
        let call = try await send(
            "POST", "/api/calls", ["server": .string(server.rawValue), "tool": "show", "arguments": [:]])
        #expect(call.status == 201)
        for await event in events { if case .viewOpened(let view) = event { return view } }
        throw HostClosed()
    }

    struct HostClosed: Error {}
}

/// The event stream as a page reads it.
final class EventReader: @unchecked Sendable {
    // SAFETY: one call at a time; each waits for the one before.
    private let connection: PlainConnection
    let status: Int
    let type: String?

    init(_ fixture: HostFixture, after id: String? = nil, token: String? = nil) async throws {
        let (port, text) = (fixture.pagePort, token ?? fixture.server.token.text)
        let opened = try await onThread {
            let connection = try PlainConnection(port: port)
            var headers = [("Host", "127.0.0.1:\(port)"), ("Authorization", "Bearer \(text)")]
            if let id { headers.append(("Last-Event-ID", id)) }
            try connection.send("GET", "/api/events", headers: headers)
            return Opened(connection: connection, head: try connection.head())
        }
        connection = opened.connection
        status = opened.head.status
        type = opened.head.headers["content-type"]
    }

    private struct Opened: @unchecked Sendable {
        // SAFETY: handed over once.
        let connection: PlainConnection
        let head: PlainResponse
    }

    /// The next event, nil at the end; each within ten seconds.
    func next() async throws -> (id: String, json: JSONValue)? {
        try await onThread { [self] in
            guard let event = try connection.event() else { return nil }
            return (event.id ?? "", try JSONValue(parsing: event.data))
        }
    }

    /// The next event of a type.
    func next(_ type: String) async throws -> (id: String, json: JSONValue)? {
        while let event = try await next() { if event.json["type"]?.stringValue == type { return event } }
        return nil
    }
}

/// Identifiers of tests that no host assigned.
extension HostID: ExpressibleByStringLiteral, ExpressibleByUnicodeScalarLiteral,
    ExpressibleByExtendedGraphemeClusterLiteral
{
    /// Creates an identifier from a literal.
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}
