/// The configuration that is used when none is named.
///
/// Never one of the current directory: hosts start the server in the directory of a project, and a project
/// must not decide which commands run.
enum DefaultFile {
    /// The first default file that exists, nil where there is none.
    static func find(_ environment: [String: String]) -> String? {
        candidates(environment).first(where: exists)
    }

    /// Where it is looked for, in this order.
    static func candidates(_ environment: [String: String]) -> [String] {
        var directories: [String] = []
        if let directory = environment["XDG_CONFIG_HOME"], directory.hasPrefix("/") {
            directories.append(directory)
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            directories.append("\(home)/.config")
        }
        directories.append("/etc")
        return directories.map { "\($0)/mcp-server/mcp.jsonc" }
    }

    private static func exists(_ path: String) -> Bool {
        Paths.entries(of: Paths.parent(of: path)).contains("mcp.jsonc")
    }
}
