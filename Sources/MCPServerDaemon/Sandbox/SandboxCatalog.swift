import MCPCore

/// The sandboxes of a configuration by name, and the one of programs that name none.
struct SandboxCatalog {
    private(set) var named: [String: SandboxDefinition] = [:]
    private(set) var fallback: SandboxDefinition?
    private let context: ConfigContext
    private let support: SandboxSupport

    /// A catalog without sandboxes.
    init(context: ConfigContext, support: SandboxSupport = .current) {
        (self.context, self.support) = (context, support)
    }

    /// Reads `sandboxes`, and then `sandbox`, from the top level.
    init(_ reader: inout ObjectReader, context: ConfigContext, support: SandboxSupport = .current) {
        self.init(context: context, support: support)
        let settings = SandboxReader(context: context, support: support)
        for member in reader.object("sandboxes")?.members ?? [] {
            // The name of no sandbox at all; an empty object says the same.
            if member.key == SandboxDefinition.none {
                if member.value.members?.isEmpty != true {
                    context.diagnostics.error(
                        "sandboxes.none: \"none\" means no sandbox; give this one another name",
                        at: member.keyPosition)
                }
                continue
            }
            if !Self.isName(member.key) {
                context.diagnostics.error(
                    "\"\(member.key)\" is not the name of a sandbox: 1 to 64 letters, digits, _, - and .",
                    at: member.keyPosition)
            }
            named[member.key] = settings.read(member.value, path: "sandboxes.\(member.key)", name: member.key)
        }
        fallback = sandbox(&reader)
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { ASCII.isWord($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    /// Reads `sandbox` of one program: a name, `"none"`, or a sandbox of its own.
    func sandbox(_ reader: inout ObjectReader) -> SandboxDefinition? {
        guard let node = reader.node("sandbox") else { return fallback }
        if let name = node.string {
            if name == SandboxDefinition.none { return nil }
            if let definition = named[name] { return definition }
            let words = named.keys.sorted() + [SandboxDefinition.none]
            context.diagnostics.error(
                "\(reader.pathOf("sandbox")): no sandbox named \"\(name)\" in sandboxes"
                    + Suggestion.hint(for: name, among: words), at: node.position)
            return nil
        }
        guard node.members != nil else {
            reader.wrongType("sandbox", node, expected: "the name of a sandbox, \"none\" or an object")
            return nil
        }
        return SandboxReader(context: context, support: support)
            .read(node, path: reader.pathOf("sandbox"), name: nil)
    }

    /// Warns of programs that say nothing about a sandbox while the configuration has some.
    ///
    /// - Parameter groups: the kinds of entries with their nodes; entries that are no programs are left out.
    func warnOfUnconfined(_ groups: [(kind: String, entries: [ConfigMember])]) {
        let entries = groups.flatMap(\.entries)
        let isUsed =
            !named.isEmpty
            || entries.contains { entry in
                entry.value["sandbox"].map { $0.string != SandboxDefinition.none } ?? false
            }
        guard fallback == nil, isUsed else { return }
        for (kind, entries) in groups {
            for entry in entries where !entry.value.hasMember("sandbox") {
                context.diagnostics.warning(
                    "\(kind) \(entry.key) runs without a sandbox; \"sandbox\": \"none\" says that it should",
                    at: entry.keyPosition)
            }
        }
    }
}
