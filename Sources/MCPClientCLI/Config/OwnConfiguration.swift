import MCPCore

/// The configuration file of `mcp-client`, the only one that it ever changes. Comments in it stay, and
/// processes that run at the same time do not undo each other's changes.
struct OwnConfiguration {
    let place: ConfigPlace
    private let shown: String
    private let lock: ChangeLock

    init(_ environment: CommandEnvironment) throws(Failure) {
        guard let path = ConfigPlace.ownPath(environment) else {
            throw .usage(
                "cannot find the configuration: neither XDG_CONFIG_HOME nor HOME is set")
        }
        place = ConfigPlace(path: path, kind: .own, program: "mcp-client")
        shown = place.shown(in: environment)
        lock = ChangeLock(path, shownAs: shown, environment.variable)
    }

    /// Adds a server, behind the others.
    func add(_ name: String, _ entry: JSONValue) throws(Failure) {
        try lock.hold { () throws(Failure) in try insert(name, entry) }
    }

    private func insert(_ name: String, _ entry: JSONValue) throws(Failure) {
        let (text, root) = try read()
        if let list = root.flatMap({ ServerEntryReader.list(in: $0) }) {
            if list.value[name] != nil {
                throw .usage(
                    "\(shown) already has a server \(quoted(name))",
                    hint: "mcp-client config remove \(ShellWord.quote(name)) removes it")
            }
            let member = Self.member(name, entry, indent: 4)
            if let last = list.value.members?.last {
                try write(Self.inserting(member, behind: last, of: text))
            } else {
                try insert(member, into: list.value, of: text)
            }
        } else if let root {
            let list = "\"mcpServers\": {\n" + Self.member(name, entry, indent: 4) + "\n  },"
            try insert("  " + list, into: root, of: text)
        } else {
            try write(
                Array("{\n  \"mcpServers\": {\n\(Self.member(name, entry, indent: 4))\n  }\n}\n".utf8))
        }
    }

    /// Removes a server; returns false if there is none with this name.
    func remove(_ name: String) throws(Failure) -> Bool {
        try lock.hold { () throws(Failure) in try delete(name) }
    }

    private func delete(_ name: String) throws(Failure) -> Bool {
        let (text, root) = try read()
        guard let members = root.flatMap({ ServerEntryReader.list(in: $0) })?.value.members,
            let index = members.firstIndex(where: { $0.key == name })
        else { return false }
        let member = members[index]
        let start = text.offset(of: member.keyPosition)
        var end = JSONCSpan.end(of: text.bytes, valueAt: text.offset(of: member.value.position))
        // The comma behind it, and the rest of a line that has become empty.
        let next = JSONCSpan.skipBlank(text.bytes, from: end)
        let comma = UInt8(ascii: ",")
        var before: Int?
        if next < text.bytes.count, text.bytes[next] == comma {
            end = next + 1
        } else if index > 0 {
            // The one before becomes the last, which needs no comma.
            let last = text.offset(of: members[index - 1].value.position)
            before = JSONCSpan.skipBlank(text.bytes, from: JSONCSpan.end(of: text.bytes, valueAt: last))
        }
        var first = start
        while first > 0, ASCII.isBlank(text.bytes[first - 1]) { first -= 1 }
        if end < text.bytes.count, text.bytes[end] == UInt8(ascii: "\n"), first > 0,
            text.bytes[first - 1] == UInt8(ascii: "\n")
        {
            end += 1
        } else {
            first = start
        }
        var kept = Array(text.bytes[..<first])
        if let before, before < first, kept[before] == comma { kept.remove(at: before) }
        try write(kept + text.bytes[end...])
        return true
    }

    /// The name of a program in the file.
    struct ProgramName {
        let server: String
        let name: String
        /// What it is replaced by; nil if it stays.
        let path: String?
    }

    /// Replaces the names of programs by their paths; returns all names.
    ///
    /// - Parameter find: returns the absolute path of a program; nil if there is none.
    func fixPaths(_ find: (String) -> String?) throws(Failure) -> [ProgramName] {
        try lock.hold { () throws(Failure) in try replaceNames(find) }
    }

    private func replaceNames(_ find: (String) -> String?) throws(Failure) -> [ProgramName] {
        let (text, root) = try read()
        let members = root.flatMap { ServerEntryReader.list(in: $0) }?.value.members ?? []
        var bytes = text.bytes
        var names: [ProgramName] = []
        // From the end, so that the places before stay.
        for member in members.reversed() {
            guard let node = member.value["command"], let name = node.string, !name.contains("/"),
                !name.contains("$")
            else { continue }
            let path = find(name)
            names.insert(ProgramName(server: member.key, name: name, path: path), at: 0)
            guard let path else { continue }
            let start = text.offset(of: node.position)
            let end = JSONCSpan.end(of: text.bytes, valueAt: start)
            bytes.replaceSubrange(start ..< end, with: Array(JSONValue.string(path).serialized().utf8))
        }
        if bytes != text.bytes { try write(bytes) }
        return names
    }

    private func read() throws(Failure) -> (SourceText, ConfigNode?) {
        guard (try? Files.info(place.path)) != nil else { return (SourceText(name: shown, bytes: []), nil) }
        let text: SourceText
        do throws(ConfigFileError) {
            text = SourceText(
                name: shown,
                bytes: try ConfigFile.bytes(at: place.path, shownAs: shown, atMost: ConfigPlace.maxBytes))
        } catch { throw .usage(inlineText(error.text), hint: "nothing was changed") }
        let diagnostics = Diagnostics()
        guard let root = JSONCParser.parse(text, into: diagnostics), !diagnostics.hasErrors,
            root.members != nil
        else {
            throw .usage(
                "\(shown) cannot be changed, because it has errors",
                details: diagnostics.sorted.prefix(3).map { inlineText($0.rendered) })
        }
        return (text, root)
    }

    private static func member(_ name: String, _ entry: JSONValue, indent: Int) -> String {
        let blank = String(repeating: " ", count: indent)
        return "\(blank)\(JSONValue.string(name).serialized()): \(entry.serialized())"
    }

    /// Returns the text with a member behind the last one, and behind a comment on its line.
    private static func inserting(
        _ member: String, behind last: ConfigMember, of text: SourceText
    ) -> [UInt8] {
        let bytes = text.bytes
        let end = JSONCSpan.end(of: bytes, valueAt: text.offset(of: last.value.position))
        let next = JSONCSpan.skipBlank(bytes, from: end)
        let hasComma = next < bytes.count && bytes[next] == UInt8(ascii: ",")
        let start = hasComma ? next + 1 : end
        var line = start
        while line < bytes.count, ASCII.isBlank(bytes[line]) { line += 1 }
        if bytes[line...].starts(with: "//".utf8) {
            line = bytes[line...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        }
        if line < bytes.count, bytes[line] != UInt8(ascii: "\n"), bytes[line] != UInt8(ascii: "\r") {
            line = start
        }
        let head = bytes[..<start] + (hasComma ? [] : [UInt8(ascii: ",")]) + bytes[start ..< line]
        return Array(head) + Array("\n\(member)\(hasComma ? "," : "")".utf8) + bytes[line...]
    }

    /// Inserts a member behind the brace that opens an object.
    private func insert(_ member: String, into object: ConfigNode, of text: SourceText) throws(Failure) {
        let brace = text.offset(of: object.position)
        let separator = member.hasSuffix(",") || object.members?.isEmpty != false ? "" : ","
        let added = Array("\n\(member)\(separator)".utf8)
        try write(Array(text.bytes[...brace] + added + text.bytes[(brace + 1)...]))
    }

    /// Replaces the file, or the one that it is a link to. A new one is private: it may contain secrets.
    private func write(_ bytes: [UInt8]) throws(Failure) {
        if (try? Files.info(place.path)) != nil { return try OutputFile(place.path).write(bytes) }
        do throws(IOError) {
            SystemFile.makeDirectories(place.directory)
            try Files.replace(place.path, with: bytes, mode: 0o600)
        } catch {
            throw Failure(
                code: .unreachable, kind: .output, message: "cannot write \(shown): \(error.reason)")
        }
    }
}

/// The extent of values in JSON with comments that was parsed before.
enum JSONCSpan {
    /// Returns the offset behind white space and comments.
    static func skipBlank(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "/"): index = skipComment(bytes, from: index)
            default: return index
            }
        }
        return index
    }

    /// Returns the offset behind the value that begins at an offset.
    static func end(of bytes: [UInt8], valueAt start: Int) -> Int {
        var index = start
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
                index += 1
                if depth == 0 { return index }
            case UInt8(ascii: "\""):
                index = skipString(bytes, from: index)
                if depth == 0 { return index }
            case UInt8(ascii: "/"): index = skipComment(bytes, from: index)
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return index }
                index += 1
            default: index += 1
            }
        }
        return bytes.count
    }

    private static func skipString(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }

    private static func skipComment(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start + 2
        let isBlock = start + 1 < bytes.count && bytes[start + 1] == UInt8(ascii: "*")
        while index < bytes.count {
            if !isBlock, bytes[index] == 0x0A { return index }
            if isBlock, bytes[index] == UInt8(ascii: "/"), bytes[index - 1] == UInt8(ascii: "*") {
                return index + 1
            }
            index += 1
        }
        return bytes.count
    }
}
