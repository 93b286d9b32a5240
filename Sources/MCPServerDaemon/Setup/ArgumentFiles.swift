import MCPCore

/// The files and folders that the arguments of commands and servers name, and their variables with
/// `${configDir}`.
struct ArgumentFiles: Sendable, Hashable {
    /// All of them, as paths.
    private(set) var paths: Set<String> = []
    /// Those that everyone may read, so that another user in an image can.
    private(set) var readable: Set<String> = []
    /// What servers name relative to the directory that they are started in, with the name of the server.
    private(set) var unplaced: [Unplaced] = []

    struct Unplaced: Sendable, Hashable {
        var server: String
        var word: String
    }

    /// The directory of the configuration; marked if what is written relative to it is to be told apart.
    private let base: String
    /// What each system has.
    private static let ofSystem: Set<String> = [
        "/", "/home", "/root", "/run", "/tmp", "/usr", "/var", "/var/tmp",
    ]

    init() { base = "/" }

    init(_ configuration: Configuration, at path: String) {
        base = Paths.parent(of: path)
        for tool in configuration.tools {
            for element in tool.command.items.flatMap(\.elements) {
                guard let word = element.beginning else { continue }
                add(word, relativeTo: tool.workingDirectory.literal)
            }
            addMarked(tool.environment)
        }
        for upstream in configuration.upstreams {
            guard case .program(_, let words, let environment, let directory) = upstream.place else {
                continue
            }
            for word in words { add(word, relativeTo: directory) }
            addMarked(environment)
            guard directory == nil else { continue }
            unplaced += words.filter(isUnplaced).map { Unplaced(server: upstream.name, word: $0) }
        }
    }

    private mutating func add(_ word: String, relativeTo directory: String?) {
        addMarked(word)
        for value in Self.values(of: word) {
            if value.hasPrefix("/") {
                add(ifExists: Paths.absolute(value, relativeTo: "/"))
            } else if let directory, Self.isName(value) {
                add(ifExists: Paths.absolute(value, relativeTo: directory))
            }
        }
    }

    private mutating func add(ifExists path: String) {
        guard Paths.exists(path), !Self.ofSystem.contains(path),
            !["/dev", "/proc", "/sys"].contains(where: { SandboxDefinition.isBeneath(path, $0) })
        else { return }
        add(path)
    }

    private mutating func add(_ path: String) {
        paths.insert(path)
        // One that cannot be looked at cannot be read either.
        guard let info = try? Files.info(path, followsLinks: true) else { return }
        let needed: UInt32 = info.kind == .directory ? 0o005 : 0o004
        if info.permissions & needed == needed { readable.insert(path) }
    }

    /// The whole word, unless it is an option, and what stands behind `=`.
    private static func values(of word: String) -> [String] {
        var values = word.hasPrefix("-") ? [] : [word]
        if let equals = word.firstRange(of: "=") { values.append(String(word[equals.upperBound...])) }
        return values
    }

    /// Whether a relative word may name a file: `.` is often no folder, but a pattern or a filter.
    private static func isName(_ word: String) -> Bool {
        !word.utf8.contains(0) && Paths.components(word).contains { $0 != "." && $0 != ".." }
    }

    /// What those servers do not find, in a service and in an image.
    var warnings: [String] {
        unplaced.map {
            "warning: mcpServers.\($0.server): \(TerminalText.quoted($0.word)) is relative to the directory "
                + "that mcp-server is started in, which is / then: write it with ${configDir}, or add \"cwd\""
        }
    }

    private func isUnplaced(_ word: String) -> Bool {
        Self.values(of: word).contains { value in
            !value.hasPrefix("/") && Self.isName(value)
                && [Paths.unmarked(base), Paths.currentDirectory].contains {
                    Paths.exists(Paths.absolute(value, relativeTo: $0))
                }
        }
    }
}

/// What is written with `${configDir}`.
extension ArgumentFiles {
    private mutating func addMarked(_ environment: [String: String]) {
        for value in environment.values { addMarked(value) }
    }

    /// Adds what a word says with it, also behind an option, in a list or in the code of a shell. Nothing
    /// else has the mark in it.
    private mutating func addMarked(_ word: String) {
        guard Paths.isMarked(base), Paths.unmarked(base) != "/" else { return }
        var rest = word
        while let found = rest.firstRange(of: base) {
            rest = String(rest[found.upperBound...])
            let name = String(rest[..<(rest.firstRange(of: base)?.lowerBound ?? rest.endIndex)])
            add(Paths.absolute(path(base + name, isWhole: word.hasPrefix(base)), relativeTo: "/"))
        }
    }

    /// Returns the longest beginning of a text that is a file; without one, what looks like a path.
    private func path(_ text: String, isWhole: Bool) -> String {
        if Paths.exists(text) { return text }
        let ends = text.utf8.indices.filter { ":,;= \t\n\"')".utf8.contains(text.utf8[$0]) }
        if let end = ends.last(where: { Paths.exists(String(text[..<$0])) }) { return String(text[..<end]) }
        // A folder may have a space in its name.
        let isPath = isWhole && !text.utf8.contains(UInt8(ascii: "\n"))
        let end = ends.first { !isPath || ":,;=".utf8.contains(text.utf8[$0]) }
        return String(text[..<(end ?? text.endIndex)])
    }
}

extension TemplateText {
    /// The text; before a placeholder, the folder that the text begins with. Nil if there is none.
    fileprivate var beginning: String? {
        if let literal { return literal }
        guard splat == nil, case .literal(let text)? = pieces.first,
            let slash = text.utf8.lastIndex(of: UInt8(ascii: "/"))
        else { return nil }
        return String(text[...slash])
    }
}
