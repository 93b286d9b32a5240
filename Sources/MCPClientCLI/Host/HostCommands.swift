import MCPApps
import MCPCore
import MCPHarness

/// One request from the page.
struct HostCommands {
    let handler: HostHandler
    let request: HTTPRequest
    private var host: AppHost { handler.host }

    func run() async throws -> HTTPResponse {
        let parts = request.path.dropFirst("/api/".count).split(
            separator: "/", omittingEmptySubsequences: false
        ).map(String.init)
        if request.path == "/api/events" { return try await events() }
        if request.path == "/api/alive" { return HostAnswer.done }
        switch (request.method, parts[0], parts.count) {
        case (_, "views", 2...):
            return try await view(HostID(rawValue: parts[1]), Array(parts.dropFirst(2)))
        case (_, "servers", _): return try await servers(Array(parts.dropFirst()))
        case (_, "calls", _): return try await calls(Array(parts.dropFirst()))
        case ("POST", "approvals", 2), ("POST", "elicitations", 2):
            return try await answer(HostID(rawValue: parts[1]))
        case ("POST", "form", 1): return try await form()
        case ("POST", "validate", 1): return try await validate()
        case ("POST", "context", 1): return try await context()
        case ("POST", "ports", 1):
            try handler.openPorts()
            return HostAnswer.done
        case ("POST", "chat", 1):
            try await host.say(text("text", in: try object()))
            return HostAnswer.done
        case ("POST", "chat", 2) where parts[1] == "stop":
            await host.stopTalking()
            return HostAnswer.done
        case ("GET", "history", 1):
            return HostAnswer.json(.array(await host.history().map { .object($0.json) }))
        default: throw HostRefusal(status: 404, text: "There is no \(request.method) \(request.path)")
        }
    }

    // MARK: Reading

    private func object() throws -> JSONObject {
        guard request.headers["Content-Type"].map({ $0.hasPrefix("application/json") }) ?? false else {
            throw HostRefusal(status: 415, text: "Send application/json; nothing was done")
        }
        guard let object = try? JSONValue(parsing: request.body, limits: limits).objectValue else {
            throw HostRefusal.malformed("The body is not a JSON object")
        }
        return object
    }

    /// The limits for the body, in which messages are nested two levels deep.
    private var limits: JSONLimits {
        var limits = JSONLimits()
        limits.maxDepth += 2
        return limits
    }

    private func text(_ name: String, in object: JSONObject) throws -> String {
        guard let text = object[name]?.stringValue, !text.isEmpty else {
            throw HostRefusal.malformed("\(name) is missing")
        }
        return text
    }

    private func number(_ name: String, in object: JSONObject) throws -> Double? {
        guard let value = object[name] else { return nil }
        guard let number = value.doubleValue, number.isFinite, number >= 0, number < 1e6 else {
            throw HostRefusal.malformed("\(name) is not a length")
        }
        return number
    }

    // MARK: Events and views

    private func events() async throws -> HTTPResponse {
        guard request.method == "GET" else { throw HostRefusal(status: 405, text: "Only GET") }
        return .events(await handler.feed.events(after: request.headers["Last-Event-ID"]))
    }

    private func view(_ id: HostedView.ID, _ rest: [String]) async throws -> HTTPResponse {
        guard await host.view(id) != nil else {
            throw HostRefusal(status: 404, text: "This view is closed")
        }
        switch (request.method, rest) {
        case ("DELETE", []): await host.closeView(id)
        case ("POST", ["messages"]): return try await messages(id)
        case ("POST", ["room"]):
            let body = try object()
            guard let width = try number("width", in: body) else {
                throw HostRefusal.malformed("width is missing")
            }
            let room = ViewBounds(
                width: width, maxHeight: try number("maxHeight", in: body),
                height: try number("height", in: body))
            await host.changeRoom(room, of: id)
        case ("POST", ["mode"]):
            guard let mode = DisplayMode(rawValue: try text("mode", in: try object())) else {
                throw HostRefusal.malformed("unknown mode")
            }
            await host.setMode(mode, of: id)
        case ("POST", ["reload"]):
            await handler.feed.begins(id)
            await host.reloadView(id)
        case ("POST", ["lost"]): await host.viewLost(id)
        case ("POST", ["busy"]): await host.viewIsBusy(id, try object()["isBusy"] == true)
        case ("POST", ["stopped"]):
            guard let reason = ViewStop(rawValue: try text("reason", in: try object())) else {
                throw HostRefusal.malformed("unknown reason")
            }
            await host.viewStopped(id, reason)
        case ("POST", ["ask"]): await host.askAgain(id)
        default: throw HostRefusal(status: 404, text: "There is no \(request.method) \(request.path)")
        }
        return HostAnswer.done
    }

    private func messages(_ id: HostedView.ID) async throws -> HTTPResponse {
        let body = try object()
        guard let number = body["seq"]?.intValue, number > 0, let messages = body["messages"]?.arrayValue
        else { throw HostRefusal.malformed("seq or messages are missing") }
        let receipt = await handler.feed.receive(
            messages, number: number, page: try text("page", in: body), from: id)
        switch receipt {
        case .taken, .repeated: return HostAnswer.done
        case .outOfOrder:
            throw HostRefusal(status: 409, text: "Out-of-order request")
        case .otherPage: throw HostRefusal(status: 409, text: "Replaced by another page")
        }
    }

    // MARK: Servers and calls

    private func servers(_ rest: [String]) async throws -> HTTPResponse {
        switch (request.method, rest.count) {
        case ("POST", 0): try await handler.connect(text("target", in: try object()))
        case ("POST", 2) where rest[0] == "found":
            let found = await handler.feed.found
            guard let index = Int(rest[1]), found.indices.contains(index) else {
                throw HostRefusal(status: 404, text: "No such server was found")
            }
            try await handler.connect(found[index])
        case ("POST", 2) where rest[1] == "reconnect": try await host.reconnect(HostID(rawValue: rest[0]))
        case ("DELETE", 1):
            let id = HostedServer.ID(rawValue: rest[0])
            guard await host.hostedServers.contains(where: { $0.id == id }) else {
                throw AppHostError.unknownServer(id)
            }
            await host.removeServer(id)
        default: throw HostRefusal(status: 404, text: "There is no \(request.method) \(request.path)")
        }
        return HostAnswer.done
    }

    private func calls(_ rest: [String]) async throws -> HTTPResponse {
        switch (request.method, rest.count) {
        case ("POST", 0):
            let (server, tool, arguments, client) = try await invocation()
            let id =
                if let client {
                    try await host.call(server, tool, arguments, of: client.stringValue)
                } else {
                    try await host.call(server, tool, arguments)
                }
            return HostAnswer.json(["id": .string(id.rawValue)], status: 201)
        case ("POST", 2) where rest[1] == "retry":
            let id = try await host.retry(HostID(rawValue: rest[0]))
            return HostAnswer.json(["id": .string(id.rawValue)], status: 201)
        case ("POST", 2) where rest[1] == "view":
            try await host.showView(of: HostID(rawValue: rest[0]))
            return HostAnswer.done
        case ("DELETE", 1):
            await host.cancel(HostID(rawValue: rest[0]))
            return HostAnswer.done
        default: throw HostRefusal(status: 404, text: "There is no \(request.method) \(request.path)")
        }
    }

    /// A call as the page requests it. The server is given by its id, or by its name as in the history.
    private typealias Invocation = (
        server: HostedServer.ID, tool: String, arguments: JSONValue, client: JSONValue?
    )

    /// Returns the server, the tool, the arguments, and the client that the form named, or null for none.
    private func invocation() async throws -> Invocation {
        let body = try object()
        let named = try text("server", in: body)
        let tool = try text("tool", in: body)
        let servers = await host.hostedServers
        let id = HostedServer.ID(rawValue: named)
        let server = servers.first { $0.id == id } ?? servers.first { $0.name == named }
        guard let server else { throw AppHostError.unknownServer(id) }
        return (server.id, tool, body["arguments"] ?? [:], body["client"])
    }

    private func validate() async throws -> HTTPResponse {
        let (server, tool, arguments, _) = try await invocation()
        return HostAnswer.json([
            "violations": Self.json(try await host.validate(server, tool, arguments))
        ])
    }

    private static func json(_ violations: [SchemaViolation]) -> JSONValue {
        .array(
            violations.map { violation in
                let member = violation.member.map { "/\($0)" } ?? ""
                // A missing member is marked at its own field.
                let path = violation.instancePath + (violation.keyword == "required" ? member : "")
                return [
                    "path": .string(path), "label": .string(path.isEmpty ? "/" : path),
                    "message": .string(violation.message),
                ]
            })
    }

    private func form() async throws -> HTTPResponse {
        let body = try object()
        let (id, name, arguments, _) = try await invocation()
        guard arguments.objectValue != nil else { throw AppHostError.invalidArguments }
        let text = DenseText.escaped(arguments.serialized(pretty: true))
        let title = await host.hostedServers.first { $0.id == id }?.name ?? id.rawValue
        guard let tool = await host.tools(of: id).first(where: { $0.name == name }) else {
            throw AppHostError.unknownTool(name)
        }
        return HostAnswer.json([
            "server": .string(id.rawValue), "tool": .string(name),
            "title": HostEventWriter.line(tool.displayName),
            "line": HostEventWriter.line(tool.displayName == name ? title : "\(name) · \(title)"),
            "description": HostEventWriter.text(tool.description.map(HostEventWriter.clipped)),
            "isRaw": false, "client": HostEventWriter.text(tool.clientID),
            "form": FormSpec.json(for: tool.inputSchema, value: body["arguments"]), "text": .string(text),
        ])
    }

    // MARK: Answers and context

    private func answer(_ question: HostQuestion.ID) async throws -> HTTPResponse {
        let body = try object()
        let answer: QuestionAnswer
        switch body["decision"]?.stringValue ?? body["action"]?.stringValue {
        case "allow" where body["remember"] == "view": answer = .allowView
        case "allow": answer = .allow(remember: body["remember"] == "run" ? .run : .once)
        // For a page to visit, there is nothing to fill in.
        case "accept":
            let content = body["content"]?.objectValue
            let violations = await host.validate(question, content ?? [:])
            guard violations.isEmpty else {
                return HostAnswer.json(
                    ["error": "The form is not complete", "violations": Self.json(violations)], status: 422)
            }
            answer = content.map { .accept($0) } ?? .allow()
        case "deny", "decline": answer = .deny
        case "cancel": answer = .cancel
        default: throw HostRefusal.malformed("unknown decision")
        }
        guard await host.answer(question, answer) else {
            throw HostRefusal(status: 404, text: "No pending question with this id")
        }
        return HostAnswer.done
    }

    private func context() async throws -> HTTPResponse {
        let body = try object()
        var change = HostEnvironment()
        if let theme = body["theme"]?.stringValue, ["light", "dark"].contains(theme) { change.theme = theme }
        change.locale = body["locale"]?.stringValue
        change.timeZone = body["timeZone"]?.stringValue
        change.touch = body["touch"]?.boolValue
        change.hover = body["hover"]?.boolValue
        change.platform = "web"
        if let chosen = body["chosen"]?.stringValue.flatMap(HostSettings.Theme.init) {
            await handler.feed.choose(chosen)
        }
        await host.changeContext(change)
        return HostAnswer.done
    }
}
