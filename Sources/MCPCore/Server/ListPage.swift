import Synchronization

/// One encoded page of a list: the members of the result, without the envelope.
///
/// A list that does not change is encoded once per revision and page; only the id is new in each response.
struct ListPage: Sendable {
    struct Key: Hashable, Sendable {
        let list: Method
        let revision: Int
        let offset: Int
    }

    let members: RawMembers
    /// The payload of the cursor of the next page, which is sealed for each caller; nil on the last page.
    let next: String?

    /// `"tools":[…]`: object members without braces.
    typealias RawMembers = ByteSlice
}

extension Registry {
    /// Returns the number of entries of a list.
    func count(of list: Method) -> Int {
        switch list {
        case .toolsList: contents.tools.count
        case .promptsList: contents.prompts.count
        case .resourcesList: contents.resources.count
        case .resourceTemplatesList: allTemplates.count
        default: 0
        }
    }

    /// The registered templates, followed by those of the providers.
    var allTemplates: [ResourceTemplate] {
        contents.templates.map(\.template) + contents.providers.flatMap { $0.templates() }
    }

    func write(_ list: Method, _ range: Range<Int>, to writer: inout JSONWriter, for revision: Revision) {
        switch list {
        case .toolsList: writer.array(contents.tools[range].map(\.tool), for: revision)
        case .promptsList: writer.array(contents.prompts[range].map(\.prompt), for: revision)
        case .resourcesList: writer.array(contents.resources[range].map(\.resource), for: revision)
        case .resourceTemplatesList:
            // Providers may have fewer templates than a moment ago.
            let templates = allTemplates
            writer.array(Array(templates[range.clamped(to: 0 ..< templates.count)]), for: revision)
        default: writer.array([Tool](), for: revision)
        }
    }

    /// Returns whether the list stays the same as long as this registry exists; the lists of providers may
    /// change at any time.
    func isStable(_ list: Method) -> Bool { list != .resourceTemplatesList || contents.providers.isEmpty }

    /// Returns a digest of the contents of the list, so that a cursor for different contents is detected
    /// (fault 47). Any instance with the same entries has the same digest. It is computed once, because each
    /// page of a long list needs it.
    func digest(of list: Method) -> String {
        if isStable(list), let digest = digests.withLock({ $0[list] }) { return digest }
        var writer = JSONWriter()
        write(list, 0 ..< count(of: list), to: &writer, for: .newest)
        let digest = Hex.encode(SHA256.hash(writer.finish()).bytes.prefix(6))
        if isStable(list) { digests.withLock { $0[list] = digest } }
        return digest
    }
}

extension Method {
    /// The member of the result that contains the entries.
    var listMember: StaticString {
        switch self {
        case .toolsList: "tools"
        case .promptsList: "prompts"
        case .resourceTemplatesList: "resourceTemplates"
        default: "resources"
        }
    }
}
