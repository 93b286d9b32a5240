/// A digest of what a program is and inherits: its file, the scripts and settings that its arguments name,
/// and its environment.
///
/// Two starts with the same stamp are most likely the same server. Data files and variables that change from
/// terminal to terminal do not count.
enum ProgramStamp {
    /// The number of arguments that are looked up as files.
    private static let maxFiles = 32
    private static let sources: Set<Substring> = [
        "cjs", "dll", "jar", "js", "json", "jsonc", "lua", "mjs", "mts", "php", "pl", "py", "rb", "sh",
        "toml",
        "ts", "wasm", "yaml", "yml",
    ]

    private static let volatile: Set<String> = [
        "_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TERM", "TERM_SESSION_ID", "WINDOWID",
    ]

    static func text(_ launch: ProcessLaunch) -> String {
        var hash = SHA256()
        func add(_ text: String) {
            hash.update((text + "\0").utf8)
        }
        let program = (try? launch.resolvedProgram()) ?? launch.program
        let directory = launch.directory ?? Files.currentDirectory ?? "/"
        let files = launch.arguments.prefix(maxFiles).filter { argument in
            argument.utf8.count < 4096 && argument.contains(".")
                && sources.contains(argument.split(separator: ".").last ?? "")
        }
        for path in [program] + files {
            // A file that is not there is told apart by that.
            guard
                let info = try? Files.info(
                    path.hasPrefix("/") ? path : directory + "/" + path, followsLinks: true),
                info.kind == .file
            else { continue }
            add("\(path) \(info.size) \(info.modified.nanosecondsSinceEpoch)")
        }
        let environment = launch.environment ?? Environment.all
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where !volatile.contains(name) {
            add("\(name)=\(value)")
        }
        return Hex.encode(hash.finalize().bytes.prefix(16))
    }
}
