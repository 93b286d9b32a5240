import MCPCore

/// A file that may configure servers, and what its servers may do.
struct ConfigPlace: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// The file that `MCP_CONFIG` names.
        case chosen
        /// A file of the project in the current directory, which may come from a stranger.
        case project
        /// The file of `mcp-client` itself.
        case own
        /// The file of another program of this user.
        case host
    }

    let path: String
    let kind: Kind
    /// The program that the file belongs to.
    let program: String
    /// The root of the project, in which its servers start.
    var project: String?

    /// The largest size of a file; some hosts keep more than servers in theirs.
    static let maxBytes = 32 << 20

    private static let projectFiles = [
        ("mcp.jsonc", "mcp-client"), (".mcp.json", "Claude Code"), (".vscode/mcp.json", "VS Code"),
        (".cursor/mcp.json", "Cursor"),
    ]

    /// Returns the files that are searched, in the order of precedence; most of them do not exist.
    static func all(in environment: CommandEnvironment) -> [ConfigPlace] {
        let current = environment.currentDirectory
        if let chosen = environment.variable("MCP_CONFIG"), !chosen.isEmpty {
            return [
                ConfigPlace(path: absolute(chosen, in: current), kind: .chosen, program: "MCP_CONFIG")
            ]
        }
        let home = environment.variable("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        var places = projectPlaces(from: current, home: home)
        if let own = ownPath(environment) {
            places.append(ConfigPlace(path: own, kind: .own, program: "mcp-client"))
        }
        if let home {
            places += hostFiles(home, applications(environment, home)).map {
                ConfigPlace(path: $0.path, kind: .host, program: $0.program)
            }
        }
        return places
    }

    /// Returns `$XDG_CONFIG_HOME/mcp/mcp.jsonc`, else `~/.config/mcp/mcp.jsonc`.
    static func ownPath(_ environment: CommandEnvironment) -> String? {
        if let config = environment.variable("XDG_CONFIG_HOME"), config.hasPrefix("/") {
            return config + "/mcp/mcp.jsonc"
        }
        guard let home = environment.variable("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.config/mcp/mcp.jsonc"
    }

    /// The directory in which applications keep their settings.
    private static func applications(_ environment: CommandEnvironment, _ home: String) -> String {
        #if canImport(Darwin)
        return home + "/Library/Application Support"
        #else
        let config = environment.variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        return config ?? home + "/.config"
        #endif
    }

    private static func hostFiles(
        _ home: String, _ applications: String
    ) -> [(path: String, program: String)] {
        [
            (home + "/.claude.json", "Claude Code"),
            (applications + "/Claude/claude_desktop_config.json", "Claude Desktop"),
            (applications + "/Code/User/mcp.json", "VS Code"), (home + "/.cursor/mcp.json", "Cursor"),
            (home + "/.copilot/mcp-config.json", "Copilot"),
        ]
    }

    /// Returns the files of the nearest directory that has any, from the current one up to the root or the
    /// home directory, whose own files are not those of a project.
    private static func projectPlaces(from current: String, home: String?) -> [ConfigPlace] {
        var directory = absolute(current, in: "/")
        while directory != home.map({ absolute($0, in: "/") }) {
            let base = directory == "/" ? "" : directory
            let places = projectFiles.map {
                ConfigPlace(path: "\(base)/\($0.0)", kind: .project, program: $0.1, project: directory)
            }
            if places.contains(where: { (try? Files.info($0.path)) != nil }) { return places }
            if directory == "/" { return [] }
            directory = "/" + Files.components(directory).dropLast().joined(separator: "/")
        }
        return []
    }

    static func absolute(_ path: String, in directory: String) -> String {
        let whole = path.hasPrefix("/") ? path : "\(directory)/\(path)"
        return "/" + Files.components(whole).filter { $0 != "." }.joined(separator: "/")
    }

    /// The directory of the file.
    var directory: String { "/" + Files.components(path).dropLast().joined(separator: "/") }

    /// The path as a person writes it: below the current directory, or below `~`.
    func shown(in environment: CommandEnvironment) -> String {
        let current = ConfigPlace.absolute(environment.currentDirectory, in: "/")
        if let rest = path.dropping(prefix: current == "/" ? "/" : current + "/"), kind == .project {
            return inlineText(rest)
        }
        if let home = environment.variable("HOME"), let rest = path.dropping(prefix: home + "/") {
            return inlineText("~/" + rest)
        }
        return inlineText(path)
    }
}
