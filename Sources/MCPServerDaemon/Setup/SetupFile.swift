import MCPCore

/// The files that `mcp-server init` prints, for the programs that start or front a server.
enum SetupFile: String, Sendable, Hashable, CaseIterable {
    case systemd
    case systemdSocket = "systemd-socket"
    case launchd, nginx, caddy, docker

    /// What the files are about.
    struct Subject: Sendable, Hashable {
        /// The path of the program.
        var program: String
        /// The path of the configuration.
        var configuration: String
        /// What `--set` changes in it.
        var overrides: [String] = []
        /// The home directory of the user, if the configuration is in it: then the server is this user's.
        var home: String?
        /// The address that a proxy forwards to: `127.0.0.1:8808` or `unix:/PATH`.
        var upstream: String
        /// The name that clients know the server by.
        var host: String
        /// Further names, and patterns such as `*.example.com`.
        var otherHosts: [String] = []
        /// Whether the server accepts these names as `Host`.
        var acceptsHost = false
        /// Whether the configuration has `auth`.
        var hasAuth = false
        /// The processes of this machine that need no token.
        var peers: [PeerRule] = []
        /// The path that clients know the endpoint by, if it is not that of the server.
        var foreignPath: String?
        /// The port at which the proxy speaks TLS; nil for a proxy without TLS.
        var securePort: UInt16?
        /// The port of a proxy without TLS, if clients know it.
        var plainPort: UInt16?
        /// Whether programs and web pages may offer tools, which has paths of its own.
        var hasClientTools = false
        /// The origins of web pages that the server admits, or that may offer tools.
        var origins: [String] = []
        /// The largest message in bytes.
        var bodyBytes: Int
        /// The memory of all messages in bytes, and the number of connections.
        var memoryBytes = HTTPServerResources().maxMemoryBytes
        var connections = HTTPServerOptions().maxConnections
        /// The time in seconds that a stopping server needs at most.
        var stopSeconds: Int
        /// Further paths that the server needs: those of its files, its sockets and what it writes.
        var paths: [String] = []
        /// The addresses that the service manager listens on, in the form of `ListenStream=`.
        var sockets: [String] = []
        /// The mode and the group of the unix sockets among them.
        var mode: UInt32?
        var group: String?
        /// The ports of those that the network reaches.
        var openPorts: [Int] = []
        /// What the service needs from the system.
        var needs = ServiceNeeds()
        /// The files that belong to the configuration, and its secrets.
        var parts: [String] = []
        /// The files that the arguments of its commands and servers name.
        var arguments = ArgumentFiles()
        /// The folders among them whose files the server offers, and programs may use.
        var roots: [String] = []
        /// Those that are patterns for the names of files.
        var patterns: Set<String> = []
        /// Those that fit no file now.
        var emptyPatterns: Set<String> = []
        var secrets: [String] = []
        /// The folders that hold nothing but secrets.
        var secretFolders: Set<String> = []

        /// The arguments of the program, for a configuration at this path.
        func words(_ path: String) -> [String] {
            ["-c", path] + overrides.flatMap { ["--set", $0] }
        }

        /// All names.
        var hosts: [String] { [host] + otherHosts }

        /// The paths that the service cannot see or does not share with others.
        var hiddenPaths: [String] {
            var seen: Set<String> = []
            return ([program, configuration] + paths + arguments.paths.sorted()).filter { path in
                ["/home", "/root", "/run/user", "/tmp", "/var/tmp"].contains {
                    SandboxDefinition.isBeneath(path, $0)
                } && seen.insert(path).inserted
            }
        }
    }

    func text(_ subject: Subject) -> String {
        switch self {
        case .systemd: Self.systemd(subject)
        case .systemdSocket: Self.socket(subject)
        case .launchd: Self.launchd(subject)
        case .nginx: Self.nginx(subject)
        case .caddy: Self.caddy(subject)
        case .docker: Self.docker(subject)
        }
    }

    private static func launchd(_ subject: Subject) -> String {
        let name = "org.modelcontextprotocol.mcp-server.plist"
        // Both folders of logs exist on each system; launchd makes files, and no folders.
        let place =
            subject.home == nil
            ? """
            /Library/LaunchDaemons/\(name), a file of root; for a server of one user,
                 ~/Library/LaunchAgents, with StandardErrorPath in ~/Library/Logs, written as a whole path.
                 UserName names the user of the server: without it a daemon runs as root.
            """ : "~/Library/LaunchAgents/\(name)"
        let words = ([subject.program] + subject.words(subject.configuration)).map {
            "<string>\(MarkupText.escaped($0))</string>"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- \(place) -->
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
                <key>Label</key>
                <string>org.modelcontextprotocol.mcp-server</string>
                <key>ProgramArguments</key>
                <array>
                    \(words.joined(separator: "\n        "))
                </array>
                <key>RunAtLoad</key>
                <true/>
                <key>KeepAlive</key>
                <dict>
                    <key>SuccessfulExit</key>
                    <false/>
                </dict>
                <key>ProcessType</key>
                <string>Background</string>
                <key>ExitTimeOut</key>
                <integer>\(subject.stopSeconds)</integer>
                <key>Umask</key>
                <integer>63</integer>
                <key>StandardErrorPath</key>
                <string>\(MarkupText.escaped(subject.home ?? ""))/Library/Logs/mcp-server.log</string>
            </dict>
            </plist>

            """
    }
}
