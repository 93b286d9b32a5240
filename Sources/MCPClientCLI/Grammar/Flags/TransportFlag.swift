import MCPCore

/// Flags for the connection to a server.
enum TransportFlag: Sendable, CaseIterable {
    case header, bearerEnv, bearerFile, trustFile, environment, directory
    case protocolVersion, timeout, deadline, connectTimeout, noCache

    var row: FlagRow {
        switch self {
        case .header: FlagRow("-H", "--header", value: "K:V", summary: "an extra HTTP header (repeatable)")
        case .bearerEnv:
            FlagRow("--bearer-env", value: "VAR", summary: "bearer token from an environment variable")
        case .bearerFile:
            FlagRow("--bearer-file", value: "FILE", reads: .whole, summary: "bearer token from a file")
        case .trustFile:
            FlagRow(
                "--cacert", value: "FILE", reads: .whole,
                summary: "trust these certificates (PEM) for https, not the system's")
        case .environment:
            FlagRow("-e", "--env", value: "K=V", summary: "environment of a program after -- (repeatable)")
        case .directory:
            FlagRow("-C", "--directory", value: "DIR", summary: "working directory of a program after --")
        case .protocolVersion:
            FlagRow(
                "--protocol", value: "auto|REVISION", kind: .choices(["auto"] + Options.revisions),
                summary: "protocol revision (auto)")
        case .timeout:
            FlagRow("--timeout", value: "TIME", summary: "time limit for silence, reset by progress (60s)")
        case .deadline:
            FlagRow("--deadline", value: "TIME", summary: "time limit for the whole command (none)")
        case .connectTimeout:
            FlagRow(
                "--connect-timeout", value: "TIME",
                summary: "time limit for connecting (10s; 60s for a program)")
        case .noCache: FlagRow("--no-cache", summary: "neither use nor keep what is known about servers")
        }
    }
}

extension Options {
    mutating func apply(_ flag: TransportFlag, _ value: FlagValue) throws(Failure) {
        switch flag {
        case .header: headers.append(try Self.header(value.text))
        case .bearerEnv: bearerEnv = try value.nonEmpty()
        case .bearerFile: bearerFile = try value.nonEmpty()
        case .trustFile: trustFile = try value.nonEmpty()
        case .environment: environment.append(try Self.environmentEntry(value.text))
        case .directory: directory = try value.nonEmpty()
        case .protocolVersion: protocolVersion = try Self.revision(value.text)
        case .timeout: timeout = try value.time()
        case .deadline: deadline = try value.time()
        case .connectTimeout: connectTimeout = try value.time()
        case .noCache: noCache = true
        }
    }

    /// Takes the values of environment variables for flags that were not given.
    ///
    /// A bare number in `MCP_TIMEOUT` means milliseconds, as it does for other programs that read it.
    mutating func takeDefaults(_ variable: (String) -> String?) throws(Failure) {
        guard !given.contains(.transport(.timeout)), let text = variable("MCP_TIMEOUT"), !text.isEmpty else {
            return
        }
        let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0") ... UInt8(ascii: "9")).contains($0) }
        guard let time = TimeSpan.parse(isNumber ? text + "ms" : text) else {
            throw .usage(
                "MCP_TIMEOUT \(quoted(text)) is not a time",
                hint: "for example 500ms, 10s, 2m or 1h; a bare number is milliseconds")
        }
        timeout = time
    }

    /// Takes the flags in front of `shell` that are read for each of its lines, and not by the connection,
    /// unless the line has its own.
    mutating func inherit(_ shell: Options) {
        if shell.given.contains(.transport(.timeout)), !given.contains(.transport(.timeout)) {
            timeout = shell.timeout
        }
        let forms: [Flag] = [.output(.raw), .output(.structured), .output(.select)]
        if !forms.contains(where: given.contains) { json = json || shell.json }
        quiet = quiet || shell.quiet
    }

    private static func header(_ value: String) throws(Failure) -> HeaderLine {
        guard let colon = value.firstIndex(of: ":"), colon > value.startIndex else {
            throw .usage("-H needs \"Name: value\", not \(quoted(value))", hint: "-H 'X-Name: value'")
        }
        let name = value[..<colon]
        // RFC 9110 5.6.2 token; RFC 9110 5.5: no control characters in a value.
        let isToken = name.utf8.allSatisfy { byte in
            byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        let text = value[value.index(after: colon)...].trimmingSpaces()
        guard isToken, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .usage(
                "-H \(quoted(String(name))) is not a valid header",
                hint: "a name consists of letters, digits and -; a value contains no control characters")
        }
        return HeaderLine(name: String(name), value: text)
    }

    private static func environmentEntry(_ value: String) throws(Failure) -> EnvironmentEntry {
        guard let sign = value.firstIndex(of: "="), sign > value.startIndex else {
            throw .usage("-e \(quoted(value)) has no name and =", hint: "-e NAME=value")
        }
        return EnvironmentEntry(
            name: String(value[..<sign]), value: String(value[value.index(after: sign)...]))
    }

    /// The revisions that this version supports, newest first.
    static var revisions: [String] { ProtocolVersion.known.map(\.text) }

    private static func revision(_ value: String) throws(Failure) -> String? {
        if value == "auto" { return nil }
        guard revisions.contains(value) else {
            throw .usage(
                "--protocol \(quoted(value)) is not a revision of MCP",
                hint: "auto, \(revisions.joined(separator: ", "))")
        }
        return value
    }
}
