import MCPCore

/// What may be shown of a server's configuration: everything but the values that may be secret.
enum MaskedEntry {
    /// Returns an entry as JSON whose secrets are masked.
    static func json(_ node: ConfigNode) -> JSONValue {
        guard case .object(var object) = node.json else { return node.json }
        for key in ["env", "headers"] {
            guard case .object(var members)? = object[key] else { continue }
            for (name, value) in members {
                members[name] = .string(MaskedText.value(value.stringValue ?? value.serialized()))
            }
            object[key] = .object(members)
        }
        if let words = object["args"]?.arrayValue {
            object["args"] = .array(MaskedText.words(words.map { $0.stringValue ?? "" }).map { .string($0) })
        }
        for key in ServerEntry.urlNames {
            if let address = object[key]?.stringValue { object[key] = .string(MaskedText.url(address)) }
        }
        return .object(maskingOthers(of: object) { _, text in MaskedText.value(text) })
    }

    /// Masks the texts under names of secrets, at any depth, outside the members that are masked as a whole:
    /// `oauth` has one, and so may members that mean nothing here.
    private static func maskingOthers(
        of object: JSONObject, _ mask: (_ name: String, _ text: String) -> String
    ) -> JSONObject {
        let whole = ["env", "headers", "command", "args"] + ServerEntry.urlNames
        func masked(_ name: String, _ value: JSONValue, _ isInside: Bool = false) -> JSONValue {
            let isSecret = isInside || MaskedText.isSecretName(name)
            switch value {
            case .string(let text): return isSecret ? .string(mask(isInside ? "secret" : name, text)) : value
            case .number: return isSecret ? .string(MaskedText.mask) : value
            case .array(let elements): return .array(elements.map { masked(name, $0, isInside) })
            case .object(let members):
                // Not all of what a login consists of is one.
                let areInside = isSecret && name != "oauth"
                return .object(
                    JSONObject(members.map { (key: $0.key, value: masked($0.key, $0.value, areInside)) }))
            default: return value
            }
        }
        return JSONObject(
            object.map { (key: $0.key, value: whole.contains($0.key) ? $0.value : masked($0.key, $0.value)) })
    }

    /// Returns the entry of a project as JSON. Only plain words under names that suggest a secret are masked;
    /// see `ServerOutline`.
    static func projectJSON(_ node: ConfigNode) -> JSONValue {
        guard case .object(var object) = node.json else { return node.json }
        for key in ["env", "headers"] {
            guard case .object(var members)? = object[key] else { continue }
            for (name, value) in members {
                let text = value.stringValue ?? value.serialized()
                let isField = key == "headers" && MaskedText.isSecretName(name)
                members[name] = .string(isField ? MaskedText.value(text) : MaskedText.literal(name, text))
            }
            object[key] = .object(members)
        }
        if let words = object["args"]?.arrayValue {
            object["args"] = .array(
                MaskedText.literalWords(words.map { $0.stringValue ?? "" }).map { .string($0) })
        }
        for key in ServerEntry.urlNames {
            if let address = object[key]?.stringValue {
                object[key] = .string(MaskedText.literalURL(address))
            }
        }
        return .object(maskingOthers(of: object, MaskedText.literal))
    }

    /// Whether an entry contains what may be secret: a value under the name of a secret that is no
    /// placeholder, or a masked part of its command line or its URL.
    static func hasSecret(_ entry: JSONValue) -> Bool {
        let named = ["env", "headers"].contains { key in
            entry[key]?.objectValue?.contains { member in
                let text = member.value.stringValue ?? ""
                return MaskedText.isSecretName(member.key) && MaskedText.value(text) != text
            } == true
        }
        let words = entry["args"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let addresses = ServerEntry.urlNames.compactMap { entry[$0]?.stringValue }
        return named || MaskedText.words(words) != words || addresses.contains { MaskedText.url($0) != $0 }
    }

    /// Returns one line: the program or the URL.
    static func line(_ node: ConfigNode) -> String {
        if let program = node["command"]?.string {
            let words = node["args"]?.elements?.map { $0.string ?? "" } ?? []
            return inlineText(
                ([program] + MaskedText.words(words)).map(ShellWord.quote).joined(separator: " "))
        }
        let address = ServerEntry.urlNames.lazy.compactMap { node[$0]?.string }.first
        return address.map { inlineText(MaskedText.url($0)) } ?? "(neither command nor url)"
    }

    /// Returns the words of a command line, of which those that may be secret are masked.
    static func line(of words: [String]) -> String {
        MaskedText.words(words).map(ShellWord.quote).joined(separator: " ")
    }
}
