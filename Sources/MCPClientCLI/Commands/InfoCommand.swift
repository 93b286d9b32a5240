import MCPCore

/// `info`: shows the identity of the server and what it offers.
struct InfoCommand {
    let session: Session
    private var client: MCPClient { session.client }

    func run() async throws(Failure) {
        if session.options.json || session.options.select != nil {
            _ = try session.printer.printJSON(try await wireResult())
            return
        }
        let console = session.console
        if let info = client.serverInfo {
            var line = console.style.bold(inlineText(info.name))
            if !info.version.isEmpty { line += " " + inlineText(info.version) }
            if let title = info.title { line += "  (\(inlineText(title)))" }
            console.line(line)
            if let description = info.description { row("description", inlineText(description)) }
            if let website = info.websiteURL { row("website", inlineText(website)) }
        } else {
            console.line("the server does not report its name")
        }
        let version = client.protocolVersion.text
        let others = client.supportedVersions.filter { $0 != version }.map { inlineText($0) }
        row("protocol", version + (others.isEmpty ? "" : " (also \(others.joined(separator: ", ")))"))
        row("capabilities", Self.capabilities(client.serverCapabilities))
        let extensions = client.serverCapabilities.extensions.keys.map { inlineText($0) }
        if !extensions.isEmpty { row("extensions", extensions.joined(separator: ", ")) }
        if let instructions = client.instructions, !instructions.isEmpty {
            console.line("  instructions")
            let text = TerminalText.block(instructions.trimmingWhitespace())
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                console.wrapped(line.isEmpty ? "" : "    " + line)
            }
        }
    }

    private func row(_ name: String, _ value: String) {
        session.console.wrapped(
            "  " + name + String(repeating: " ", count: 14 - name.count) + value, hanging: 14)
    }

    /// `tools (listChanged), resources (subscribe)`
    static func capabilities(_ capabilities: ServerCapabilities) -> String {
        let names = (capabilities.json.objectValue ?? [:]).compactMap { name, value -> String? in
            if name == "extensions" { return nil }
            let flags = (value.objectValue ?? [:]).filter { $0.value.boolValue == true }.map {
                inlineText($0.key)
            }
            return inlineText(name) + (flags.isEmpty ? "" : " (\(flags.joined(separator: ", ")))")
        }
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }

    /// Returns the response to `server/discover`, or the members of the `initialize` result, as that request
    /// cannot be repeated.
    private func wireResult() async throws(Failure) -> RawJSON {
        if client.protocolVersion.isModern { return try await session.request("server/discover") }
        var object: JSONObject = [
            "protocolVersion": .string(client.protocolVersion.text),
            "capabilities": client.serverCapabilities.json,
        ]
        if let info = client.serverInfo {
            var server: JSONObject = ["name": .string(info.name), "version": .string(info.version)]
            if let title = info.title { server["title"] = .string(title) }
            object["serverInfo"] = .object(server)
        }
        if let instructions = client.instructions { object["instructions"] = .string(instructions) }
        return RawJSON(.object(object))
    }
}
