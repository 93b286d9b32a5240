package import MCPCore

/// What the schemas leave open about `_meta`: how keys are spelled, which are reserved, and what a trace is.
package enum MetaCheck {
    private static let reserved: Set = [
        "protocolVersion", "clientCapabilities", "clientInfo", "serverInfo", "logLevel", "subscriptionId",
        "related-task", "model-immediate-response",
    ]

    /// What is wrong with the `_meta` objects anywhere in a message. What a tool returns as its own data is
    /// not looked at.
    package static func problems(_ value: JSONValue, at path: String = "") -> [String] {
        if let elements = value.arrayValue {
            return elements.enumerated().flatMap { problems($0.element, at: "\(path)/\($0.offset)") }
        }
        guard let object = value.objectValue else { return [] }
        return object.keys.flatMap { key -> [String] in
            guard let member = object[key], !["structuredContent", "arguments"].contains(key) else {
                return []
            }
            let place = "\(path)/\(key)"
            guard key == "_meta", let meta = member.objectValue else { return problems(member, at: place) }
            return meta.keys.compactMap { problem($0, meta[$0]).map { "\(place): \($0)" } }
        }
    }

    private static func problem(_ key: String, _ value: JSONValue?) -> String? {
        let parts = key.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.last ?? ""
        guard isName(name) || (name.isEmpty && parts.count == 2) else { return "\(key) has no proper name" }
        if parts.count == 2 {
            let labels = parts[0].split(separator: ".", omittingEmptySubsequences: false)
            guard labels.allSatisfy(isLabel) else { return "\(key) has no proper prefix" }
            let isReserved = labels.count > 1 && ["modelcontextprotocol", "mcp"].contains(labels[1])
            if isReserved, parts[0] != "io.modelcontextprotocol" || !reserved.contains(String(name)) {
                return "\(key) is reserved"
            }
        } else if key == "traceparent", !isTrace(value?.stringValue ?? "") {
            return "traceparent is no trace context"
        }
        return nil
    }

    private static func isName(_ name: Substring) -> Bool {
        guard let first = name.first, let last = name.last, isAlphanumeric(first), isAlphanumeric(last) else {
            return false
        }
        return name.allSatisfy { isAlphanumeric($0) || "-_.".contains($0) }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        guard let first = label.first, let last = label.last, first.isASCII, first.isLetter else {
            return false
        }
        return isAlphanumeric(last) && label.allSatisfy { isAlphanumeric($0) || $0 == "-" }
    }

    private static func isAlphanumeric(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }

    /// W3C Trace Context: version, trace, parent and flags.
    private static func isTrace(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count).starts(with: [2, 32, 16, 2])
            && parts.prefix(4).allSatisfy { $0.allSatisfy { $0.isHexDigit && !$0.isUppercase } }
    }
}
