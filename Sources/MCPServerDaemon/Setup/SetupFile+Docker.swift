import MCPCore

/// The Dockerfile.
extension SetupFile {
    /// The user in the container; a number that a file of the host can have as its owner.
    private static let user: UInt32 = 65_532
    private static let directory = "/etc/mcp-server"

    static func docker(_ subject: Subject) -> String {
        let directories = directories(subject)
        let name = Paths.components(subject.configuration).last ?? "mcp.jsonc"
        return """
            # Dockerfile
            # Build the program with the Swift runtime included: make release
            FROM debian:bookworm-slim
            \(subject.needs.usesTLS ? packages : "")\
            \(groups(subject).comment)\
            RUN \(groups(subject).commands)useradd --uid \(user) --no-create-home --shell /usr/sbin/nologin \
            \(groups(subject).option)mcp \\
                && install -d -o mcp -g mcp \(directories.map(shellWord).joined(separator: " "))
            COPY mcp-server /usr/local/bin/mcp-server
            \(copy(escaped(name), "\(directory)/mcp.jsonc"))
            \(contents(subject).map { $0 + "\n" }.joined())\
            USER mcp
            \(reach(subject))
            VOLUME \(words(directories))
            \(variables(subject).map { $0 + "\n" }.joined())\
            ENV XDG_RUNTIME_DIR=/run/mcp
            STOPSIGNAL SIGTERM
            ENTRYPOINT [\(command(subject))]

            """
    }

    /// How clients reach the server.
    private static func reach(_ subject: Subject) -> String {
        if !subject.openPorts.isEmpty {
            let options = Set(subject.openPorts).sorted().map { "-p \($0):\($0)" }.joined(separator: " ")
            return "# The network reaches the server where its ports are published: docker run \(options)"
        }
        return """
            # The server listens on loopback or a unix socket: run the proxy in the same network namespace
            # (docker run --network container:PROXY), or share /run/mcp with it.
            """
    }

    /// For https and signatures of tokens.
    private static let packages = """
        RUN apt-get update && apt-get install -y --no-install-recommends libssl3 ca-certificates \\
            && rm -rf /var/lib/apt/lists/*

        """

    /// The groups of the sockets: the user must be in a group to give it a socket. A proxy in another
    /// container compares their numbers.
    private static func groups(_ subject: Subject) -> (comment: String, commands: String, option: String) {
        let groups = subject.needs.socketGroups.map { number in
            let name = Accounts.groupName(number)
            return (number: number, name: name == "\(number)" ? "group\(number)" : name)
        }
        if groups.isEmpty { return ("", "", "") }
        // The image may have the name, or the number with another name.
        let commands = groups.map { group in
            let words = "--non-unique --gid \(group.number) \(shellWord(group.name))"
            return "groupadd --force \(words) && groupmod \(words) \\\n    && "
        }
        // useradd makes a group of the user's name, unless it is told another one.
        let own = groups.contains { $0.name == "mcp" } ? "--gid mcp " : ""
        return (
            "# The groups of its sockets, with the numbers that they have here.\n", commands.joined(),
            "\(own)--groups \(shellWord(groups.map(\.name).joined(separator: ","))) "
        )
    }

    /// The words of the program, as JSON; nothing is replaced in them.
    private static func command(_ subject: Subject) -> String {
        (["/usr/local/bin/mcp-server"] + subject.words("\(directory)/mcp.jsonc"))
            .map { JSONValue.string($0).serialized() }.joined(separator: ", ")
    }

    /// The variables that every container has, and the one that the image sets.
    private static let given: Set<String> = ["PATH", "HOME", "HOSTNAME", "XDG_RUNTIME_DIR"]

    /// What to give to the container when it runs.
    private static func variables(_ subject: Subject) -> [String] {
        let variables = subject.needs.allVariables.filter { !given.contains($0.key) }
        if variables.isEmpty { return [] }
        func options(isNeeded: Bool) -> String {
            variables.filter { $0.value == isNeeded }.keys.sorted().map { "-e \($0)" }.joined(separator: " ")
        }
        let (needed, optional) = (options(isNeeded: true), options(isNeeded: false))
        return [
            "# Variables of the configuration, for docker run, or --env-file FILE of lines NAME=VALUE:"
        ]
            + (needed.isEmpty ? [] : ["#   \(needed)"])
            + (optional.isEmpty ? [] : ["#   \(optional) (with defaults)"])
    }

    /// Returns a name as a pattern that fits it alone: Docker reads all sources as patterns.
    private static func escaped(_ name: String) -> String {
        name.map { "*?[\\".contains($0) ? "[\($0 == "\\" ? "\\\\" : "\($0)")]" : "\($0)" }.joined()
    }

    /// Returns a pattern of `include`, whose last component has the wildcards, as one of Docker.
    private static func pattern(_ path: String) -> String {
        let name = Paths.components(path).last ?? ""
        let wildcards = name.replacing("\\", with: "\\\\").replacing("[!", with: "[^")
        return escaped(String(path.dropLast(name.count))) + wildcards
    }

    private static func copy(_ source: String, _ target: String) -> String {
        "COPY " + words([source, target])
    }

    /// Returns the words of an instruction: as an array of JSON where a space or a variable would be seen.
    private static func words(_ words: [String]) -> String {
        if words.allSatisfy({ $0.utf8.allSatisfy(isPlain) }) { return words.joined(separator: " ") }
        let escaped = words.map {
            JSONValue.string($0.replacing("\\", with: "\\\\").replacing("$", with: "\\$"))
        }
        return JSONValue.array(escaped).serialized()
    }

    /// Returns a word for the shell of `RUN`.
    private static func shellWord(_ word: String) -> String {
        if word.utf8.allSatisfy(isPlain) { return word }
        return "'\(word.replacing("'", with: "'\\''"))'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte >= 0x80 || "/._-*@+,:=".utf8.contains(byte)
    }

    /// The directories that the server writes to, in the image.
    private static func directories(_ subject: Subject) -> [String] {
        let roots = ["RuntimeDirectory": "/run", "StateDirectory": "/var/lib", "LogsDirectory": "/var/log"]
        let own = subject.needs.places.map { "\(roots[$0.setting] ?? "")/\($0.name)" }
        let others = subject.needs.writable.map { place($0, subject) }
        return ["/run/mcp"] + (own + others).filter { $0 != "/run/mcp" }
    }

    /// The place of a path in the image: what is written relative to the configuration is beside it there,
    /// and all else is where it is here.
    private static func place(_ path: String, _ subject: Subject) -> String {
        let base = Paths.parent(of: subject.configuration)
        if path == base { return directory }
        guard let name = path.dropping(prefix: base + "/") else { return Paths.unmarked(path) }
        // There are no links in the image.
        var components = Paths.components(directory)
        for component in Paths.components(name) {
            if component == ".." { _ = components.popLast() } else { components.append(component) }
        }
        return "/" + components.joined(separator: "/")
    }

    /// The name of a file or directory below the configuration's directory, from where it can be copied; nil
    /// for another one, and for one with secrets in it.
    private static func copied(_ part: String, _ subject: Subject) -> String? {
        let (base, path) = (Paths.unmarked(Paths.parent(of: subject.configuration)), Paths.unmarked(part))
        guard base != "/", !holdsSecrets(part, subject), let name = path.dropping(prefix: base + "/"),
            !Paths.components(name).contains("..")
        else { return nil }
        // Docker looks for the files that fit a pattern in this folder.
        let place = subject.patterns.contains(part) ? Paths.parent(of: path) : path
        guard place == base || isInContext(String(place.dropFirst(base.utf8.count + 1)), of: base) else {
            return nil
        }
        return subject.parts.contains(part) || canBeCopied(part, subject) ? name : nil
    }

    /// Whether Docker finds what is to be copied, and can copy it: it looks for the targets of links within
    /// the folder of the configuration, and copies files and folders alone.
    private static func isInContext(_ name: String, of folder: String) -> Bool {
        // Keep the file if it is missing, or if its folder cannot be opened.
        guard let root = try? RootDirectory(folder) else { return true }
        do { return try root.info(name).kind != .other } catch {
            switch error {
            case .outside, .notRegular: return false
            default: return true
            }
        }
    }

    /// Whether a file that only an argument names is one for the image: its user can read it, and it is
    /// nothing that the server writes.
    private static func canBeCopied(_ argument: String, _ subject: Subject) -> Bool {
        let place = place(argument, subject)
        return subject.arguments.readable.contains(argument)
            && !directories(subject).contains { $0 != directory && SandboxDefinition.isBeneath(place, $0) }
    }

    /// What is copied beside the configuration and the program.
    private static func copies(_ subject: Subject) -> [String] {
        let parts = subject.parts.filter { copied($0, subject) != nil }
        let arguments = subject.arguments.paths.subtracting(subject.parts).filter {
            copied($0, subject) != nil && place($0, subject) != "\(directory)/mcp.jsonc"
        }
        // A folder brings what is in it.
        let folders = (parts.filter { !subject.patterns.contains($0) } + arguments).map { place($0, subject) }
        return parts
            + arguments.filter { argument in
                let place = place(argument, subject)
                return !folders.contains { $0 != place && SandboxDefinition.isBeneath(place, $0) }
            }
    }

    /// Whether a secret would be copied with a file, a directory or the files of a pattern, whatever links
    /// lead to it or to them.
    private static func holdsSecrets(_ part: String, _ subject: Subject) -> Bool {
        let path = Paths.unmarked(part)
        return subject.secrets.map(Paths.unmarked).contains { secret in
            let written = (secret: secret, path: path)
            guard subject.patterns.contains(part) else {
                let real = (secret: Paths.resolved(secret) ?? secret, path: Paths.resolved(path) ?? path)
                return [written, real].contains { SandboxDefinition.isBeneath($0.secret, $0.path) }
            }
            // Docker copies hidden files too.
            let folders = [secret, path].map(Paths.parent(of:))
            guard FileIdentity(folders[0]) == FileIdentity(folders[1]),
                let name = Paths.components(secret).last, let pattern = Paths.components(path).last
            else { return false }
            return Glob(pattern).matches(name)
        }
    }

    /// What would be copied with a pattern of `include` that fits no file yet, as lines of comments: engines
    /// refuse to copy nothing.
    private static func emptyPatterns(_ subject: Subject) -> [String] {
        let lines = subject.emptyPatterns.sorted().compactMap { pattern in
            copied(pattern, subject).map { name in
                "#   " + line(copy(Self.pattern(name), Paths.parent(of: place(pattern, subject)) + "/"))
            }
        }
        if lines.isEmpty { return [] }
        return ["# No file fits these yet, and a COPY without one fails; with the first, take off the #:"]
            + lines
    }

    /// What belongs to the configuration and is not in it.
    private static func contents(_ subject: Subject) -> [String] {
        var lines: [String] = []
        for part in copies(subject) {
            guard !subject.emptyPatterns.contains(part), let name = copied(part, subject) else { continue }
            let target = place(part, subject)
            lines.append(
                subject.patterns.contains(part)
                    ? copy(pattern(name), Paths.parent(of: target) + "/") : copy(escaped(name), target))
        }
        lines.sort()
        lines += emptyPatterns(subject)
        if hasOwnRoot(subject) {
            lines += [
                "# The configuration also names its own folder, which is not copied as a whole: it may hold",
                "# secrets, and this file. Copy what of it the image needs: COPY FILE \(directory)/FILE",
            ]
        }
        let others = others(subject)
        if !others.isEmpty {
            lines.append("# The configuration also names these, which the image needs at these places:")
            lines += others.keys.sorted().map { "#   \($0)" }
        }
        if !subject.arguments.unplaced.isEmpty {
            lines.append(
                "# These are relative to the directory that the server is started in, / in the image:")
            lines += Set(subject.arguments.unplaced.map { "#   \(line($0.word))" }).sorted()
        }
        if !subject.secrets.isEmpty {
            lines.append(
                "# Secrets are not for an image. Mount them when it runs; their owner is \(user), mode 600:")
            lines += Set(subject.secrets.map { "#   -v " + mount(of: $0, subject) }).sorted()
            lines += [
                "# A file that is mounted on its own stays what it was when another takes its place, as at",
                "# token revoke: keep tokens in a folder that holds nothing else, and is mounted as a whole.",
            ]
        }
        return lines
    }

    /// The places of what is neither copied nor made nor mounted, with the paths here.
    private static func others(_ subject: Subject) -> [String: [String]] {
        let made = directories(subject)
        let secrets = subject.secrets.map { place($0, subject) }
        let copied = copies(subject).map { place($0, subject) } + ["\(directory)/mcp.jsonc"]
        let others = Set(subject.paths).union(subject.arguments.paths).filter { path in
            let place = place(path, subject)
            guard place != directory, !made.contains(place), !secrets.contains(place),
                !copied.contains(where: { SandboxDefinition.isBeneath(place, $0) })
            else { return false }
            // What it writes needs a directory only, and every image has these.
            let (folder, isOwn) = (Paths.parent(of: place), subject.needs.ownFiles.contains(path))
            let isMade =
                ServicePlace(place) != nil || made.contains(folder)
                || isOwn && ["/tmp", "/var/tmp"].contains(folder)
            return !isMade || subject.parts.contains(path) || subject.arguments.paths.contains(path)
        }
        return Dictionary(grouping: others) { line(place($0, subject)) }
    }

    /// Returns a text for a comment, which a line feed would end.
    private static func line(_ text: String) -> String {
        text.replacing("\n", with: "\\n").replacing("\r", with: "\\r")
    }

    /// Whether the folder of the configuration itself is one whose files are used.
    private static func hasOwnRoot(_ subject: Subject) -> Bool {
        (subject.roots + subject.arguments.paths).contains { place($0, subject) == directory }
    }

    /// What the image lacks, the other files of the configuration's folder; and what is named relatively and
    /// is in the image a directory of the system, with the configuration and its secrets in it.
    static func imageWarnings(_ subject: Subject) -> [String] {
        let base = Paths.parent(of: subject.configuration)
        let above = subject.parts.filter { part in
            guard part.hasPrefix(base + "/") else { return false }
            let place = place(part, subject)
            return place != directory && SandboxDefinition.isBeneath(directory, place)
        }
        var warnings = above.map { part in
            "warning: \(Paths.unmarked(part)) is above the folder of the configuration, and in the image "
                + "it is \(place(part, subject)) with all its files: put the configuration into it, or write "
                + "its whole path"
        }
        if hasOwnRoot(subject) {
            warnings.append(
                "warning: \(Paths.unmarked(base)) is the folder of the configuration, and not copied as a "
                    + "whole: add COPY lines for what the image needs of it")
        }
        let arguments = subject.arguments
        for (place, paths) in others(subject).sorted(by: { $0.key < $1.key })
        where paths.contains(where: arguments.paths.contains) {
            warnings.append(
                "warning: \(place), which the arguments of a command or server name, is not copied: the "
                    + "image needs it")
        }
        return warnings + arguments.warnings
    }

    private static func mount(of secret: String, _ subject: Subject) -> String {
        let (file, inside) = (Paths.unmarked(secret), place(secret, subject))
        let (folder, target) = (Paths.parent(of: file), Paths.parent(of: inside))
        // A mount of the configuration's whole directory would hide the files that the image has there.
        if target == directory { return "\(file):\(inside):ro" }
        if directories(subject).contains(target) { return "\(folder):\(target)" }
        return subject.secretFolders.contains(folder) ? "\(folder):\(target):ro" : "\(file):\(inside):ro"
    }
}
