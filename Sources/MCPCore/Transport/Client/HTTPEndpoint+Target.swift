extension HTTPEndpoint {
    /// What to ask this server for to reach `reference`, which it has announced itself.
    ///
    /// - Throws: `.protocolViolation` when that is at another origin: nothing is sent there.
    func target(of reference: String) throws(ClientError) -> String {
        let base = SchemaURI("\(scheme)://\(hostField)\(target)")
        let found = SchemaURI(reference).resolved(against: base)
        guard found.scheme?.lowercased() == scheme, isSame(found.authority ?? "") else {
            throw ClientError(
                .protocolViolation,
                "\(name) wants messages to be sent to \(Self.shortened(reference)), which is another origin",
                hint: "nothing was sent there; a server behind a proxy announces a path, not a whole URL")
        }
        let target = (found.path.isEmpty ? "/" : found.path) + (found.query.map { "?" + $0 } ?? "")
        guard target.hasPrefix("/"), target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ClientError(
                .protocolViolation,
                "\(name) wants messages to be sent to \(Self.shortened(reference)), which is no URL")
        }
        return target
    }

    private func isSame(_ authority: String) -> Bool {
        if case .unix = place { return authority == hostField }
        guard let other = try? HTTPEndpoint(url: "\(scheme)://\(authority)/"),
            case .host(let host, let port) = place, case .host(let otherHost, let otherPort) = other.place
        else { return false }
        return port == otherPort && ASCII.equalsIgnoringCase(host.utf8, otherHost.utf8)
    }

    private static func shortened(_ text: String) -> String {
        text.utf8.count > 200 ? "\(text.prefix(200))…" : text
    }
}
