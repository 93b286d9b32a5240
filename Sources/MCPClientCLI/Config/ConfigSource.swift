import MCPCore

/// The servers of one file, as they are written.
struct ConfigSource: Sendable {
    /// One server of a file.
    struct Entry: Sendable {
        let name: String
        let node: ConfigNode
        /// The place of its name, as `file:line:column`.
        let position: SourcePosition
        let place: ConfigPlace
        /// The files that were read for it: what is shown, what is remembered and what is used are the same.
        let texts = FileTexts()

        /// Whether the entry is switched off.
        var isDisabled: Bool {
            if case .bool(true) = node["disabled"]?.kind { return true }
            if case .bool(false) = node["enabled"]?.kind { return true }
            return false
        }

        /// Whether the server can be used by its name: a name of a project has only the form that no address
        /// and no file has.
        var hasUsableName: Bool {
            Target.canBeName(name) && (place.kind != .project || Target.isName(name))
        }
    }

    let place: ConfigPlace
    /// The servers, in the order of the file; in each group the earlier ones win.
    private(set) var entries: [Entry] = []
    /// Whether the file has a member that lists servers.
    private(set) var hasList = false
    /// The declared inputs, for `${input:ID}`.
    private(set) var inputs: [ConfigNode] = []
    /// The reasons why the file, or a part of it, cannot be used.
    private(set) var problems: [String] = []

    /// Reads a file; nil if it does not exist.
    init?(_ place: ConfigPlace, in environment: CommandEnvironment) {
        guard let info = try? Files.info(place.path) else { return nil }
        self.place = place
        let shown = place.shown(in: environment)
        if place.kind == .project, info.kind == .symlink {
            problems = ["\(shown) is a symbolic link, which is not followed in a project"]
            return
        }
        do throws(ConfigFileError) {
            let bytes = try ConfigFile.bytes(at: place.path, shownAs: shown, atMost: ConfigPlace.maxBytes)
            read(SourceText(name: shown, bytes: bytes), environment)
        } catch {
            problems = [error.text]
        }
    }

    /// Reads a text in the place of a file.
    init(_ place: ConfigPlace, text: SourceText, in environment: CommandEnvironment) {
        self.place = place
        read(text, environment)
    }

    private mutating func read(_ text: SourceText, _ environment: CommandEnvironment) {
        let diagnostics = Diagnostics()
        guard let root = JSONCParser.parse(text, into: diagnostics, acceptsMark: true) else {
            problems = diagnostics.sorted.map(\.rendered)
            return
        }
        problems = diagnostics.sorted.map(\.rendered)
        inputs = root["inputs"]?.elements ?? []
        // Claude Code keeps the servers that belong to one project in the file of the user.
        let projects = root["projects"]?.members ?? []
        var names: Set<String> = []
        let current = ConfigPlace.absolute(environment.currentDirectory, in: "/")
        let own = projects.filter { isAbove($0.key, current) }.sorted {
            $0.key.utf8.count > $1.key.utf8.count
        }
        for node in own.map(\.value) + [root] {
            guard let list = ServerEntryReader.list(in: node) else { continue }
            guard let members = list.value.members else {
                problems.append(
                    "\(list.value.position): error: \(list.key) must be an object, "
                        + "not \(list.value.kindName)")
                continue
            }
            hasList = true
            for member in members where names.insert(member.key).inserted {
                entries.append(
                    Entry(name: member.key, node: member.value, position: member.keyPosition, place: place))
            }
        }
    }

    private func isAbove(_ directory: String, _ current: String) -> Bool {
        place.kind == .host && directory.hasPrefix("/") && directory != "/"
            && (current == directory || current.hasPrefix(directory + "/"))
    }
}
