import MCPCore

/// The address of a server, as given on the command line.
enum Target: Sendable, Hashable {
    case http(String)
    case unix(path: String, endpoint: String)
    case program([String])
    /// A file with a recorded conversation, which answers in place of the server.
    case recording(String)

    /// Parses TARGET. A failure lists the accepted forms.
    init(parsing text: String) throws(Failure) {
        if text.isEmpty { throw .usage("TARGET is empty", hint: Self.forms) }
        if let scheme = Self.scheme(of: text) {
            switch scheme {
            case "http", "https": self = .http(text)
            case "unix": self = try Self.unixSocket(text)
            default: throw .usage("\(inlineText(scheme)):// is not an MCP transport", hint: Self.forms)
            }
            return
        }
        if let socket = Self.socketPath(text) {
            self = socket
            return
        }
        self = try Self.hostAndPort(text)
    }

    /// Returns the target for the path of an existing socket, with or without `#/ENDPOINT`; no other path is
    /// a target.
    private static func socketPath(_ text: String) -> Target? {
        if SystemFile.isSocket(text) { return .unix(path: text, endpoint: "/mcp") }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2, parts[1].hasPrefix("/"), SystemFile.isSocket(parts[0]) else { return nil }
        return .unix(path: parts[0], endpoint: parts[1])
    }

    static let forms =
        "TARGET is a configured NAME, http[s]://HOST:PORT/PATH, unix:///PATH, the path of a socket, "
        + "FILE.jsonl, server.json, HOST:PORT/PATH, or -- PROGRAM ARGS at the end"

    /// Whether a word has the form of the name of a configured server; `.` stands for the only one, or for
    /// that of `MCP_TARGET`.
    static func isName(_ text: String) -> Bool {
        if text == "." || isFile(text) { return true }
        let isPath = text.contains("/") || text.hasPrefix(".") || text.hasPrefix("~")
        return !text.isEmpty && !text.hasPrefix("-") && !isPath && !text.contains(":")
            && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
            && !SystemFile.isSocket(text.split(separator: "#").first.map(String.init) ?? "")
    }

    /// Whether a server can have this name: the text is neither a flag, `.`, an address nor a recording or
    /// `server.json`, wherever it is used.
    static func canBeName(_ text: String) -> Bool {
        guard !text.isEmpty, text != ".", !text.hasPrefix("-"), !text.contains("://"), !isFile(text),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return false }
        return (try? hostAndPort(text)) == nil
    }

    /// Whether a word may stand for a configured server: it has the form of a name, or is neither an address
    /// nor an existing file, so that it can only be exactly the name of a server of the user.
    static func mayBeConfigured(_ text: String) -> Bool {
        if isName(text) { return true }
        return canBeName(text) && socketPath(text) == nil && !SystemFile.exists(text)
    }

    /// Whether a word can only be an address: a URL, or a port of this machine.
    static func isAddress(_ text: String) -> Bool {
        if text.contains("=") { return false }
        return if case .http? = try? Target(parsing: text) { true } else { false }
    }

    /// Whether a word is a recording, or the `server.json` of a registry: files that stand for servers.
    static func isFile(_ text: String) -> Bool {
        !text.contains("://")
            && (text.hasSuffix(".jsonl") || text == "server.json" || text.hasSuffix("/server.json"))
    }

    /// A name for messages, without secrets that a command line or a URL may contain.
    var shortName: String {
        switch self {
        case .http(let url):
            String(
                url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first?
                    .split(separator: "@").last ?? "server")
        case .unix(let path, _): String(path.split(separator: "/").last ?? "server")
        case .recording(let path): String(path.split(separator: "/").last ?? "server")
        case .program(let words): String(words.first?.split(separator: "/").last ?? "server")
        }
    }

    /// The word that stands for the server on a command line; nil for a program.
    var text: String? {
        switch self {
        case .http(let url): url
        case .unix(let path, let endpoint): "unix://\(path)#\(endpoint)"
        case .recording(let path): path
        case .program: nil
        }
    }

    /// Whether the connection uses TLS.
    var isSecure: Bool {
        if case .http(let url) = self { Self.scheme(of: url) == "https" } else { false }
    }

    /// Whether tokens may be sent there: over TLS, or to this machine.
    var isConfidential: Bool {
        guard case .http(let url) = self, !isSecure else { return true }
        let authority = url.dropFirst("http://".count).prefix { !"/?#".contains($0) }
        let isIPv6 = authority.hasPrefix("[")
        return Self.isLoopback(isIPv6 ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" })
    }

    private static func scheme(of text: String) -> String? {
        guard let end = text.firstIndex(of: ":"), text[end...].hasPrefix("://"), end > text.startIndex else {
            return nil
        }
        return text[..<end].lowercased()
    }

    private static func unixSocket(_ text: String) throws(Failure) -> Target {
        let rest = text.dropFirst("unix://".count)
        let parts = rest.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts.first ?? "")
        guard path.hasPrefix("/"), path.count > 1 else {
            throw .usage(
                "unix:// needs an absolute path", details: ["given: \(inlineText(text))"],
                hint: path.isEmpty || path == "/"
                    ? "unix:///run/server.sock, or unix:///run/server.sock#/mcp with the endpoint"
                    : "for a path in this directory, leave unix:// out: \(ShellWord.quote(String(rest)))")
        }
        let endpoint = parts.count > 1 ? String(parts[1]) : "/mcp"
        guard endpoint.hasPrefix("/") else {
            throw .usage(
                "the endpoint after # must start with /", details: ["given: \(inlineText(text))"],
                hint: "unix://\(inlineText(path))#/mcp")
        }
        return .unix(path: path, endpoint: endpoint)
    }

    private static func hostAndPort(_ text: String) throws(Failure) -> Target {
        let authority = text.prefix { $0 != "/" }
        let path = text[authority.endIndex...]
        guard let colon = authority.lastIndex(of: ":"), colon > authority.startIndex,
            let port = Int(authority[authority.index(after: colon)...]),
            path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            if text.contains("/") || text.hasPrefix(".") {
                throw .usage(
                    "\(quoted(text)) is not a target", details: ["no socket exists at that path"],
                    hint: "a program comes last, after --:  mcp-client … -- \(inlineText(text))")
            }
            throw .usage("\(quoted(text)) is not a target", hint: Self.forms)
        }
        guard (1 ... 65535).contains(port) else {
            throw .usage("port \(port) is outside 1…65535", details: ["given: \(inlineText(text))"])
        }
        let host = text[..<colon]
        guard isLoopback(host) else {
            throw .usage(
                "HOST:PORT is for this machine only",
                details: ["given: \(inlineText(MaskedText.url(text)))"],
                hint: "write the address in full: http://\(inlineText(MaskedText.url(text)))"
                    + (path.isEmpty ? "/mcp" : ""))
        }
        return .http("http://\(host):\(port)\(path.isEmpty ? "/mcp" : path)")
    }

    private static func isLoopback(_ host: Substring) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// The name of a configured server on a command line.
struct ConfiguredName: Sendable, Hashable {
    /// The word that names it.
    let word: String
    /// The name that it gets for this command; nil for its own.
    var name: String?
}

/// A server with a name.
struct NamedTarget: Sendable, Hashable {
    let name: String
    let target: Target
}
