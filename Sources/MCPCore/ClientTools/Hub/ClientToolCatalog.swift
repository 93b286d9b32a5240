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
    private var places: [String: Int] = [:]

    init() {}

    /// - Parameters:
    ///   - registrations: the registrations, in the order of the clients.
    ///   - serverTools: the names of the server's own tools, which always take precedence.
    init(_ registrations: [ClientRegistration], serverTools: Set<String>) {
        for registration in registrations {
            for tool in registration.tools where !add(tool, of: registration, serverTools) {
                refused[registration.client, default: []].append(
                    ClientToolReport.Refusal(name: tool.name, reason: reason(tool, serverTools)))
            }
        }
    }

    func item(named name: String) -> Item? { places[name].map { items[$0] } }

    /// Returns the names under which a client's tools are listed.
    func names(of client: String) -> [String] { items.filter { $0.clients.contains(client) }.map(\.name) }

    private func reason(_ tool: ClientToolDefinition, _ serverTools: Set<String>) -> String {
        if serverTools.contains(tool.name) { return "a tool of the server has this name" }
        if items.count >= ClientToolLimits.toolsPerChannel {
            return "the channel already has \(ClientToolLimits.toolsPerChannel) tools of clients"
        }
        return
            "other clients have this name, and the name with the client's own appended is taken or too long"
    }

    private mutating func add(
        _ tool: ClientToolDefinition, of registration: ClientRegistration, _ serverTools: Set<String>
    ) -> Bool {
        if serverTools.contains(tool.name) { return false }
        let other = Self.otherName(tool.name, registration.client)
        for name in [tool.name, other] where !serverTools.contains(name) {
            guard let place = places[name] else { return add(tool, as: name, registration.client) }
            guard items[place].definition == tool else { continue }
            if !items[place].clients.contains(registration.client) {
                items[place].clients.append(registration.client)
            }
            return true
        }
        return false
    }

    private mutating func add(_ tool: ClientToolDefinition, as name: String, _ client: String) -> Bool {
        guard items.count < ClientToolLimits.toolsPerChannel, name.utf8.count <= 128 else { return false }
        places[name] = items.count
        items.append(Item(name: name, definition: tool, clients: [client]))
        return true
    }

    /// Returns `name__client`, restricted to the characters that tool names may have.
    private static func otherName(_ name: String, _ client: String) -> String {
        let client = client.isEmpty ? "anonymous" : client
        let letters = client.utf8.map { byte -> UInt8 in
            switch byte {
            case 0x30 ... 0x39, 0x41 ... 0x5A, 0x61 ... 0x7A, 0x5F, 0x2D, 0x2E: byte
            default: 0x5F
            }
        }
        return "\(name)__" + String(decoding: letters, as: UTF8.self)
    }
}
