/// The outcome of `initialize`: the revision and the client's abilities. It belongs to one pipe or one HTTP
/// session.
///
/// It is small enough to be part of a session id, so that any instance with the same key can read it
/// (LEG-21).
struct NegotiatedSession: Sendable, Hashable {
    let revision: Revision
    var abilities: ClientAbilities
}

/// The abilities that a client of the handshake revisions can be asked to use.
struct ClientAbilities: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    static let roots = ClientAbilities(rawValue: 1 << 0)
    static let sampling = ClientAbilities(rawValue: 1 << 1)
    static let samplingTools = ClientAbilities(rawValue: 1 << 2)
    static let samplingContext = ClientAbilities(rawValue: 1 << 3)
    static let elicitation = ClientAbilities(rawValue: 1 << 4)
    static let elicitationURL = ClientAbilities(rawValue: 1 << 5)
    /// Views (MCP Apps): extensions can be declared in any revision.
    static let ui = ClientAbilities(rawValue: 1 << 6)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reads the abilities that `initialize` declares, as far as the revision defines them.
    init(_ capabilities: RawJSON, for revision: Revision) {
        self = []
        if capabilities["roots"]?.kind == .object { insert(.roots) }
        if let sampling = capabilities["sampling"], sampling.kind == .object {
            insert(.sampling)
            if revision.has(.samplingTools), sampling["tools"] != nil { insert(.samplingTools) }
            if revision.has(.samplingTools), sampling["context"] != nil { insert(.samplingContext) }
        }
        if revision.has(.elicitation), let elicitation = capabilities["elicitation"],
            elicitation.kind == .object
        {
            let url = revision.has(.elicitationModes) && elicitation["url"] != nil
            if url { insert(.elicitationURL) }
            // `{}` means form (ELIC-01).
            if !url || elicitation["form"] != nil { insert(.elicitation) }
        }
        if let settings = capabilities["extensions"]?[UIExtension.identifier]?.value,
            ClientCapabilities(extensions: [UIExtension.identifier: settings]).hasUI
        {
            insert(.ui)
        }
    }

    /// The same abilities, expressed as capabilities of the newest revision.
    var capabilities: ClientCapabilities {
        var json = JSONObject()
        if contains(.roots) { json["roots"] = [:] }
        if contains(.sampling) {
            var sampling = JSONObject()
            if contains(.samplingTools) { sampling["tools"] = [:] }
            if contains(.samplingContext) { sampling["context"] = [:] }
            json["sampling"] = .object(sampling)
        }
        if !isDisjoint(with: [.elicitation, .elicitationURL]) {
            var elicitation = JSONObject()
            if contains(.elicitation) { elicitation["form"] = [:] }
            if contains(.elicitationURL) { elicitation["url"] = [:] }
            json["elicitation"] = .object(elicitation)
        }
        if contains(.ui) {
            json["extensions"] = [UIExtension.identifier: .object(UIExtension.clientCapability)]
        }
        return (try? ClientCapabilities(json: .object(json))) ?? ClientCapabilities()
    }
}
