public import MCPCore

/// The user's policies for tools, and the servers that are trusted.
///
/// The first of these that applies decides: an entry for the tool, the policy that came with a host tool, an
/// entry for the source, the tool's annotations, the default of the source.
public struct PolicyTable: Sendable {
    private struct Entry: Sendable {
        let pattern: Glob
        /// Whether the pattern is for the name alone, without the source.
        var isForName = false
        let policy: ToolPolicy
    }

    private var tools: [Entry] = []
    private var sources: [ToolSourceID: ToolPolicy] = [:]
    private var trusted: Set<ToolSourceID> = []
    /// A policy that takes precedence over everything except an entry for a tool; nil for the usual order.
    public var override: ToolPolicy?
    /// Whether an entry, or `override`, that asks does so whatever was decided in earlier runs, and says what
    /// the tool may do, as without it.
    package var insists = false

    /// Creates a table without policies.
    public init() {}

    /// Sets a policy for the tools whose `source/name` matches a pattern, in which `*` matches any text. The
    /// first matching entry applies.
    public mutating func set(_ policy: ToolPolicy, for pattern: String) {
        tools.append(Entry(pattern: Glob(onlyStars: pattern), policy: policy))
    }

    /// Sets a policy for the tools of all sources whose name matches a pattern, in which `*` is any text.
    package mutating func set(_ policy: ToolPolicy, forNames pattern: String) {
        tools.append(Entry(pattern: Glob(onlyStars: pattern), isForName: true, policy: policy))
    }

    /// Sets a policy for all tools of a source.
    public mutating func set(_ policy: ToolPolicy, forSource source: ToolSourceID) {
        sources[source] = policy
    }

    /// Trusts a server's statements about its tools.
    public mutating func trust(_ source: ToolSourceID) { trusted.insert(source) }

    /// Returns whether the hints about a source's tools are trusted: those of this program, and those of
    /// servers that the user marked as trusted.
    public func trusts(_ source: any ToolSource) -> Bool {
        source.kind == .host || source.kind == .server && trusted.contains(source.id)
    }

    /// Returns whether a question about a tool is put whatever was decided in earlier runs.
    func asksAnew(_ tool: Tool, of source: any ToolSource) -> Bool {
        if insists, case .ask? = set(for: tool, of: source) { true } else { false }
    }

    /// Returns the policy for a tool.
    public func policy(for tool: Tool, of source: any ToolSource) -> ToolPolicy {
        if let policy = set(for: tool, of: source) { return explained(policy, tool, source) }
        if let own = source.ownPolicy(of: tool.name) { return own }
        if let entry = sources[source.id] { return entry }
        return Self.derived(
            from: tool.annotations, needing: tool.declaredScopes, kind: source.kind, isTrusted: trusts(source)
        )
    }

    /// Returns the policy of the first entry for a tool, or the one for all.
    private func set(for tool: Tool, of source: any ToolSource) -> ToolPolicy? {
        let name = "\(source.id.name)/\(tool.name)"
        let entry = tools.first { $0.pattern.matches($0.isForName ? tool.name : name) }
        return entry?.policy ?? override
    }

    /// Returns a policy whose question says what it is about, as without the policy.
    private func explained(_ policy: ToolPolicy, _ tool: Tool, _ source: any ToolSource) -> ToolPolicy {
        guard insists, case .ask(let scopes) = policy, scopes.isEmpty else { return policy }
        return Self.derived(
            from: tool.annotations, needing: tool.declaredScopes, kind: source.kind, isTrusted: false)
    }

    /// Returns the policy implied by annotations and declared scopes. They are claims: without trust they
    /// never make a tool automatic.
    ///
    /// A tool that leaves open what it does is described as such, not as the worst that it could be.
    static func derived(
        from annotations: ToolAnnotations?, needing declared: Set<PermissionScope> = [],
        kind: ToolSourceKind, isTrusted: Bool
    ) -> ToolPolicy {
        let isReadOnly = annotations?.readOnlyHint ?? false
        let isOpen = annotations?.readOnlyHint == nil && annotations?.destructiveHint == nil
        var scopes = declared
        if isOpen {
            if declared.isEmpty { scopes.insert(.undeclared) }
        } else if !isReadOnly, annotations?.destructiveHint ?? true {
            scopes.insert(.destructiveAction)
        }
        if annotations?.openWorldHint ?? !isOpen { scopes.formUnion([.openWorldAction, .network]) }
        if isTrusted, isReadOnly || scopes.isEmpty && kind == .host { return .automatic }
        return .ask(scopes.isEmpty ? [.hostTool] : scopes)
    }
}
