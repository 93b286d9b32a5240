/// A pattern for paths: `*` and `?` stay within a component, `**` spans components.
///
/// `**/x` also matches `x`, and `dir/**` matches everything beneath `dir`. All states run in parallel over
/// the path, so a match takes time proportional to the length of the pattern times that of the path, whatever
/// they contain (no backtracking, CVE-2026-0621).
struct GlobPattern: Sendable, Hashable {
    private enum Token: Sendable, Hashable {
        case byte(UInt8)
        /// Any one character except `/`.
        case any
        /// Any run of bytes without `/`.
        case star
        /// Any run of bytes.
        case globstar
        /// Nothing, or anything that ends in `/`.
        case directories
    }

    static let maxBytes = 1_024

    let text: String
    private let tokens: [Token]
    /// Whether a component of the pattern begins with a dot; other patterns leave hidden files out.
    let namesHidden: Bool

    /// Creates a pattern, or returns `nil` if the text is empty, too long or absolute, or contains `..`.
    init?(_ text: String) {
        let components = Paths.components(text, omittingEmpty: false)
        guard !text.isEmpty, text.utf8.count <= Self.maxBytes,
            !components.contains(where: { $0.isEmpty || $0 == ".." })
        else { return nil }
        self.text = text
        namesHidden = components.contains { $0.utf8.first == UInt8(ascii: ".") }
        var tokens: [Token] = []
        for (index, component) in components.enumerated() {
            let isLast = index == components.count - 1
            if component == "**" {
                tokens.append(isLast ? .globstar : .directories)
                continue
            }
            for byte in component.utf8 {
                switch byte {
                case UInt8(ascii: "*"): tokens.append(.star)
                case UInt8(ascii: "?"): tokens.append(.any)
                default: tokens.append(.byte(byte))
                }
            }
            if !isLast { tokens.append(.byte(UInt8(ascii: "/"))) }
        }
        self.tokens = tokens
    }

    /// Returns whether the whole path matches; the path is relative and has no leading slash.
    func matches(_ path: some Collection<UInt8>) -> Bool {
        var active = [Bool](repeating: false, count: tokens.count + 1)
        active[0] = true
        skipEmpty(&active)
        for byte in path {
            var next = [Bool](repeating: false, count: tokens.count + 1)
            for index in tokens.indices where active[index] {
                switch tokens[index] {
                case .byte(let wanted): if byte == wanted { next[index + 1] = true }
                case .any: if byte != UInt8(ascii: "/"), byte & 0xC0 != 0x80 { next[index + 1] = true }
                case .star: if byte != UInt8(ascii: "/") { next[index] = true }
                case .globstar: next[index] = true
                case .directories:
                    next[index] = true
                    if byte == UInt8(ascii: "/") { next[index + 1] = true }
                }
            }
            // The remaining bytes of a character that `?` has matched.
            if byte & 0xC0 == 0x80 {
                for index in 1 ... tokens.count where active[index] && tokens[index - 1] == .any {
                    next[index] = true
                }
            }
            skipEmpty(&next, atComponentStart: byte == UInt8(ascii: "/"))
            active = next
        }
        return active[tokens.count]
    }

    /// Advances past tokens that may match nothing, without consuming a byte.
    private func skipEmpty(_ active: inout [Bool], atComponentStart: Bool = true) {
        for index in tokens.indices where active[index] {
            switch tokens[index] {
            case .star, .globstar: active[index + 1] = true
            case .directories: if atComponentStart { active[index + 1] = true }
            case .byte, .any: break
            }
        }
    }
}

/// The rules that decide which files of a directory are shown.
struct FileFilter: Sendable, Hashable {
    /// The files to show; if empty, every file that is not hidden.
    var include: [GlobPattern] = []
    var exclude: [GlobPattern] = []

    /// Returns whether the file at this relative path is shown.
    func allows(_ path: String) -> Bool {
        let bytes = Array(path.utf8)
        if exclude.contains(where: { $0.matches(bytes) }) { return false }
        let isHidden = Paths.components(path).contains { $0.utf8.first == UInt8(ascii: ".") }
        if isHidden { return include.contains { $0.namesHidden && $0.matches(bytes) } }
        return include.isEmpty || include.contains { $0.matches(bytes) }
    }

    /// Returns whether it is worth looking into this directory.
    func mayDescend(into path: String) -> Bool {
        let name = Paths.components(path).last ?? ""
        if name.utf8.first == UInt8(ascii: "."), !include.contains(where: \.namesHidden) { return false }
        let bytes = Array(path.utf8)
        return !exclude.contains { pattern in
            pattern.text.hasSuffix("/**") && pattern.matches(bytes + Array("/x".utf8))
        }
    }
}
