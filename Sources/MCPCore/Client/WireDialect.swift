/// How a message is worded: which revision it speaks, and whether it says so itself.
enum WireDialect: Sendable {
    /// `initialize`, which offers this revision.
    case opening(Revision)
    case legacy(Revision)
    case modern(Revision)

    var isModern: Bool { if case .modern = self { true } else { false } }

    /// What `MCP-Protocol-Version` says; nil for `initialize`.
    var headerRevision: Revision? {
        switch self {
        case .opening: nil
        case .legacy(let revision), .modern(let revision): revision
        }
    }
}
