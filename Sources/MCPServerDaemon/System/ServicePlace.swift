import MCPCore

/// A directory that systemd makes for the service and gives to its user.
struct ServicePlace: Sendable, Hashable {
    /// The name of the service and of its user, and that of the directories that each of its units makes.
    static let service = "mcp-server"

    /// `RuntimeDirectory`, `LogsDirectory` or `StateDirectory`.
    var setting: String
    /// The part behind the directory that `setting` stands for.
    var name: String

    private static let roots = [
        ("/run/", "RuntimeDirectory"), ("/var/run/", "RuntimeDirectory"), ("/var/log/", "LogsDirectory"),
        ("/var/lib/", "StateDirectory"),
    ]

    /// Returns nil for a directory that systemd does not make, such as one of a user.
    init?(_ directory: String) {
        for (root, setting) in Self.roots {
            guard let name = directory.dropping(prefix: root), !name.isEmpty,
                !Paths.components(name).contains(".."), !name.hasPrefix("user/")
            else { continue }
            (self.setting, self.name) = (setting, String(name))
            return
        }
        return nil
    }

    /// What makes the directory.
    var hint: String { "\(setting)=\(name) in the unit of systemd makes it (mcp-server init)" }

    init(setting: String, name: String) { (self.setting, self.name) = (setting, name) }
}
