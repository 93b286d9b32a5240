import Synchronization

@testable import MCPCore

/// Tools of other programs: the façade's endpoints, and a hub whose clients come and go.
enum HubTarget {
    private static func hub(_ clock: any TimeSource = SystemClock()) -> ClientToolHub {
        ClientToolHub(options: ClientToolOptions(), clock: clock) { _ in
            let server = MCPServer("hub", version: "1")
            server.addTool("builtin", "Of the server") { () in "own" }
            return server
        }
    }

    /// A request: method, target and media type in the first line, the body behind it.
    static func checkFacade(_ input: [UInt8]) throws {
        let parts = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        let words = Array(parts.first ?? []).text.split(separator: " ").map(String.init)
        guard words.count >= 2 else { return }
        let body = Array(parts.dropFirst().first ?? [])
        try blocking("the façade") {
            let hub = hub()
            let endpoints = ClientToolEndpoints(hub, token: nil)
            var fields = HeaderFields()
            if words.count > 2 { try? fields.append("Content-Type", words[2]) }
            let request = HTTPRequest(method: words[0], target: words[1], headers: fields, body: body)
            if endpoints.handles(path: request.path) {
                let response = await endpoints.respond(to: request)
                try require(
                    [101, 200, 400, 401, 404, 405, 409, 413, 415, 422, 429, 503].contains(response.status),
                    "status \(response.status)")
                if let bytes = response.body.bytes, !bytes.isEmpty {
                    try require(
                        (try? JSONValue(parsing: bytes)) != nil, "not JSON: \(bytes.text.prefix(200))")
                }
            }
            _ = endpoints.server(atPath: request.path)
            await hub.stop()
        }
    }

    /// What happens to a hub, one step per line; then it stops, and every call has ended.
    static func check(_ input: [UInt8]) throws {
        try blocking("the hub") {
            let hub = hub()
            let play = HubPlay(hub)
            for line in input.lines(atMost: 16) { await play.step(line) }
            await hub.stop()
            await play.end()
            let counts = await hub.counts
            try require(counts.callsInFlight == 0, "\(counts.callsInFlight) calls are left")
            try require(counts.listeners == 0, "\(counts.listeners) listeners are left")
            try require(counts.clients == 0, "\(counts.clients) clients are left")
            let (calls, endings) = await (play.calls, play.endings)
            try require(endings == calls, "\(endings) of \(calls) calls ended")
        }
    }
}

private actor HubPlay {
    private let hub: ClientToolHub
    private let heard = Mutex<[String]>([])
    private var listeners: [Int] = []
    private var waiting: [Task<Void, Never>] = []
    private(set) var calls = 0
    private(set) var endings = 0

    init(_ hub: ClientToolHub) { self.hub = hub }

    func step(_ line: [UInt8]) async {
        let rest = ByteSlice(line.dropFirst())
        switch line.first.map({ Character(Unicode.Scalar($0)) }) {
        case "r":
            if let registration = try? StreamChatRegistration(rest, isJSON: true) {
                try? await hub.register(registration)
            }
        case "l", "L":
            await listen(answers: line.first == 0x4C, after: line.count > 1 ? rest.array.text : nil)
        case "s": if let number = listeners.popLast() { await hub.stopListening(number, in: "a") }
        case "c": call(rest.array.text)
        case "a":
            if let id = lastInvocation, let json = try? JSONValue(parsing: rest),
                let result = try? CallToolResult(json: json)
            {
                _ = await hub.complete(id, with: result)
            }
        case "p": await attach(rest)
        case "d": _ = await hub.detach(channel: "a", clientID: "p")
        case "t": await hub.tick()
        default: break
        }
    }

    private var lastInvocation: String? {
        heard.withLock { $0.last }.flatMap { (try? JSONValue(parsing: $0))?["invocation_id"]?.stringValue }
    }

    private func listen(answers: Bool, after id: String?) async {
        let listener = EventFeed.Listener(
            wantsResults: answers,
            send: { [weak self] _, data in
                self?.heard.withLock { $0.append(data.array.text) }
                return true
            }, end: {})
        if let number = await hub.listen(listener, in: "a", after: id) { listeners.append(number) }
    }

    private func call(_ name: String) {
        guard let server = try? hub.server(for: "a") else { return }
        calls += 1
        let message: JSONValue = [
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": [
                "name": .string(name), "arguments": [:],
                "_meta": [
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": [:],
                ],
            ],
        ]
        waiting.append(
            Task {
                _ = await server.makeConnection().handle(Array(message.serialized().utf8))
                self.ended()
            })
    }

    private func ended() { endings += 1 }

    /// A program in the same process that offers the tools of a JSON array.
    private func attach(_ list: ByteSlice) async {
        let server = ClientToolProvider.emptyServer()
        for json in (try? JSONValue(parsing: list))?.arrayValue ?? [] {
            guard let tool = try? Tool(json: json) else { continue }
            try? server.register(tool) { call, _ in .text(call.name) }
        }
        guard let client = try? await MCPClient.connect(.inProcess(server), options: ProviderLink.options)
        else {
            return
        }
        try? await hub.attach(client, channel: "a", clientID: "p")
    }

    func end() async {
        for number in listeners { await hub.stopListening(number, in: "a") }
        for task in waiting { await task.value }
    }
}
