import MCPApps
import MCPCore

/// The values of the `host` flags.
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

    mutating func apply(_ flag: HostFlag, _ value: FlagValue) throws(Failure) {
        if flag.row.value != nil { _ = try value.nonEmpty() }
        switch flag {
        case .port: settings.port = UInt16(try value.number(in: 0 ... 65_535))
        case .sandboxPort: settings.sandboxPort = UInt16(try value.number(in: 0 ... 65_535))
        case .opens: opensBrowser = true
        case .staysClosed: opensBrowser = false
        case .csp: try applyPolicy(value.text)
        case .allowDomains: allowedDomains = (allowedDomains ?? []) + value.list
        case .blockDomains: blockedDomains += value.list
        case .allowHosts:
            settings.allowedHosts = (settings.allowedHosts ?? []) + value.list.map { $0.lowercased() }
        case .approve: approval = try value.choice()
        case .grant:
            for word in value.list {
                grants.insert(try FlagValue(flag: value.flag, text: word).choice())
            }
        case .theme: settings.theme = try value.choice()
        case .history: historyFile = value.text
        case .scan: scannedPorts = try Self.ports(value.text)
        case .config: configFile = value.text
        }
    }

    private mutating func applyPolicy(_ value: String) throws(Failure) {
        switch value {
        case "strict": isCompatible = false
        case "compat": isCompatible = true
        case "allow-wildcards": allowsWildcards = true
        default: throw .usage("--csp \(quoted(value)) is not strict, compat or allow-wildcards")
        }
    }

    /// The largest number of ports in a scan; all of them are tried at the same time.
    static let maxScannedPorts = 1_000

    /// Parses a port or a range of at most 1,000 ports.
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
