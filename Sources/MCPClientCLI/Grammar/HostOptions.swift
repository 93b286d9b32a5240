import MCPCore

/// What the flags of `host` say.
struct HostOptions: Sendable {
    enum Approval: String, Sendable, CaseIterable { case auto, ask, deny }

    var settings = HostSettings()
    var opensBrowser = false
    var isCompatible = false
    var allowsWildcards = false
    var allowedDomains: [String]?
    var blockedDomains: [String] = []
    var approval: Approval?
    var grants: Set<UIPermission> = []
    var historyFile: String?
    var scannedPorts: ClosedRange<UInt16>?
    var configFile: String?

    mutating func apply(_ flag: Flag, _ value: String) throws(Failure) {
        switch flag {
        case .port: settings.port = UInt16(try Options.number(value, flag, 0 ... 65_535))
        case .sandboxPort: settings.sandboxPort = UInt16(try Options.number(value, flag, 0 ... 65_535))
        case .opens: opensBrowser = true
        case .staysClosed: opensBrowser = false
        case .csp: try applyPolicy(value)
        case .allowDomains: allowedDomains = (allowedDomains ?? []) + Self.list(value)
        case .blockDomains: blockedDomains += Self.list(value)
        case .allowHosts:
            settings.allowedHosts = (settings.allowedHosts ?? []) + Self.list(value).map { $0.lowercased() }
        case .approve: approval = try Self.choice(value, flag)
        case .grant:
            for word in Self.list(value) { grants.insert(try Self.choice(word, flag)) }
        case .theme: settings.theme = try Self.choice(value, flag)
        case .history: historyFile = value
        case .scan: scannedPorts = try Self.ports(value)
        default: configFile = value
        }
    }

    private mutating func applyPolicy(_ value: String) throws(Failure) {
        switch value {
        case "strict": isCompatible = false
        case "compat": isCompatible = true
        case "allow-wildcards": allowsWildcards = true
        default: throw .usage("--csp \(quoted(value)) is none of strict, compat and allow-wildcards")
        }
    }

    private static func list(_ value: String) -> [String] {
        value.split(separator: ",").map { $0.trimmingSpaces() }.filter { !$0.isEmpty }
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ value: String, _ flag: Flag
    ) throws(Failure) -> Choice {
        guard let choice = Choice(rawValue: value) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("\(flag.name) \(quoted(value)) is none of \(names)")
        }
        return choice
    }

    /// All of them are tried at the same time.
    static let maxScannedPorts = 1_000

    /// At most 1,000 ports.
    private static func ports(_ value: String) throws(Failure) -> ClosedRange<UInt16> {
        let parts = value.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
        guard parts.count <= 2, let first = parts[0], let last = parts[parts.count - 1], first > 0,
            first <= last, last - first < maxScannedPorts
        else {
            throw .usage(
                "--scan \(quoted(value)) is not a range of at most \(maxScannedPorts) ports",
                hint: "--scan 3101-3110")
        }
        return first ... last
    }
}
