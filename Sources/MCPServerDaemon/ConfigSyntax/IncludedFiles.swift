import MCPCore

/// The further files of a configuration (`include`), merged into it.
///
/// A file adds keys to the configuration, and entries to objects that both have, such as `tools`. What two
/// files define is an error, so that the order of the files means nothing. Relative names are relative to the
/// directory of the main file everywhere.
struct IncludedFiles {
    /// The most files of one configuration.
    static let maxFiles = 256

    let context: ConfigContext
    let expansion: Expansion

    /// An absolute path, in which the last component may be a pattern, and where it is written.
    struct Pattern {
        var path: String
        var position: SourcePosition
    }

    /// Returns what `include` of a tree names.
    func patterns(of root: ConfigNode) -> [Pattern] {
        guard let node = root["include"].map({ expansion.expand($0, path: "include") }) else { return [] }
        guard let elements = node.elements else {
            context.diagnostics.error(
                "include must be an array of files such as \"conf.d/*.jsonc\", not \(node.kindName)",
                at: node.position)
            return []
        }
        return elements.compactMap { element in
            guard let text = element.string, !text.isEmpty, !text.utf8.contains(0) else {
                context.diagnostics.error("a file in include must be a string", at: element.position)
                return nil
            }
            return Pattern(path: context.absolute(text), position: element.position)
        }
    }

    /// Returns the tree with all files that patterns name.
    func merged(_ root: ConfigNode, _ patterns: [Pattern]) -> ConfigNode {
        guard let members = root.members, let node = root["include"] else { return root }
        var result = root
        result.kind = .object(members.filter { $0.key != "include" })
        var seen: Set<FileIdentity> = []
        // In the order of the patterns, and each in the order of its names.
        let paths = patterns.flatMap { pattern in
            self.paths(pattern.path, at: pattern.position).map { ($0, pattern.position) }
        }
        for (path, position) in paths {
            context.includes(path)
            guard seen.insert(FileIdentity(path)).inserted else { continue }
            if seen.count > Self.maxFiles {
                context.diagnostics.error(
                    "include names more than \(Self.maxFiles) files", at: node.position)
                return result
            }
            if let file = read(path, at: position) { result = merge(file, into: result) }
        }
        return result
    }

    private func read(_ path: String, at position: SourcePosition) -> ConfigNode? {
        do throws(ConfigFileError) {
            let source = SourceText(name: path, bytes: try ConfigFile.bytes(at: path, shownAs: path))
            guard var root = JSONCParser.parse(source, into: context.diagnostics) else { return nil }
            guard let members = root.members else {
                context.diagnostics.error(
                    "the file must contain an object, not \(root.kindName)", at: root.position)
                return nil
            }
            if let nested = members.first(where: { $0.key == "include" }) {
                context.diagnostics.error(
                    "only the main file may have \"include\"", at: nested.keyPosition)
            }
            root.kind = .object(members.filter { $0.key != "include" && $0.key != "$schema" })
            return root
        } catch {
            context.diagnostics.error("include: \(error.text)", at: position)
            return nil
        }
    }

    // MARK: Names

    private func paths(_ pattern: String, at position: SourcePosition) -> [String] {
        guard pattern.contains("*") else { return [pattern] }
        let directory = Paths.parent(of: pattern)
        guard !directory.contains("*"), !pattern.contains("**"), let last = Paths.components(pattern).last
        else {
            context.diagnostics.error(
                "include: only the name of a file may contain *: \(pattern)", at: position)
            return []
        }
        let glob = Glob(last)
        do throws(IOError) {
            let names = try Files.names(in: directory).names
            // Hidden files are what editors leave behind.
            let fitting = names.filter { glob.matches($0) && !$0.hasPrefix(".") }
            return fitting.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\(directory)/\($0)" }
        } catch {
            // Nothing that fits, as in an empty directory; but the name may be wrong.
            if Paths.directoryProblem(directory) == Paths.isMissing {
                context.diagnostics.warning(
                    "include: \(directory) does not exist, so \(last) adds nothing", at: position)
                return []
            }
            context.diagnostics.error("include: \(directory) cannot be listed: \(error.reason)", at: position)
            return []
        }
    }

    // MARK: Merging

    /// Adds the members of a file; those of objects that both have are added one by one.
    private func merge(_ file: ConfigNode, into root: ConfigNode) -> ConfigNode {
        var members = root.members ?? []
        for member in file.members ?? [] {
            guard let index = members.firstIndex(where: { $0.key == member.key }) else {
                members.append(member)
                continue
            }
            guard case .object(var entries) = members[index].value.kind,
                case .object(let more) = member.value.kind
            else {
                report(member, member.key, members[index])
                continue
            }
            for entry in more {
                if let other = entries.first(where: { $0.key == entry.key }) {
                    report(entry, "\(member.key).\(entry.key)", other)
                } else {
                    entries.append(entry)
                }
            }
            members[index].value.kind = .object(entries)
        }
        var result = root
        result.kind = .object(members)
        return result
    }

    private func report(_ member: ConfigMember, _ path: String, _ other: ConfigMember) {
        context.diagnostics.error(
            "\(path) is defined at \(other.keyPosition) already", at: member.keyPosition)
    }
}
