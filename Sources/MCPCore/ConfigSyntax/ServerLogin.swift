/// How to log in to a configured server: the member `oauth`, in the spellings of several hosts.
package struct ServerLogin: Sendable, Hashable {
    /// The id of a registered client, and its secret.
    package private(set) var clientID: String?
    package private(set) var clientSecret: String?
    package private(set) var scopes: [String] = []
    package private(set) var issuer: String?
    package private(set) var resource: String?
    package private(set) var grant: String?
    /// The ports to which the browser may return; empty for any.
    package private(set) var callbackPorts: [UInt16] = []

    /// Reads the member. Unlike those of a server, unknown members are errors: without one, the login would
    /// be another one.
    ///
    /// - Parameter report: receives what is wrong, after "has oauth".
    init(_ node: ConfigNode, report: (String, SourcePosition) -> Void) {
        for member in node.members ?? [] {
            let value = member.value
            // clientId, client_id and CLIENT_ID.
            switch member.key.lowercased().filter({ $0 != "_" }) {
            case "clientid": clientID = Self.text(member, report)
            case "clientsecret": clientSecret = Self.text(member, report)
            case "issuer": issuer = Self.text(member, report)
            case "resource": resource = Self.text(member, report)
            case "grant": grant = Self.text(member, report)
            case "scope", "scopes":
                let texts = value.string.map { [$0] } ?? value.elements?.compactMap(\.string)
                guard let texts, value.elements.map({ $0.count == texts.count }) ?? true else {
                    report("with \(member.key) that are not strings", value.position)
                    continue
                }
                scopes = texts.flatMap { $0.split(separator: " ").map { String($0) } }
            case "callbackport":
                let ports = (value.elements ?? [value]).map(Self.port)
                guard !ports.isEmpty, !ports.contains(nil) else {
                    report("with a \(member.key) that is not a port", value.position)
                    continue
                }
                callbackPorts = ports.compactMap(\.self)
            default: report("with \"\(member.key)\", which is not supported", member.keyPosition)
            }
        }
        if clientSecret != nil, clientID == nil { report("with a secret, but no clientId", node.position) }
    }

    private static func port(_ node: ConfigNode) -> UInt16? {
        guard case .number(let number) = node.kind else { return nil }
        return number.int64.flatMap { UInt16(exactly: $0) }
    }

    private static func text(
        _ member: ConfigMember, _ report: (String, SourcePosition) -> Void
    ) -> String? {
        if let text = member.value.string, !text.isEmpty { return text }
        report("with a \(member.key) that is not a text", member.value.position)
        return nil
    }
}
