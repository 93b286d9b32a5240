import Synchronization

/// One MCP server for each channel, made when it is asked for.
final class ChannelServers: Sendable {
    private struct Entry {
        let server: MCPServer
        /// What the server says without any client.
        var instructions: String?
        /// The tools of clients among its tools.
        var shown: Set<ObjectIdentifier> = []

        func isOwn(_ tool: ToolEntry) -> Bool { !shown.contains(ObjectIdentifier(tool)) }
    }

    private let servers = Mutex<[String: Entry]>([:])
    private let defaultChannel: String
    private let make: @Sendable (String) throws -> MCPServer

    init(defaultChannel: String, make: @escaping @Sendable (String) throws -> MCPServer) {
        self.defaultChannel = defaultChannel
        self.make = make
    }

    /// - Throws: `RegistrationError` for a name that no channel can have and when there are too many
    ///   channels; what making a server throws.
    func server(for channel: String) throws -> MCPServer { try entry(for: channel).server }

    var all: [MCPServer] { servers.withLock { $0.values.map(\.server) } }

    /// The names of the server's own tools.
    func ownTools(of channel: String) -> Set<String> {
        guard let entry = try? entry(for: channel) else { return [] }
        return Set(entry.server.dispatcher.registry.draft.tools.filter(entry.isOwn).map(\.tool.name))
    }

    private func entry(for channel: String) throws -> Entry {
        try servers.withLock { servers in
            if let entry = servers[channel] { return entry }
            guard ChannelName(channel) != nil else {
                throw RegistrationError(
                    "a channel's name has 1 to 128 bytes, without control characters and slashes")
            }
            if servers.count >= ClientToolLimits.channels { Self.evict(from: &servers, but: defaultChannel) }
            guard servers.count < ClientToolLimits.channels else {
                throw RegistrationError("there are \(ClientToolLimits.channels) channels already")
            }
            let server = try make(channel)
            let entry = Entry(server: server, instructions: server.dispatcher.registry.draft.instructions)
            try? server.update { $0.toolsComeAndGo = true }
            servers[channel] = entry
            return entry
        }
    }

    /// Forgets channels without tools of clients and without agents that wait for something.
    private static func evict(from servers: inout [String: Entry], but defaultChannel: String) {
        servers = servers.filter { name, entry in
            let dispatcher = entry.server.dispatcher
            return name == defaultChannel || dispatcher.subscriptions.bus.hasSubscribers
                || dispatcher.inFlight.count > 0 || !entry.shown.isEmpty
        }
    }

    /// Shows these tools of clients beside the server's own, in place of those before.
    func show(_ tools: [ToolEntry], instructions: [String], in channel: String) throws {
        _ = try entry(for: channel)
        servers.withLock { servers in
            guard let entry = servers[channel] else { return }
            servers[channel]?.shown = Set(tools.map(ObjectIdentifier.init))
            try? entry.server.update(isReplacement: true) { draft in
                draft.tools = draft.tools.filter(entry.isOwn) + tools
                draft.instructions = Self.joined(entry.instructions, instructions)
            }
        }
    }

    private static func joined(_ base: String?, _ lines: [String]) -> String? {
        var text = base ?? ""
        var room = ClientToolLimits.instructionBytes
        for line in lines {
            // One line each: nobody can begin a line of somebody else.
            let line = "- " + line.split(whereSeparator: \.isNewline).joined(separator: " ")
            room -= line.utf8.count + 1
            if room < 0 { break }
            text += (text.isEmpty ? "" : "\n") + line
        }
        return text.isEmpty ? nil : text
    }

    /// Makes the servers' own contents anew and returns the channels; the tools of clients stay.
    func reload() throws -> [String] {
        try servers.withLock { servers in
            for (channel, entry) in servers {
                var fresh = try make(channel).dispatcher.registry.draft
                servers[channel]?.instructions = fresh.instructions
                fresh.toolsComeAndGo = true
                let names = Set(fresh.tools.map(\.tool.name))
                try? entry.server.update(isReplacement: true) { draft in
                    fresh.instructions = draft.instructions
                    fresh.tools += draft.tools.filter { !entry.isOwn($0) && !names.contains($0.tool.name) }
                    draft = fresh
                }
            }
            return Array(servers.keys)
        }
    }
}
