/// The secrets of a server behind this one, and the removal of them from its errors and from what is written
/// down.
///
/// The results of calls that succeed stay as they are: they are what the caller asked for.
package struct UpstreamSecrets: Sendable {
    /// The bytes of the shortest text that is removed from errors.
    private static let minBytes = 4
    /// The bytes of the shortest line that is removed of a secret with several lines, such as a key.
    private static let minLineBytes = 8
    /// The characters of the shortest part of a base64 text that is removed.
    private static let minEncodedBytes = 8
    private let known: KnownSecrets

    init(_ secrets: [String] = []) {
        self.init(secrets, mask: "•••", minBytes: Self.minBytes)
    }

    /// - Parameters:
    ///   - mask: what stands for a secret.
    ///   - minBytes: the bytes of the shortest one.
    package init(_ secrets: [String], mask: String, minBytes: Int) {
        var rules = KnownSecrets.Rules()
        rules.mask = mask
        rules.maxCount = .max
        rules.minBytes = minBytes
        // The word in front of a token is part of the secret, and no secret.
        rules.masksParts = false
        // A program writes lines.
        let lines = secrets.flatMap { secret in
            secret.split(whereSeparator: \.isNewline).map(String.init).filter {
                $0 != secret && $0.utf8.count >= Self.minLineBytes
            }
        }
        let texts = secrets + lines
        let plain = texts + texts.flatMap { Self.credentials(of: $0) }
        known = KnownSecrets(plain + plain.flatMap { Self.encoded($0) }, rules: rules)
    }

    /// Returns what the credentials of HTTP say (RFC 7617): `user:password`, and the password.
    private static func credentials(of text: String) -> [String] {
        let words = text.split(separator: " ", maxSplits: 1)
        // Whatever is in front of it, it may be the value that follows "Basic".
        guard let word = words.last, let bytes = Base64.decode(word.utf8),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return [] }
        return [bytes[...], bytes[(colon + 1)...]].compactMap { String(validating: $0, as: UTF8.self) }
    }

    /// Returns what base64 makes of a text at each of the three places where it may begin, such as a password
    /// behind the name of its user: up to the end, and the part that does not depend on what follows.
    private static func encoded(_ text: String) -> [String] {
        let all = (0 ..< 3).flatMap { before -> [String] in
            let bytes = [UInt8](repeating: 0, count: before) + text.utf8
            // Of the first characters, some bits are of what is in front.
            let last = Base64.encode(bytes).dropFirst(before == 0 ? 0 : before + 1)
            let part = last.prefix { $0 != "=" }.dropLast(bytes.count.isMultiple(of: 3) ? 0 : 1)
            return [String(last), String(part)]
        }
        let ofURLs = all.map { String($0.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }) }
        return Set(all + ofURLs).filter { $0.utf8.count >= minEncodedBytes }
    }

    var isEmpty: Bool { known.isEmpty }

    /// Returns a text without the secrets.
    package func mask(_ text: String) -> String { known.mask(text) }

    /// Returns an error without the secrets.
    func mask(_ error: MCPError) -> MCPError {
        if known.isEmpty { return error }
        var copy = error
        copy.message = mask(error.message)
        copy.data = error.data.map { masked($0) }
        return copy
    }

    /// Returns a result without the secrets if it reports a failure (`isError`). What the protocol defines in
    /// it stays, since a secret may be the same word.
    func mask(failed result: RawJSON) -> RawJSON {
        guard !known.isEmpty, result["isError"]?.value == .bool(true) else { return result }
        let text = String(decoding: result.bytes, as: UTF8.self)
        return mask(text) == text ? result : RawJSON(masked(result.value, as: .result))
    }

    private func masked(_ value: JSONValue, as part: FailurePart) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map { masked($0, as: part) })
        case .object(let members):
            var copy = JSONObject()
            for (key, value) in members {
                if !part.names.contains(key) {
                    copy[mask(key)] = masked(value)
                } else if let inner = part.parts[key] {
                    copy[key] = masked(value, as: inner)
                } else {
                    copy[key] = part.keeps(value, of: key) ? value : masked(value)
                }
            }
            return .object(copy)
        default: return masked(value)
        }
    }

    /// Returns a value without the secrets. Nearly all have none, and stay as they were written.
    ///
    /// - Parameter levels: the outer levels of objects whose names stay: those of the protocol.
    package func mask(_ json: RawJSON, namesFrom levels: Int = 0) -> RawJSON {
        let text = String(decoding: json.bytes, as: UTF8.self)
        return mask(text) == text ? json : RawJSON(masked(json.value, levels))
    }

    private func masked(_ value: JSONValue, _ levels: Int = 0) -> JSONValue {
        switch value {
        case .string(let text): return .string(mask(text))
        case .number(let number):
            // A secret of digits is a number for some programs.
            let whole = number.text.hasSuffix(".0") ? String(number.text.dropLast(2)) : number.text
            let shown = mask(whole)
            return shown.utf8.contains(where: ASCII.isDigit) ? value : .string(shown)
        case .array(let elements): return .array(elements.map { masked($0, levels) })
        case .object(let members):
            var copy = JSONObject()
            for (key, value) in members { copy[levels > 0 ? key : mask(key)] = masked(value, levels - 1) }
            return .object(copy)
        default: return value
        }
    }
}
