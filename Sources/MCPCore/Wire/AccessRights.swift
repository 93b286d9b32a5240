/// The names that one caller may use and see.
struct AccessRights: Sendable {
    enum Decision: Sendable, Hashable {
        case allowed
        /// With all of these scopes, the caller could use the name.
        case lacks([String])
        /// For this caller, the name does not exist.
        case hidden
    }

    private let rules: [(scope: String, patterns: NamePatterns)]
    private let allowed: NamePatterns
    private let visible: NamePatterns
    private let granted: Set<String>
    /// Whether the caller can obtain further scopes: only then is it told of them.
    private let canAskForMore: Bool
    /// Equal for callers who see the same names.
    let viewKey: String

    /// - Parameters:
    ///   - rules: nil allows every name to every caller, unless its token has patterns of its own.
    ///   - granted: the scopes of the caller, and those that they imply.
    init(of principal: Principal, granted: Set<String>, rules: AccessRules?) {
        canAskForMore = principal.kind == .oauth
        self.granted = granted
        let own = principal.allowedNames
        self.rules = (rules?.rules ?? []).map { ($0.scope, NamePatterns($0.allow)) }
        var patterns = own ?? []
        if let rules {
            for rule in rules.rules where granted.contains(rule.scope) { patterns += rule.allow }
            // A token may do what nobody needs a token for.
            patterns += rules.anonymous
            if rules.rules.isEmpty, own == nil, principal.kind != .anonymous { patterns = ["*"] }
        } else if own == nil {
            patterns = ["*"]
        }
        allowed = NamePatterns(patterns)
        if canAskForMore, let rules {
            patterns += rules.rules.flatMap(\.allow)
            visible = NamePatterns(patterns)
            viewKey = "oauth " + visible.key
        } else {
            visible = allowed
            viewKey = "\(granted.sorted().joined(separator: " ")) " + visible.key
        }
    }

    /// Whether every name may be used, as far as rules about names say.
    var allowsAllNames: Bool { allowed.fitAll }

    /// Whether a list shows everything, unless an item requires scopes of its own.
    var showsAllNames: Bool { visible.fitAll }

    /// Decides about the use of a name.
    ///
    /// - Parameter scopes: the scopes that the item itself requires.
    func decision(on name: String, scopes: [String] = []) -> Decision {
        var missing: [String] = []
        if !allowed.fit(name) {
            guard canAskForMore, let rule = rules.first(where: { $0.patterns.fit(name) }) else {
                return .hidden
            }
            missing.append(rule.scope)
        }
        guard !missing.isEmpty || !scopes.allSatisfy(granted.contains) else { return .allowed }
        guard canAskForMore else { return .hidden }
        return .lacks(missing + scopes.filter { !missing.contains($0) })
    }

    /// Returns whether lists show an item with this name.
    func shows(_ name: String, scopes: [String] = []) -> Bool {
        visible.fit(name) && (canAskForMore || scopes.allSatisfy(granted.contains))
    }

    /// Returns whether lists show every name that begins with this text.
    func showsAll(beginning: String) -> Bool { visible.fitAll(beginning: beginning) }

    /// Returns whether lists show a template, which some URI that the caller may use may match.
    func shows(template: String) -> Bool {
        visible.mayFit(beginning: String(template.prefix { $0 != "{" }))
    }
}

/// Patterns for names.
struct NamePatterns: Sendable {
    private let texts: [String]
    private let globs: [Glob]
    /// Whether every name fits.
    let fitAll: Bool

    init(_ texts: [String]) {
        self.texts = texts
        globs = texts.map { Glob($0) }
        fitAll = texts.contains("*")
    }

    var key: String { texts.joined(separator: " ") }

    /// Whether a text can be a pattern. Names have no spaces, and lists of patterns are separated by them.
    static func isPattern(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    func fit(_ name: String) -> Bool {
        fitAll || !Self.hasDotSegment(name) && globs.contains { $0.matches(name) }
    }

    /// Returns whether a pattern fits every name that begins with this text.
    func fitAll(beginning: String) -> Bool {
        fitAll
            || texts.contains { text in
                guard text.last == "*" else { return false }
                let start = text.dropLast()
                return !start.contains { "*?[".contains($0) } && beginning.utf8.starts(with: start.utf8)
            }
    }

    /// Returns whether a name that begins with this text may fit.
    func mayFit(beginning: String) -> Bool {
        fitAll
            || texts.contains { text in
                let start = text.prefix { !"*?[".contains($0) }
                return start.utf8.starts(with: beginning.utf8) || beginning.utf8.starts(with: start.utf8)
            }
    }

    /// Whether a URI has a part `.` or `..`, which a server may resolve to another URI (RFC 3986, section
    /// 5.2.4).
    private static func hasDotSegment(_ name: String) -> Bool {
        guard name.utf8.contains(UInt8(ascii: ":")) else { return false }
        let decoded = name.lowercased().replacing("%2e", with: ".").replacing("%2f", with: "/")
            .replacing("%5c", with: "/").replacing("\\", with: "/")
        let path = decoded.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").contains { $0 == "." || $0 == ".." || $0.hasSuffix(":..") }
    }
}
