import Synchronization

/// One MCP server for each channel, created on demand.
final class ChannelServers: Sendable {
    private struct Entry {
        let server: MCPServer
        /// The server's instructions without any client.
        var instructions: String?
        /// The clients' tools among the server's tools.
        var shown: Set<ObjectIdentifier> = []
        /// Whether a caller with a token has used the channel; otherwise only callers without one have.
        var isReserved: Bool

        func isOwn(_ tool: ToolEntry) -> Bool { !shown.contains(ObjectIdentifier(tool)) }

        /// Whether it has tools of clients, or agents that wait for something.
        var isBusy: Bool {
            let dispatcher = server.dispatcher
            return dispatcher.subscriptions.bus.hasSubscribers || dispatcher.inFlight.count > 0
                || !shown.isEmpty
        }
    }

    private struct State {
        var entries = BoundedTable<String, Entry>(
            capacity: ClientToolLimits.channels, policy: .evictLeastRecentlyUsed)
        /// The number of entries that are not reserved.
        var open = 0

        func isFull(isReserved: Bool) -> Bool {
            entries.isFull || !isReserved && open >= ClientToolLimits.openChannels
        }

        mutating func remove(_ channel: String) {
            if entries.remove(channel)?.isReserved == false { open -= 1 }
        }
    }

    private let state = Mutex(State())
    private let defaultChannel: String
    private let make: @Sendable (String) throws -> MCPServer

    init(defaultChannel: String, make: @escaping @Sendable (String) throws -> MCPServer) {
        self.defaultChannel = defaultChannel
        self.make = make
    }

    /// Returns the server of a channel, and creates it if necessary.
    ///
    /// - Parameter isReserved: false for callers that need no token: they have at most
    ///   `ClientToolLimits.openChannels` channels, so that there is room for the others.
    /// - Throws: `RegistrationError` for a name that no channel can have and when there are too many
    ///   channels; any error from creating a server.
    func server(for channel: String, isReserved: Bool = true) throws -> MCPServer {
        try entry(for: channel, isReserved: isReserved).server
    }

    var all: [MCPServer] { state.withLock { $0.entries.map(\.value.server) } }

    /// Whether the channel has a server, or can have one.
    func hasRoom(for channel: String, isReserved: Bool) -> Bool {
        state.withLock { state in
            state.entries[channel] != nil || !state.isFull(isReserved: isReserved)
                || idle(in: state, for: isReserved) != nil
        }
    }

    /// Returns the names of the server's own tools; the server is created if necessary.
    func ownTools(of channel: String, isReserved: Bool) -> Set<String> {
        guard let entry = try? entry(for: channel, isReserved: isReserved) else { return [] }
        return Set(entry.server.dispatcher.registry.draft.tools.filter(entry.isOwn).map(\.tool.name))
    }

    private func entry(for channel: String, isReserved: Bool = true) throws -> Entry {
        let isReserved = isReserved || channel == defaultChannel
        return try state.withLock { state in
            if var entry = state.entries.use(channel) {
                guard isReserved, !entry.isReserved else { return entry }
                entry.isReserved = true
                state.entries.replace(entry, for: channel)
                state.open -= 1
                return entry
            }
            guard ChannelName(channel) != nil else {
                throw RegistrationError(
                    "a channel name must have 1 to 128 bytes, without control characters or slashes")
            }
            if state.isFull(isReserved: isReserved) {
                guard let oldest = idle(in: state, for: isReserved) else {
                    throw RegistrationError(
                        "there are \(isReserved ? ClientToolLimits.channels : ClientToolLimits.openChannels) "
                            + "channels already")
                }
                state.remove(oldest.key)
            }
            let server = try make(channel)
            let entry = Entry(
                server: server, instructions: server.dispatcher.registry.draft.instructions,
                isReserved: isReserved)
            try? server.update { $0.toolsComeAndGo = true }
            state.entries.insert(entry, for: channel)
            if !isReserved { state.open += 1 }
            return entry
        }
    }

    /// Returns the idle channel that makes room.
    ///
    /// For a caller without a token, that is one that no caller with a token has used, as soon as there are
    /// `ClientToolLimits.openChannels` of them: those with a token keep the rest.
    private func idle(in state: State, for isReserved: Bool) -> (key: String, value: Entry)? {
        let mayBeReserved = isReserved || state.open < ClientToolLimits.openChannels
        return state.entries.first {
            $0.key != defaultChannel && (mayBeReserved || !$0.value.isReserved) && !$0.value.isBusy
        }
    }

    /// Shows these tools of clients beside the server's own, replacing the previous ones. A channel without a
    /// server gets one when there is something to show.
    func show(
        _ tools: [ToolEntry], instructions: [String], in channel: String, isReserved: Bool = true
    ) throws {
        if !tools.isEmpty || !instructions.isEmpty { _ = try entry(for: channel, isReserved: isReserved) }
        state.withLock { state in
            guard let entry = state.entries[channel] else { return }
            var changed = entry
            changed.shown = Set(tools.map(ObjectIdentifier.init))
            state.entries.replace(changed, for: channel)
            try? entry.server.update(isReplacement: true) { draft in
                draft.tools = draft.tools.filter(entry.isOwn) + tools
                draft.instructions = Self.joined(entry.instructions, instructions)
            }
        }
    }

    static func joined(_ base: String?, _ lines: [String]) -> String? {
        var text = base ?? ""
        var room = ClientToolLimits.instructionBytes
        for line in lines {
            // Each text becomes a single line, so that no client can forge a line of another one.
            let line = "- " + line.split(whereSeparator: \.isNewline).joined(separator: " ")
            room -= line.utf8.count + 1
            if room < 0 { break }
            text += (text.isEmpty ? "" : "\n") + line
        }
        return text.isEmpty ? nil : text
    }

    /// Recreates the servers' own contents and returns the channels; the tools of clients stay.
    func reload() throws -> [String] {
        try state.withLock { state in
            for (channel, entry) in state.entries {
                var fresh = try make(channel).dispatcher.registry.draft
                var changed = entry
                changed.instructions = fresh.instructions
                state.entries.replace(changed, for: channel)
                fresh.toolsComeAndGo = true
                let names = Set(fresh.tools.map(\.tool.name))
                try? entry.server.update(isReplacement: true) { draft in
                    fresh.instructions = draft.instructions
                    fresh.tools += draft.tools.filter { !entry.isOwn($0) && !names.contains($0.tool.name) }
                    draft = fresh
                }
            }
            return state.entries.map(\.key)
        }
    }
}
