import MCPCore

/// The conversion of addresses to servers: from the command line, from a configuration, from the page.
struct ServerTargets: Sendable {
    let options: Options
    let settings: HostSettings

    /// Returns the target at an address; `--allow-hosts` specifies which hosts it may name.
    func target(_ target: Target) throws(Failure) -> ClientTarget {
        if case .http(let url) = target { try check(url) }
        return target.clientTarget(options)
    }

    /// Returns the server at an address that the user typed.
    ///
    /// Programs are started only from the command line and the configuration.
    func target(
        typed text: String
    ) throws(Failure) -> (target: ClientTarget, name: String, address: Target) {
        let address = try Target(parsing: text.trimmingWhitespace())
        return (try target(address), Self.name(of: address), address)
    }

    private func check(_ url: String) throws(Failure) {
        guard let allowed = settings.allowedHosts else { return }
        let host = Self.host(of: url)
        guard allowed.contains(host) else {
            throw .usage(
                "\(quoted(host)) is not an allowed host for servers; no connection was made",
                details: ["--allow-hosts \(allowed.joined(separator: ","))"])
        }
    }

    /// Returns the part of a URL between `://` and the port or path, in lower case and without a user.
    static func host(of url: String) -> String {
        guard let mark = url.firstRange(of: "://") else { return "" }
        // By bytes: a slash and a mark behind it are one character, and not the slash.
        let authority = url[mark.upperBound...].utf8.prefix { !"/?#".utf8.contains($0) }
        let name = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last
        guard let name else { return "" }
        if name.first == UInt8(ascii: "["), let end = name.firstIndex(of: UInt8(ascii: "]")) {
            return Substring(name[...end]).lowercased()
        }
        return Substring(name.prefix { $0 != UInt8(ascii: ":") }).lowercased()
    }

    /// Returns the name that a person sees until the server reports its own.
    static func name(of target: Target) -> String {
        target.shortName
    }
}
