import MCPCore

/// Proposes paths.
struct FileCandidates {
    /// The largest number of names of a directory that are looked at.
    static let maxNames = 10_000

    private let environment: CommandEnvironment

    init(_ environment: CommandEnvironment) { self.environment = environment }

    /// Returns the paths that begin with `current`; hidden files only if it names one.
    func files(_ current: String, onlyDirectories: Bool = false) -> [Candidate] {
        let slash = current.lastIndex(of: "/")
        let head = slash.map { String(current[...$0]) } ?? ""
        let start = slash.map { String(current[current.index(after: $0)...]) } ?? current
        guard let names = try? Files.names(in: directory(head)).names else { return [] }
        return names.prefix(Self.maxNames).filter { name in
            name.hasPrefix(start) && (start.hasPrefix(".") || !name.hasPrefix("."))
        }.sorted().compactMap { name in
            let isDirectory = SystemFile.isDirectory(directory(head) + "/" + name)
            if onlyDirectories, !isDirectory { return nil }
            return Candidate(
                value: head + name + (isDirectory ? "/" : ""), isPartial: isDirectory, isPath: true)
        }
    }

    private func directory(_ head: String) -> String {
        if head.hasPrefix("~/"), let home = environment.variable("HOME") { return home + head.dropFirst() }
        if head.hasPrefix("/") { return head }
        return environment.currentDirectory + "/" + head
    }
}
