/// What the clients of a channel tell a model about their tools, each line in its author's name.
struct ClientToolGuidance {
    private(set) var lines: [String] = []
    /// What was left out because it refers to tools of others, as `client=… tool=…`.
    private(set) var omitted: Set<String> = []

    /// - Parameter serverTools: the names of the server's own tools.
    init(_ channel: ClientToolChannel, serverTools: Set<String>) {
        let items = channel.catalog.items
        let all = items.map(\.name) + items.map(\.definition.name) + serverTools
        for registration in channel.listed {
            others = channel.listed.compactMap {
                $0.isFacade || $0.client == registration.client ? nil : "client \($0.client)"
            }
            let own = items.filter { $0.clients.contains(registration.client) }
            let mention = ToolMention(all, own: own.map { ($0.definition.name, $0.name) })
            let author = registration.isFacade ? nil : "client \(registration.client)"
            if let text = registration.instructions, let author, !text.allSatisfy(\.isWhitespace) {
                add(text, "\(author): ", mention, registration, tool: "")
            }
            // A tool that several clients share is described once, by the first one.
            for item in own where item.clients.first == registration.client {
                guard let text = item.definition.instructions else { continue }
                let owner = author.map { " (\($0))" } ?? ""
                add(text, "\(item.name)\(owner): ", mention, registration, tool: item.name)
            }
        }
    }

    /// The attributions of other authors.
    private var others: [String] = []

    private mutating func add(
        _ text: String, _ author: String, _ mention: ToolMention, _ registration: ClientRegistration,
        tool: String
    ) {
        if let other = mention.first(in: text) ?? ToolMention.forged(others, in: text) {
            omitted.insert("client=\(registration.client) tool=\(tool): refers to \(other)")
        } else {
            lines.append(author + mention.shown(text))
        }
    }
}
