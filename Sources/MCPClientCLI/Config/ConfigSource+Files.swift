import MCPCore
import Synchronization

/// The texts of the files that an entry reads, each of which is read once: a file that changes while the user
/// is asked does not change what was asked about.
final class FileTexts: Sendable {
    private struct Key: Hashable {
        let path: String
        let isPrivate: Bool
    }

    private let known = Mutex<[Key: Result<String, ConfigFileError>]>([:])

    /// Returns the text, or throws what the first attempt threw.
    func text(at path: String, shownAs name: String, isPrivate: Bool) throws(ConfigFileError) -> String {
        let key = Key(path: path, isPrivate: isPrivate)
        if let found = known.withLock({ $0[key] }) { return try found.get() }
        let result: Result<String, ConfigFileError>
        do throws(ConfigFileError) {
            result = .success(try ConfigFile.text(at: path, shownAs: name, isPrivate: isPrivate))
        } catch { result = .failure(error) }
        return try known.withLock { known in
            let first = known[key] ?? result
            known[key] = first
            return first
        }.get()
    }
}

/// What an entry of a configuration reads besides its own file.
extension ConfigSource.Entry {
    /// Returns an expansion of the texts of this entry.
    ///
    /// - Parameters:
    ///   - inputs: the values of `${input:ID}`.
    ///   - read: returns the text of a file, by the path as it is written and the absolute one.
    func expansion(
        _ environment: CommandEnvironment, _ inputs: [String: String], _ diagnostics: Diagnostics,
        read: ((_ path: String, _ absolute: String) throws(ConfigFileError) -> String)? = nil
    ) -> Expansion {
        let directory = place.directory
        var context = Expansion.Context(
            environment: environment.allVariables(), configDirectory: directory,
            readSecret: { path throws(ConfigFileError) in
                let absolute = ConfigPlace.absolute(path, in: directory)
                if let read { return try read(path, absolute) }
                return try text(at: absolute, shownAs: path, isPrivate: true)
            })
        context.workspaceFolder = place.project ?? environment.currentDirectory
        context.input = { id throws(ConfigFileError) in
            if let value = inputs[id] { return value }
            throw ConfigFileError(text: "set the variable \(ServerResolver.variable(ofInput: id))")
        }
        return Expansion(context, diagnostics: diagnostics)
    }

    /// Returns the text of the file of variables.
    func environmentText(in file: String) throws(ConfigFileError) -> String {
        let path = ConfigPlace.absolute(file, in: place.project ?? place.directory)
        return try text(at: path, shownAs: inlineText(file), isPrivate: false)
    }

    private func text(
        at path: String, shownAs name: String, isPrivate: Bool
    ) throws(ConfigFileError) -> String {
        if leavesProject(path) {
            throw ConfigFileError(text: "\(name) \(Self.leavingProject)")
        }
        return try texts.text(at: path, shownAs: name, isPrivate: isPrivate)
    }

    /// The variables of the user that its placeholders may read, each once.
    var variables: [String] {
        var names: [String] = []
        for placeholder in Expansion.placeholders(in: node) {
            let name: String? =
                switch placeholder.source {
                case .variable(let name, _): name
                case .input(let id): ServerResolver.variable(ofInput: id)
                case .userHome: "HOME"
                case .file, .configDirectory, .workspaceFolder, .unknown: nil
                }
            if let name, !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Whether it would mean something else in another file: because of a relative path, or of an input that
    /// the file declares.
    var dependsOnItsPlace: Bool {
        func isRelative(_ path: String?) -> Bool {
            path.map { !$0.hasPrefix("/") && !$0.hasPrefix("${") && !$0.hasPrefix("$env:") } ?? false
        }
        for placeholder in Expansion.placeholders(in: node) {
            switch placeholder.source {
            case .configDirectory, .input: return true
            case .file(let path): if isRelative(path) { return true }
            case .variable, .userHome, .workspaceFolder, .unknown: break
            }
        }
        let program = node["command"]?.string
        return isRelative(node["envFile"]?.string) || isRelative(node["cwd"]?.string)
            || isRelative(program) && program?.contains("/") ?? false
    }

    /// The files that its placeholders include, and its variables: those of its project decide, besides this
    /// entry, what it does. A file elsewhere, such as one with a token, belongs to the user; it is not read.
    struct Files {
        /// The files that its placeholders include, in the order of the entry.
        fileprivate(set) var included: [Inclusion] = []
        /// The path of `envFile`, as its placeholders are known before anything is used.
        fileprivate(set) var environmentPath: String?
        /// The text of `envFile`.
        fileprivate(set) var environment: String?
        /// The variables in `envFile`; without their values if the file is not one of the project.
        fileprivate(set) var variables: [(name: String, value: String?)] = []

        struct Inclusion {
            let path: String
            /// Nil if the file is not one of the project, or cannot be read.
            let text: String?
            /// Whether the path stays in the project.
            let isInside: Bool
        }

        /// The texts that decide what the entry does, in their order; nil for one that is not known.
        var texts: [String?] { included.map(\.text) + [environment] }
    }

    func files(_ environment: CommandEnvironment) -> Files {
        var files = Files()
        var included: [Files.Inclusion] = []
        let expanded = expansion(environment, [:], Diagnostics()) { path, absolute throws(ConfigFileError) in
            // What a path with .. leads to is compared, and not shown.
            let isInside = isOfProject(absolute)
            var text: String?
            defer { included.append(Files.Inclusion(path: path, text: text, isInside: isInside)) }
            guard isInside || place.project.map({ absolute.hasPrefix($0 + "/") }) ?? false else { return "" }
            let read = try self.text(at: absolute, shownAs: path, isPrivate: true)
            text = read
            return read
        }.expand(node)
        files.included = included
        // The file that counts is the one that its placeholders lead to.
        files.environmentPath = expanded["envFile"]?.string
        if let file = files.environmentPath, let text = try? environmentText(in: file) {
            let isOwn = isOfProject(ConfigPlace.absolute(file, in: place.project ?? place.directory))
            files.environment = text
            files.variables =
                ((try? EnvironmentFile.variables(text, shownAs: inlineText(file))) ?? []).map {
                    (name: $0.name, value: isOwn ? $0.value : nil)
                }
        }
        return files
    }

    /// Returns the absolute paths of the files that its placeholders include, and of `envFile`.
    func paths(_ environment: CommandEnvironment) -> [String] {
        var paths: [String] = []
        let expanded = expansion(environment, [:], Diagnostics()) { _, absolute throws(ConfigFileError) in
            paths.append(absolute)
            return ""
        }.expand(node)
        guard let file = expanded["envFile"]?.string else { return paths }
        return paths + [ConfigPlace.absolute(file, in: place.project ?? place.directory)]
    }

    /// Reports the files that only seem to be those of the project, before any of them is read: what a
    /// symbolic link leads to may be a secret of the user.
    func checkFiles(_ environment: CommandEnvironment, into diagnostics: Diagnostics) {
        for path in paths(environment) where leavesProject(path) {
            diagnostics.error("\(path.cleaned(maxBytes: 256)) \(Self.leavingProject)", at: position)
        }
    }

    private static let leavingProject =
        "leads out of the project through a symbolic link, which is not followed: name the file itself"

    private func leavesProject(_ path: String) -> Bool {
        !isOfProject(path) && Self.isWithin(place.project, Self.withoutDots(path))
    }

    /// Whether a path leads to a file of the project; one that leads nowhere yet is judged by its name.
    private func isOfProject(_ path: String) -> Bool {
        guard let real = MCPCore.Files.resolved(path) else {
            return Self.isWithin(place.project, Self.withoutDots(path))
        }
        return Self.isWithin(place.project.flatMap(MCPCore.Files.resolved), real)
    }

    private static func isWithin(_ directory: String?, _ path: String) -> Bool {
        directory.map { path.hasPrefix($0 == "/" ? $0 : $0 + "/") } ?? false
    }

    private static func withoutDots(_ path: String) -> String {
        var parts: [String] = []
        for part in MCPCore.Files.components(path) {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}
