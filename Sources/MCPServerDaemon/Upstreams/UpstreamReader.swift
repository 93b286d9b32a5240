import MCPCore

/// Reads `mcpServers`: entries as other hosts have them, with additional keys.
struct UpstreamReader {
    let context: ConfigContext
    let sandboxes: SandboxCatalog

    private enum Restart: String, CaseIterable { case backoff, never }

    func readAll(_ node: ConfigNode) -> [UpstreamDefinition] {
        guard let members = node.members else {
            context.diagnostics.error("mcpServers must be an object, not \(node.kindName)", at: node.position)
            return []
        }
        var spellings: [String: String] = [:]
        return members.compactMap { member in
            checkName(member)
            let folded = member.key.lowercased()
            if let other = spellings.updateValue(member.key, forKey: folded), other != member.key {
                context.diagnostics.warning(
                    "mcpServers.\(member.key) and mcpServers.\(other) differ only in upper and lower case",
                    at: member.keyPosition)
            }
            return ObjectReader(member.value, path: "mcpServers.\(member.key)", context: context)
                .flatMap { read(member.key, $0) }
        }
    }

    private func checkName(_ member: ConfigMember) {
        if !member.key.isEmpty, member.key.utf8.count <= 64, !member.key.contains(where: \.isNewline) {
            return
        }
        context.diagnostics.error("the name of a server has 1 to 64 characters", at: member.keyPosition)
    }

    private func read(_ name: String, _ reader: ObjectReader) -> UpstreamDefinition? {
        var reader = reader
        reportForeignKeys(&reader)
        var isOff = reader.bool("disabled") ?? false
        if reader.bool("enabled") == false { isOff = true }
        var definition = UpstreamDefinition(name: name, place: .http(""))
        definition.prefix = prefix(&reader)
        definition.tools = patterns("tools", &reader)
        definition.resources = patterns("resources", &reader)
        definition.prompts = patterns("prompts", &reader)
        definition.rename = names(&reader)
        definition.annotations = annotations(&reader)
        definition.isRequired = reader.bool("required") ?? false
        definition.idle = reader.duration("idle")
        definition.restarts = reader.word("restart", as: Restart.self) != .never
        definition.timeout = duration("timeout", &reader) ?? definition.timeout
        definition.connectTimeout = duration("connectTimeout", &reader) ?? definition.connectTimeout
        definition.concurrency = reader.integer("concurrency", in: 1 ... 10_000) ?? definition.concurrency
        definition.isPerPrincipal = reader.bool("perPrincipal") ?? false
        definition.revision = revision(&reader)
        definition.pins = pins(name, &reader)
        let place = place(&reader, &definition)
        reader.finish()
        guard let place, !isOff else { return nil }
        definition.place = place
        return definition
    }

    // MARK: The connection

    private func place(
        _ reader: inout ObjectReader, _ definition: inout UpstreamDefinition
    ) -> UpstreamDefinition.Place? {
        let kind = reader.word("type", as: ServerEntry.Kind.self)
        let program = reader.string("command")
        let url = reader.string("url")
        let arguments = reader.strings("args") ?? []
        definition.secrets += Self.foreignTexts(["args", "url"], reader)
        let hasEnvironment = reader.members.contains { $0.key == "env" }
        secrets(in: "env", reader, &definition)
        let sandbox = sandboxes.sandbox(&reader)
        let environment = reader.childEnvironment(sandbox?.environment ?? [:])
        let directory = reader.string("cwd").map(context.absolute)
        definition.headers = headers(&reader, &definition)
        let has = (program: reader.hasKey("command"), url: reader.hasKey("url"))
        if has.program == has.url {
            context.diagnostics.error(
                has.program
                    ? "\(reader.path) has both \"command\" and \"url\"; keep one of them"
                    : "\(reader.path) needs \"command\", for a program, or \"url\"", at: reader.position)
            return nil
        }
        if let kind, kind.isProgram != has.program {
            context.diagnostics.error(
                "\(reader.pathOf("type")) is \"\(kind.rawValue)\", but the server has "
                    + (has.program ? "a \"command\"" : "a \"url\""), at: reader.place(of: "type"))
        }
        if let program {
            if !definition.headers.isEmpty {
                refuse("headers", reader, "they are for servers with a \"url\"; use \"env\"")
            }
            definition.sandbox = sandbox
            return self.program(program, arguments, environment, directory, reader)
        }
        for key in ["args", "cwd", "sandbox"] where reader.hasKey(key) {
            refuse(key, reader, "it is for servers with a \"command\"")
        }
        if hasEnvironment { refuse("env", reader, "it is for servers with a \"command\"; use \"headers\"") }
        return url.flatMap { self.url($0, reader) }
    }

    /// Reads the revision to use, in the words of `mcp-client --protocol`.
    private func revision(_ reader: inout ObjectReader) -> ProtocolVersion? {
        guard let text = reader.string("protocol"), text != "auto" else { return nil }
        let version = ProtocolVersion(text)
        if !version.isKnown {
            let words = ["auto"] + ProtocolVersion.known.map(\.text)
            let list = words.map { "\"\($0)\"" }.joined(separator: ", ")
            let hint = Suggestion.hint(for: text, among: words)
            context.diagnostics.error(
                "\(reader.pathOf("protocol")) must be one of \(list)\(hint)",
                at: reader.place(of: "protocol"))
        }
        return version
    }

    private func refuse(_ key: String, _ reader: ObjectReader, _ text: String) {
        context.diagnostics.error("\(reader.pathOf(key)) has no effect: \(text)", at: reader.place(of: key))
    }

    private func program(
        _ program: String, _ arguments: [String], _ environment: [String: String], _ directory: String?,
        _ reader: ObjectReader
    ) -> UpstreamDefinition.Place? {
        if program.isEmpty || program.utf8.contains(0) || arguments.contains(where: { $0.utf8.contains(0) }) {
            context.diagnostics.error(
                "\(reader.path): a program needs a name, and its words must not contain NUL",
                at: reader.place(of: "command"))
            return nil
        }
        // As other hosts do, which start it in its directory.
        let path =
            program.contains("/")
            ? Paths.absolute(program, relativeTo: directory ?? context.directory) : program
        if let directory, let problem = Paths.directoryProblem(directory) {
            context.diagnostics.warning(
                "\(reader.pathOf("cwd")): \(directory) \(problem)", at: reader.place(of: "cwd"))
        }
        do throws(SpawnError) {
            let found = try ProcessLaunch(path, environment: environment).resolvedProgram()
            if let place = Paths.replaceable(found) {
                context.diagnostics.warning(
                    "\(reader.pathOf("command")): \(found) can be replaced by anyone: chmod o-w \(place)",
                    at: reader.place(of: "command"))
            }
        } catch {
            let hint = program.contains(" ") ? "; put its arguments in \"args\"" : ""
            // One bad server must not take down the others.
            context.diagnostics.warning(
                "\(reader.pathOf("command")): \(error)\(hint)", at: reader.place(of: "command"))
        }
        return .program(path, arguments: arguments, environment: environment, directory: directory)
    }

    private func url(_ url: String, _ reader: ObjectReader) -> UpstreamDefinition.Place? {
        do throws(ConfigFileError) {
            let (place, problem): (UpstreamDefinition.Place, String?)
            switch try ServerEntry.place(ofURL: url) {
            case .unix(let path, let endpoint):
                place = .unix(path: path, endpoint: endpoint)
                problem = ServerAddress.problem(ofSocket: path, endpoint: endpoint)
            case .http(let url): (place, problem) = (.http(url), ServerAddress.problem(ofURL: url))
            case .program: return nil
            }
            guard let problem else { return place }
            context.diagnostics.error("\(reader.pathOf("url"))\(problem)", at: reader.place(of: "url"))
            return nil
        } catch {
            context.diagnostics.error(
                "\(reader.pathOf("url"))\(error.text)", at: reader.place(of: "url"))
            return nil
        }
    }

    private func headers(
        _ reader: inout ObjectReader, _ definition: inout UpstreamDefinition
    ) -> [String: String] {
        secrets(in: "headers", reader, &definition)
        guard let entries = reader.object("headers") else { return [:] }
        var headers: [String: String] = [:]
        for entry in entries.members {
            guard let value = entry.value.string, ServerEntry.isField(entry.key, value) else {
                context.diagnostics.error(
                    "\(entries.path): \"\(entry.key)\" needs a field name and a text on one line",
                    at: entry.keyPosition)
                continue
            }
            if ServerAddress.isReservedField(entry.key) {
                context.diagnostics.error(
                    "\(entries.path): \(entry.key) is set by the server itself", at: entry.keyPosition)
                continue
            }
            if let other = headers.keys.first(where: { $0.lowercased() == entry.key.lowercased() }) {
                context.diagnostics.error(
                    "\(entries.path): \(entry.key) is the same field as \(other)", at: entry.keyPosition)
                continue
            }
            headers[entry.key] = value
        }
        return headers
    }

    /// Notes the values that came from outside the file: they may be secret. Credentials are, also in the
    /// file.
    private func secrets(in key: String, _ reader: ObjectReader, _ definition: inout UpstreamDefinition) {
        let members = reader.members.first { $0.key == key }?.value.members ?? []
        for member in members {
            guard case .string(let text) = member.value.kind else { continue }
            if key == "headers", member.key.lowercased().hasSuffix("authorization") {
                definition.secrets.append(text.value)
                // The word in front of a token is none.
                definition.secrets += text.value.split(separator: " ", maxSplits: 1).dropFirst().map(
                    String.init)
            }
            if text.foreign.isEmpty { continue }
            definition.secrets.append(text.value)
            definition.secrets += text.foreignTexts
        }
        definition.secrets.removeAll { $0.utf8.count < 4 }
    }

    /// Returns what in the values of these keys came from outside the file, of a URL also its parts. The rest
    /// of a word or of a URL is needed in messages about it.
    private static func foreignTexts(_ keys: [String], _ reader: ObjectReader) -> [String] {
        reader.members.filter { keys.contains($0.key) }.flatMap { member in
            (member.value.elements ?? [member.value]).flatMap { node in
                guard case .string(let text) = node.kind else { return [String]() }
                return text.foreignTexts + (member.key == "url" ? URLParts.foreign(in: text) : [])
            }
        }
    }

    // MARK: What is offered

    private func patterns(_ key: String, _ reader: inout ObjectReader) -> [String] {
        let patterns = reader.strings(key) ?? []
        if patterns.contains("") || patterns.contains("!") {
            context.diagnostics.error(
                "\(reader.pathOf(key)): a pattern is a name such as \"get_*\", or \"!get_*\" to leave it out",
                at: reader.place(of: key))
        }
        for pattern in patterns {
            let text = pattern.dropping(prefix: "!") ?? pattern
            guard let problem = Self.problem(ofPattern: text, isURI: key == "resources") else { continue }
            context.diagnostics.error(
                "\(reader.pathOf(key)): \(TerminalText.quoted(pattern)) \(problem)",
                at: reader.place(of: key))
        }
        return patterns
    }

    /// Returns why a pattern fits nothing: what it was to leave out would be offered.
    private static func problem(ofPattern text: String, isURI: Bool) -> String? {
        let isBlank = { (scalar: Unicode.Scalar?) in scalar?.properties.isWhitespace ?? false }
        if isBlank(text.unicodeScalars.first) || isBlank(text.unicodeScalars.last) {
            return "begins or ends with white space"
        }
        // Names of tools and prompts are what servers make of them.
        if isURI, !text.isEmpty, !NamePatterns.isPattern(text) {
            return "has white space or a control character, which no URI has"
        }
        return Glob.hasOpenSet(text) ? "has a [ without its ]; write [[] for the character" : nil
    }

    private func prefix(_ reader: inout ObjectReader) -> String? {
        guard let prefix = reader.string("prefix") else { return nil }
        if prefix.utf8.count > 32 || !Self.isName(prefix) {
            context.diagnostics.error(
                "\(reader.pathOf("prefix")) may have 32 letters, digits, _, - and .: names longer than 64 "
                    + "are refused by hosts", at: reader.place(of: "prefix"))
        }
        return prefix
    }

    private static func isName(_ text: String) -> Bool {
        text.utf8.allSatisfy { ASCII.isWord($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    private func names(_ reader: inout ObjectReader) -> [String: String] {
        guard let entries = reader.object("rename") else { return [:] }
        var names: [String: String] = [:]
        for entry in entries.members {
            guard let name = entry.value.string, !name.isEmpty, name.utf8.count <= 64, Self.isName(name)
            else {
                context.diagnostics.error(
                    "\(entries.pathOf(entry.key)) must be a name of 1 to 64 letters, digits, _, - and .",
                    at: entry.value.position)
                continue
            }
            names[entry.key] = name
        }
        return names
    }

    private func annotations(_ reader: inout ObjectReader) -> [String: ToolAnnotations] {
        guard var entries = reader.object("annotations") else { return [:] }
        var annotations: [String: ToolAnnotations] = [:]
        for entry in entries.members { annotations[entry.key] = entries.toolAnnotations(entry.key) }
        return annotations
    }

    /// Reads the definitions of the lock file. A file that cannot be used stops the start: without it,
    /// everything would be offered.
    private func pins(_ name: String, _ reader: inout ObjectReader) -> UpstreamPins? {
        guard let file = reader.string("lock") else { return nil }
        var problem: String
        do throws(ConfigFileError) {
            let bytes = try context.readBytes(file, atMost: Self.maxLockBytes)
            do throws(UpstreamPins.Flaw) {
                return try UpstreamPins(lockFile: bytes, server: name)
            } catch {
                problem = "\(file) \(error)"
            }
        } catch {
            problem = error.text
        }
        context.diagnostics.error("\(reader.pathOf("lock")): \(problem)", at: reader.place(of: "lock"))
        return nil
    }

    /// The largest size of a lock file, which is that of `mcp-client lock`.
    static let maxLockBytes = 16 << 20

    // MARK: Other hosts

    /// Reads a duration; other hosts write numbers, in seconds or in milliseconds.
    private func duration(_ key: String, _ reader: inout ObjectReader) -> Duration? {
        if let node = reader.node(key), case .number(let number) = node.kind {
            // Part of many entries that are pasted: it must not stop this server.
            context.diagnostics.warning(
                "\(reader.pathOf(key)) is ignored: hosts disagree about the unit of \(number); write "
                    + "\"60s\" or \"500ms\"", at: node.position)
            return nil
        }
        return reader.duration(key)
    }

    private func reportForeignKeys(_ reader: inout ObjectReader) {
        let aliases =
            ServerEntry.urlNames.dropFirst().map { ($0, "\"url\"") }
            + ServerEntry.typeNames.dropFirst().map { ($0, "\"type\"") }
        let advice =
            aliases + [
                ("allowedTools", "\"tools\": [\"NAME\"]"), ("disabledTools", "\"tools\": [\"!NAME\"]"),
                ("excludeTools", "\"tools\": [\"!NAME\"]"), ("includeTools", "\"tools\": [\"NAME\"]"),
                ("envFile", "\"env\" with ${file:PATH}"), ("oauth", "\"headers\" with a token"),
                ("requestTimeout", "\"timeout\""), ("connectionTimeout", "\"connectTimeout\""),
            ]
        for (key, ours) in advice {
            if let place = reader.foreign(key) {
                context.diagnostics.error("\(reader.pathOf(key)): use \(ours) instead", at: place)
            }
        }
        for key in ["autoApprove", "alwaysAllow", "trust"] {
            if let place = reader.foreign(key) {
                context.diagnostics.warning(
                    "\(reader.pathOf(key)) has no effect: the host of each caller decides what it asks",
                    at: place)
            }
        }
        for key in ["description", "dev", "gallery", "version"] { _ = reader.foreign(key) }
    }
}
