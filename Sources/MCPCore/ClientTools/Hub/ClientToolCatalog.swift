/// The tools of a channel as agents see them: their clients and their names.
struct ClientToolCatalog: Sendable {
    struct Item: Sendable {
        let name: String
        let definition: ClientToolDefinition
        /// The clients that offer it, the oldest first.
        var clients: [String]
    }

    private(set) var items: [Item] = []
    /// The tools that could not be listed, and why, by client.
    private(set) var refused: [String: [ClientToolReport.Refusal]] = [:]
    /// The tools that are listed under another name, and why, by client.
    private(set) var renamed: [String: [ClientToolReport.Renaming]] = [:]
    private var places: [String: Int] = [:]
    /// The places of the items by what their names look like; the first one of each.
    private var looks: [String: Int] = [:]
    /// The names of the server's own tools, and what they look like.
    private var serverTools: Set<String> = [], serverLooks: Set<String> = []
    /// The ends of names that are distinguished by their client, by client.
    private var ends: [String: String] = [:]

    init() {}

    /// - Parameters:
    ///   - registrations: the registrations, in the order of the clients.
    ///   - serverTools: the names of the server's own tools, which always take precedence.
    init(_ registrations: [ClientRegistration], serverTools: Set<String>) {
        self.serverTools = serverTools
        serverLooks = Set(serverTools.map { LookAlike.folded($0) })
        for registration in registrations { ends[registration.client] = end(for: registration.client) }
        for registration in registrations {
            for tool in registration.tools { add(tool, of: registration.client) }
        }
    }

    func item(named name: String) -> Item? { places[name].map { items[$0] } }

    /// Returns the names under which a client's tools are listed.
    func names(of client: String) -> [String] { items.filter { $0.clients.contains(client) }.map(\.name) }

    private mutating func add(_ tool: ClientToolDefinition, of client: String) {
        func refuse(_ reason: String) {
            refused[client, default: []].append(ClientToolReport.Refusal(name: tool.name, reason: reason))
        }
        if serverTools.contains(tool.name) { return refuse("a tool of the server has this name") }
        if serverLooks.contains(LookAlike.folded(tool.name)) {
            return refuse("a tool of the server has a name that looks like this one")
        }
        var reason: String?
        for name in [tool.name, tool.name + (ends[client] ?? "")] {
            if let obstacle = obstacle(to: name, tool, client) {
                reason = reason ?? obstacle
                continue
            }
            if let place = places[name] {
                if !items[place].clients.contains(client) { items[place].clients.append(client) }
            } else if items.count < ClientToolLimits.toolsPerChannel {
                places[name] = items.count
                looks[LookAlike.folded(name)] = looks[LookAlike.folded(name)] ?? items.count
                items.append(Item(name: name, definition: tool, clients: [client]))
            } else {
                return refuse("the channel already has \(ClientToolLimits.toolsPerChannel) tools of clients")
            }
            if let reason {
                renamed[client, default: []].append(.init(name: tool.name, shown: name, reason: reason))
            }
            return
        }
        refuse("\(reason ?? ""), and the name with the client's own appended is taken or too long")
    }

    /// Returns why a client's tool cannot be listed under this name; nil if it can, alone or together with
    /// the same tool of others.
    private func obstacle(to name: String, _ tool: ClientToolDefinition, _ client: String) -> String? {
        if let place = places[name] {
            if items[place].definition == tool { return nil }
            return items[place].clients.contains(client)
                ? "another tool of the client has this name" : "a tool of another client has this name"
        }
        let folded = LookAlike.folded(name)
        if name.utf8.count > 128 || serverLooks.contains(folded) { return "the name cannot be used" }
        if let place = looks[folded], !items[place].clients.contains(client) {
            return "a tool of another client has a name that looks like this one"
        }
        let isForeign = ends.contains { $0.key != client && folded.hasSuffix(LookAlike.folded($0.value)) }
        return isForeign ? "tools of another client have names that end like this one" : nil
    }

    /// Returns `__client`, restricted to the characters that tool names may have, and different from those of
    /// other clients. The client's part contains no `__` and does not begin with `_`, so that it can be told
    /// from the tool's.
    private func end(for client: String) -> String {
        let letters = (client.isEmpty ? "anonymous" : client).utf8.map { byte -> UInt8 in
            switch byte {
            case 0x30 ... 0x39, 0x41 ... 0x5A, 0x61 ... 0x7A, 0x2D, 0x2E: byte
            default: 0x5F
            }
        }
        let parts = letters.split(separator: 0x5F).map { String(decoding: $0, as: UTF8.self) }
        let name = parts.isEmpty ? "client" : parts.joined(separator: "_")
        var end = "__" + name
        var number = 1
        while ends.values.contains(where: { LookAlike.folded($0) == LookAlike.folded(end) }) {
            number += 1
            end = "__\(name)-\(number)"
        }
        return end
    }
}
