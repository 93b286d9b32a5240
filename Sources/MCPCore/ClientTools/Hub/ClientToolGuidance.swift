/// What the clients of a channel tell a model about their tools, each line in its author's name.
struct ClientToolGuidance {
    private(set) var lines: [String] = []
    /// What was left out or changed because it speaks for others, as `client=… tool=…: …`.
    private(set) var remarks: Set<String> = []

    /// - Parameter serverTools: the names of the server's own tools.
    init(_ channel: ClientToolChannel, serverTools: Set<String>) {
        let items = channel.catalog.items
        let all = items.map(\.name) + items.map(\.definition.name) + serverTools
        for registration in channel.listed {
            others = channel.listed.compactMap {
                $0.client == registration.client ? nil : Self.author($0)
            }
            let own = items.filter { $0.clients.contains(registration.client) }
            let mention = ToolMention(
                all, own: own.map { ($0.definition.name, $0.name) },
                schemas: own.map(\.definition.tool.inputSchema))
            let author = Self.author(registration)
            if let text = registration.instructions, !text.allSatisfy(\.isWhitespace) {
                add(text, "\(author): ", mention, registration, tool: "")
            }
            // A tool that several clients share is described once, by the first one.
            for item in own where item.clients.first == registration.client {
                guard let text = item.definition.instructions else { continue }
                add(text, "\(item.name) (\(author)): ", mention, registration, tool: item.name)
            }
        }
    }

    /// What stands in place of a name for the clients of the façade.
    static let nameless = "without a name"

    private static func author(_ registration: ClientRegistration) -> String {
        author(registration.isFacade ? nameless : registration.client)
    }

    /// Returns the name of an author as the lines show it: what stands around names in them becomes `_`.
    private static func author(_ client: String) -> String {
        let scalars = client.unicodeScalars.map { isMark($0) ? "_" : $0 }
        return "client \(String(String.UnicodeScalarView(scalars)))"
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        LookAlike.folded(scalar).map { [":", "(", ")", "="].contains($0) } ?? false
    }

    /// Returns the part of a client's name that a reader of the lines would take for the name: `bank` of
    /// `client bank` and of `bank (app)`.
    static func nameRead(_ client: String) -> String {
        var head = String.UnicodeScalarView()
        head.append(contentsOf: client.unicodeScalars.prefix { !isMark($0) })
        let words = String(head).split(whereSeparator: \.isWhitespace)
        let start = words.lastIndex { LookAlike.areAlike(String($0), "client") }.map { $0 + 1 } ?? 0
        return words[start...].joined(separator: " ")
    }

    /// The attributions of other authors.
    private var others: [String] = []

    private mutating func add(
        _ text: String, _ author: String, _ mention: ToolMention, _ registration: ClientRegistration,
        tool: String
    ) {
        let name = "client=\(registration.client) tool=\(tool)"
        let plain = RoleMarker.neutralized(text)
        if let other = mention.first(in: plain) ?? ToolMention.forged(others, in: plain) {
            remarks.insert("\(name): left out, refers to \(other)")
        } else {
            if plain != text { remarks.insert("\(name): changed, marks a speaker of the conversation") }
            lines.append(author + mention.shown(plain))
        }
    }
}
