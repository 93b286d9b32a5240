import MCPCore

/// A directory whose files are resources.
struct FilesDefinition: Sendable, Hashable {
    static let defaultMaxBytes = 1 << 20

    var name: String
    var root: String
    var template: FileURITemplate
    var filter = FileFilter()
    /// The largest size of a file that can be read; larger files are only listed.
    var maxBytes = Self.defaultMaxBytes
    /// Whether subscribers are notified when files change.
    var watch = false
}

/// Reads the entries of `files`.
struct FilesReader {
    let context: ConfigContext

    func readAll(_ node: ConfigNode) -> [FilesDefinition] {
        guard let members = node.members else {
            context.diagnostics.error("files must be an object, not \(node.kindName)", at: node.position)
            return []
        }
        var prefixes: [String: String] = [:]
        return members.compactMap { member in
            guard let reader = ObjectReader(member.value, path: "files.\(member.key)", context: context),
                let definition = read(member.key, reader)
            else { return nil }
            if let other = prefixes.updateValue(member.key, forKey: definition.template.text) {
                context.diagnostics.error(
                    "files.\(member.key) has the same uri as files.\(other)", at: reader.place(of: "uri"))
            }
            return definition
        }
    }

    private func read(_ name: String, _ reader: ObjectReader) -> FilesDefinition? {
        var reader = reader
        let root = reader.string("root")
        let uri = reader.string("uri") ?? "\(name):///{+path}"
        let filter = FileFilter(include: patterns("include", &reader), exclude: patterns("exclude", &reader))
        let maxBytes = reader.size("maxBytes", in: 1 ... 1 << 30) ?? FilesDefinition.defaultMaxBytes
        let watch = reader.bool("watch") ?? false
        reader.finish()
        guard let root else {
            if !reader.members.contains(where: { $0.key == "root" }) {
                context.diagnostics.error("\(reader.path) has no \"root\"", at: reader.position)
            }
            return nil
        }
        let directory = context.absolute(root)
        if let problem = Paths.directoryProblem(directory) {
            context.diagnostics.error("\(reader.path).root: \(root) \(problem)", at: reader.place(of: "root"))
        }
        do throws(FileURITemplate.Flaw) {
            let template = try FileURITemplate(uri)
            checkNames(directory, filter, reader)
            return FilesDefinition(
                name: name, root: directory, template: template, filter: filter, maxBytes: maxBytes,
                watch: watch)
        } catch {
            context.diagnostics.error("\(reader.path).uri: \(uri) \(error.text)", at: reader.place(of: "uri"))
            return nil
        }
    }

    /// Warns of names that cannot be listed. A large tree is not looked at to its end.
    private func checkNames(_ directory: String, _ filter: FileFilter, _ reader: ObjectReader) {
        // What cannot be opened or listed is reported elsewhere, and by the log.
        guard context.purpose == .checking, let root = try? RootDirectory(directory) else { return }
        var walk = FileWalk(filter, limit: FileWalk.maxLooks) { path throws(RootError) in
            try root.children(of: path, atMost: DirectoryResources.maxNames)
        } info: { _ in
            nil
        }
        do { try walk.run(after: nil) } catch { return }
        guard walk.unreadableNames > 0 else { return }
        context.diagnostics.warning(
            "\(reader.path): \(FileWalk.leftOut(walk.unreadableNames))", at: reader.place(of: "root"))
    }

    private func patterns(_ key: String, _ reader: inout ObjectReader) -> [GlobPattern] {
        var patterns: [GlobPattern] = []
        for text in reader.strings(key) ?? [] {
            if let pattern = GlobPattern(text) {
                patterns.append(pattern)
            } else {
                context.diagnostics.error(
                    "\(reader.pathOf(key)): \"\(text)\" is not a relative pattern like \"**/*.md\"",
                    at: reader.place(of: key))
            }
        }
        return patterns
    }
}
