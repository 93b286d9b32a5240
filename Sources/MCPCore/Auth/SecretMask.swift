/// Masks secrets in texts for people and logs: by their names in URLs, in forms and in JSON, and by the
/// prefixes that well-known services give their tokens.
///
/// Values of `code` and `state` that are no text, such as the numbers of JSON-RPC errors, stay.
package enum SecretMask {
    package static let mask = "[redacted]"
    private static let names: Set<String> = [
        "code", "state", "code_verifier", "device_code", "access_token", "refresh_token", "id_token", "token",
        "client_secret", "registration_access_token", "assertion", "client_assertion", "subject_token",
        "actor_token", "password", "passwd", "pass", "pwd", "secret", "key", "api_key", "apikey", "api-key",
        "access_key", "auth", "authorization", "sig", "signature", "x-amz-signature", "x-amz-security-token",
        "x-goog-signature",
    ]

    /// The prefixes of tokens, and the least number of characters that follow.
    private static let prefixes: [(text: [UInt8], rest: Int)] = [
        ("ghp_", 4), ("gho_", 4), ("ghu_", 4), ("ghs_", 4), ("ghr_", 4), ("github_pat_", 4), ("glpat-", 4),
        ("sk-", 6), ("sk_live_", 4), ("sk_test_", 4), ("rk_live_", 4), ("xoxa-", 4), ("xoxb-", 4),
        ("xoxp-", 4), ("xoxr-", 4), ("xoxs-", 4), ("xapp-", 4), ("AKIA", 12), ("ASIA", 12), ("AIza", 20),
        ("ya29.", 10), ("npm_", 20), ("pypi-", 20), ("hf_", 16), ("eyJ", 10),
    ].map { (Array($0.0.utf8), $0.1) }

    /// Masks tokens that begin as those of well-known services do, wherever they stand in a text.
    package static func tokens(_ text: String, mask: String = mask) -> String {
        let bytes = Array(text.utf8)
        var masked: [UInt8] = []
        var copied = 0
        var at = 0
        while at < bytes.count {
            guard at == 0 || !ASCII.isLetterOrDigit(bytes[at - 1]), let end = tokenEnd(bytes, at) else {
                at += 1
                continue
            }
            masked += bytes[copied ..< at] + mask.utf8
            (copied, at) = (end, end)
        }
        if copied == 0 { return text }
        return String(decoding: masked + bytes[copied...], as: UTF8.self)
    }

    /// Returns the offset behind the token that begins at `start`; nil if there is none.
    private static func tokenEnd(_ bytes: [UInt8], _ start: Int) -> Int? {
        for prefix in prefixes where bytes[start...].starts(with: prefix.text) {
            let first = start + prefix.text.count
            var end = first
            while end < bytes.count, ASCII.isWord(bytes[end]) || "-.".utf8.contains(bytes[end]) {
                end += 1
            }
            // A word such as sk-learn has no digit.
            let isToken =
                end - first >= prefix.rest
                && (prefix.text.count > 3 || bytes[first ..< end].contains { (0x30 ... 0x39).contains($0) })
            if isToken { return end }
        }
        return nil
    }

    /// Masks the query and the fragment of a URL, or of a text with one URL in it.
    package static func url(_ text: String) -> String {
        guard let start = text.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return text }
        return text[...start] + form(String(text[text.index(after: start)...]))
    }

    /// Masks the target of a request line; other lines stay.
    package static func requestLine(_ line: String) -> String {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        return parts.map(url).joined(separator: " ")
    }

    /// Masks the values of `application/x-www-form-urlencoded`.
    package static func form(_ text: String) -> String {
        var masked = ""
        var rest = text[...]
        while true {
            let end = rest.firstIndex { "&;#".contains($0) } ?? rest.endIndex
            let pair = rest[..<end]
            if let equals = pair.firstIndex(of: "="), isSecret(formName(pair[..<equals])) {
                masked += pair[...equals] + mask
            } else {
                masked += pair
            }
            guard end < rest.endIndex else { return masked }
            masked.append(rest[end])
            rest = rest[rest.index(after: end)...]
        }
    }

    private static func formName(_ name: Substring) -> String {
        // Also in the fragment of a URL in which a query has ended.
        PercentCoding.decode(name.utf8) ?? String(name)
    }

    /// Masks the texts of members with a secret name; the text may be a part of JSON.
    package static func json(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var masked: [UInt8] = []
        var at = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "\"") else {
                masked.append(bytes[at])
                at += 1
                continue
            }
            let end = stringEnd(bytes, at)
            masked += bytes[at ..< end]
            let name = String(decoding: bytes[at ..< end], as: UTF8.self)
            at = end
            var value = end
            while value < bytes.count, isSpace(bytes[value]) || bytes[value] == UInt8(ascii: ":") {
                value += 1
            }
            guard value > end, value < bytes.count, bytes[value] == UInt8(ascii: "\""),
                let decoded = (try? JSONValue(parsing: name))?.stringValue, isSecret(decoded)
            else { continue }
            masked += bytes[end ..< value] + "\"\(mask)\"".utf8
            at = stringEnd(bytes, value)
        }
        return String(decoding: masked, as: UTF8.self)
    }

    /// Returns the offset behind the string that begins at `start`.
    private static func stringEnd(_ bytes: [UInt8], _ start: Int) -> Int {
        var at = start + 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
            at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(at + 1, bytes.count)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    static func isSecret(_ name: String) -> Bool { names.contains(name.lowercased()) }
}
