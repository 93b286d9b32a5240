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
}

extension AccessRights: ResourceView {
    func showsAll(beginning: String) -> Bool { visible.fitAll(beginning: beginning) }

    func shows(uri: String) -> Bool { shows(uri, scopes: []) }

    func mayShow(beginning: String) -> Bool { visible.mayFit(uriBeginning: beginning) }
}
