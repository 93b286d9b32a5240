/// The rules that say which tools, resources and prompts the callers of a server may use.
///
/// ```swift
/// let rules = AccessRules(
///     [.init(scope: "docs:read", allow: ["docs:*", "search"]), .init(scope: "tools:run", allow: ["*"])])
/// ```
///
/// A name is that of a tool or a prompt, or the URI of a resource. In a pattern, `*` stands for any text, `?`
/// for one character, and `[a-z]` and `[!a-z]` for one character in or not in a set. A URI that servers may
/// take for another one, as `.` or `..` is a part of it or a letter is encoded, fits no pattern but `*`.
public struct AccessRules: Sendable, Hashable {
    /// What one scope allows.
    public struct Rule: Sendable, Hashable {
        /// The scope.
        public let scope: String
        /// The patterns of the names that it allows.
        public let allow: [String]

        /// Creates a rule.
        public init(scope: String, allow: [String]) {
            self.scope = scope
            self.allow = allow
        }
    }

    /// The rules. A caller who lacks a scope is referred to the first rule that allows the name.
    public let rules: [Rule]
    /// The patterns of the names that callers without a token may use. If there are none, each request
    /// requires a token.
    public let anonymous: [String]

    /// Creates rules.
    public init(_ rules: [Rule], anonymous: [String] = []) {
        self.rules = rules
        self.anonymous = anonymous
    }
}

/// A decision about the access of a caller, for an audit log. It never contains a token (AUTH-43).
public struct AccessEvent: Sendable {
    /// Whether access was allowed.
    public let isAllowed: Bool
    /// The caller; nil if its token was refused.
    public let principal: Principal?
    /// The JSON-RPC method; nil if the request was refused before its message was read.
    public let method: String?
    /// The name of the tool or the prompt, or the URI of the resource.
    public let name: String?
    /// The reason for a refusal, in a few fixed words and the names of scopes.
    public let reason: String?

    package init(
        isAllowed: Bool, principal: Principal?, method: String? = nil, name: String? = nil,
        reason: String? = nil
    ) {
        self.isAllowed = isAllowed
        self.principal = principal
        self.method = method
        self.name = name
        self.reason = reason
    }

    /// The id of the caller's access token (`jti`), if it has one.
    public var tokenID: String? { principal?.claims["jti"]?.stringValue }
}
