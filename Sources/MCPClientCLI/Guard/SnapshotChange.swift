import MCPCore

/// One difference between two snapshots of a server.
struct SnapshotChange: Sendable, Hashable {
    /// What the difference means to those who use the server.
    enum Weight: String, Sendable {
        /// Calls that worked may fail.
        case breaking
        /// A model reads something else, or may do more.
        case risky
        /// Nothing that worked is concerned.
        case compatible
    }

    var weight: Weight
    /// Such as `tool add`; empty for the server itself.
    var subject: String
    /// The difference in words.
    var text: String

    var json: JSONValue {
        ["weight": .string(weight.rawValue), "subject": .string(subject), "text": .string(text)]
    }

    var line: String { "\(subject.isEmpty ? "" : subject + ": ")\(text)" }
}

/// The comparison of two snapshots, in the words of their readers.
struct SnapshotComparison {
    private(set) var changes: [SnapshotChange] = []
    private var subject = ""

    /// Returns the differences from one snapshot to another one.
    static func changes(from old: ServerSnapshot, to new: ServerSnapshot) -> [SnapshotChange] {
        var comparison = SnapshotComparison()
        comparison.text("instructions", old.instructions, new.instructions)
        for kind in ServerSnapshot.Kind.allCases {
            // What is not known on one side cannot be compared.
            guard let before = old.definitions[kind], let after = new.definitions[kind] else { continue }
            comparison.list(kind, before, after)
            for text in (old.unreadable[kind] ?? []) + (new.unreadable[kind] ?? []) {
                comparison.add(.risky, text)
            }
        }
        return comparison.changes
    }

    /// Returns the differences between two definitions.
    static func changes(
        of kind: ServerSnapshot.Kind, _ name: String, from old: JSONValue, to new: JSONValue
    ) -> [SnapshotChange] {
        var comparison = SnapshotComparison()
        comparison.definition(kind, name, old, new)
        return comparison.changes
    }

    private mutating func add(_ weight: SnapshotChange.Weight, _ text: String) {
        changes.append(SnapshotChange(weight: weight, subject: subject, text: text))
    }

    private mutating func list(
        _ kind: ServerSnapshot.Kind, _ old: JSONObject, _ new: JSONObject
    ) {
        for name in Self.names(old, new) {
            subject = "\(kind.noun) \(inlineText(name))"
            switch (old[name], new[name]) {
            case (let before?, let after?): definition(kind, name, before, after)
            case (.some, nil): add(.breaking, "removed")
            case (nil, .some): add(.risky, "new")
            case (nil, nil): break
            }
        }
        subject = ""
    }

    private mutating func definition(
        _ kind: ServerSnapshot.Kind, _ name: String, _ old: JSONValue, _ new: JSONValue
    ) {
        guard old != new else { return }
        subject = "\(kind.noun) \(inlineText(name))"
        let count = changes.count
        for key in Self.names(old.objectValue, new.objectValue) where old[key] != new[key] {
            switch key {
            case "description", "title": text(key, old[key]?.stringValue, new[key]?.stringValue)
            case "inputSchema", "outputSchema": schema(key, old[key], new[key], "")
            case "annotations": hints(old[key], new[key])
            case "arguments" where kind == .prompts: arguments(old[key], new[key])
            case "_meta", "icons": add(.compatible, "\(key) changed")
            default: add(.risky, "\(inlineText(key)) \(Self.change(old[key], new[key]))")
            }
        }
        // Such as a member that is null in one of them.
        if changes.count == count { add(.risky, "changed") }
    }

    /// Returns the names of both objects in the order of their bytes, each spelling once.
    private static func names(_ old: JSONObject?, _ new: JSONObject?) -> [String] {
        var all = old ?? [:]
        for name in (new ?? [:]).keys where all[name] == nil { all[name] = .null }
        return all.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    // MARK: Texts

    private mutating func text(_ name: String, _ old: String?, _ new: String?) {
        guard old != new else { return }
        guard let new, !new.isEmpty else { return add(.risky, "\(name) removed") }
        guard let old, !old.isEmpty else { return add(.risky, "\(name) added: \(quoted(Self.short(new)))") }
        var text = "\(name) changed"
        if Self.hasURL(new), !Self.hasURL(old) { text += " and gained a URL" }
        if Self.hidden(new), !Self.hidden(old) { text += " and gained invisible characters" }
        let (before, after) = Self.differing(old, new)
        text += ": \(quoted(before)) became \(quoted(after))"
        add(.risky, text)
    }

    private static func hasURL(_ text: String) -> Bool { text.contains("://") || text.contains("www.") }

    static func hidden(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            scalar.properties.generalCategory == .format
                || scalar.value < 0x20 && !["\n", "\r", "\t"].contains(Character(scalar))
        }
    }

    /// Returns the parts in which two texts differ, with a little of what is around them.
    static func differing(_ old: String, _ new: String) -> (String, String) {
        let (a, b) = (Array(old.unicodeScalars), Array(new.unicodeScalars))
        var start = 0
        while start < min(a.count, b.count), a[start] == b[start] { start += 1 }
        var end = 0
        while end < min(a.count, b.count) - start, a[a.count - 1 - end] == b[b.count - 1 - end] { end += 1 }
        // Little is left out only where there is much.
        let first = start <= 24 ? 0 : start - 12
        let behind = end <= 24 ? end : 12
        func part(_ scalars: [Unicode.Scalar]) -> String {
            let last = min(scalars.count, scalars.count - end + behind)
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars[first ..< max(first, last)])
            return (first > 0 ? "…" : "") + short(String(text)) + (last < scalars.count ? "…" : "")
        }
        return (part(a), part(b))
    }

    private static func short(_ text: String) -> String { TerminalText.inline(text, limit: 100) }

    private static func change(_ old: JSONValue?, _ new: JSONValue?) -> String {
        guard let new else { return "removed" }
        guard let old else { return "added: \(shown(new))" }
        return "\(shown(old)) became \(shown(new))"
    }

    private static func shown(_ value: JSONValue) -> String {
        TerminalText.inline(value.serialized(), limit: 60)
    }

    // MARK: Hints

    private mutating func hints(_ old: JSONValue?, _ new: JSONValue?) {
        for key in Self.names(old?.objectValue, new?.objectValue) where old?[key] != new?[key] {
            if key == "title" {
                text("title", old?[key]?.stringValue, new?[key]?.stringValue)
            } else {
                add(.risky, "\(inlineText(key)) \(Self.change(old?[key], new?[key]))")
            }
        }
    }

    // MARK: Arguments

    private mutating func arguments(_ old: JSONValue?, _ new: JSONValue?) {
        func byName(_ list: JSONValue?) -> JSONObject {
            JSONObject((list?.arrayValue ?? []).map { (key: $0["name"]?.stringValue ?? "", value: $0) })
        }
        let (before, after) = (byName(old), byName(new))
        for name in Self.names(before, after) {
            let shown = inlineText(name)
            switch (before[name], after[name]) {
            case (let a?, let b?):
                if a["required"] != b["required"] {
                    let isRequired = b["required"]?.boolValue == true
                    add(
                        isRequired ? .breaking : .compatible,
                        "\(shown) is \(isRequired ? "now" : "no longer") required")
                }
                text("description of \(shown)", a["description"]?.stringValue, b["description"]?.stringValue)
            case (.some, nil): add(.breaking, "argument \(shown) removed")
            case (nil, let b?):
                let isRequired = b["required"]?.boolValue == true
                add(
                    isRequired ? .breaking : .compatible,
                    "new \(isRequired ? "required" : "optional") argument \(shown)")
            case (nil, nil): break
            }
        }
    }

    private mutating func schema(_ key: String, _ old: JSONValue?, _ new: JSONValue?, _ path: String) {
        guard let old, let new else { return add(.risky, "\(key) \(old == nil ? "added" : "removed")") }
        let isInput = key == "inputSchema"
        let place = path.isEmpty ? (isInput ? "arguments" : "result") : path
        let keys = Self.names(old.objectValue, new.objectValue)
        guard old.objectValue != nil, new.objectValue != nil, path.utf8.count < 1000 else {
            return add(.breaking, "\(place) \(Self.change(old, new))")
        }
        for keyword in keys where old[keyword] != new[keyword] {
            switch keyword {
            case "properties": properties(key, old, new, path)
            case "required":
                let before = Set((old[keyword]?.arrayValue ?? []).compactMap(\.stringValue))
                let after = Set((new[keyword]?.arrayValue ?? []).compactMap(\.stringValue))
                for name in after.subtracting(before).sorted() where old["properties"]?[name] != nil {
                    add(isInput ? .breaking : .compatible, "\(Self.join(path, name)) is now required")
                }
                for name in before.subtracting(after).sorted() where new["properties"]?[name] != nil {
                    add(isInput ? .compatible : .breaking, "\(Self.join(path, name)) is no longer required")
                }
            case "description", "title":
                text("\(keyword) of \(place)", old[keyword]?.stringValue, new[keyword]?.stringValue)
            case "enum": choices(place, old[keyword], new[keyword], isInput)
            case "items" where old[keyword]?.objectValue != nil && new[keyword]?.objectValue != nil:
                schema(key, old[keyword], new[keyword], path + "[]")
            default:
                add(
                    .breaking, "\(inlineText(keyword)) of \(place) \(Self.change(old[keyword], new[keyword]))"
                )
            }
        }
    }

    private mutating func properties(_ key: String, _ old: JSONValue, _ new: JSONValue, _ path: String) {
        let (before, after) = (old["properties"]?.objectValue ?? [:], new["properties"]?.objectValue ?? [:])
        let noun = key == "inputSchema" ? "argument" : "member of the result"
        let required = Set((new["required"]?.arrayValue ?? []).compactMap(\.stringValue))
        for name in Self.names(before, after) where before[name] != after[name] {
            let shown = Self.join(path, name)
            switch (before[name], after[name]) {
            case (.some, .some): schema(key, before[name], after[name], shown)
            case (.some, nil): add(.breaking, "\(noun) \(shown) removed")
            default:
                let isRequired = required.contains(name) && key == "inputSchema"
                let kind = isRequired ? "required " : key == "inputSchema" ? "optional " : ""
                add(
                    isRequired ? .breaking : .compatible,
                    "new \(kind)\(noun) \(shown)"
                )
            }
        }
    }

    private mutating func choices(_ place: String, _ old: JSONValue?, _ new: JSONValue?, _ isInput: Bool) {
        let (before, after) = (Set(old?.arrayValue ?? []), Set(new?.arrayValue ?? []))
        let gone = before.subtracting(after).map(Self.shown).sorted()
        let added = after.subtracting(before).map(Self.shown).sorted()
        if !gone.isEmpty {
            add(
                isInput ? .breaking : .compatible, "\(place) no longer allows \(gone.joined(separator: ", "))"
            )
        }
        if !added.isEmpty {
            add(isInput ? .compatible : .breaking, "\(place) now allows \(added.joined(separator: ", "))")
        }
        if gone.isEmpty, added.isEmpty { add(.compatible, "the order of the values of \(place) changed") }
    }

    private static func join(_ path: String, _ name: String) -> String {
        path.isEmpty ? inlineText(name) : "\(path).\(inlineText(name))"
    }
}
