import MCPCore
import MCPHarness
import Testing

/// Which policy applies.
@Suite struct PolicyTableTests {
    private struct Source: ToolSource {
        var id: ToolSourceID = "fs"
        var kind = ToolSourceKind.server
        var own: ToolPolicy?
        func tools() -> [Tool] { [] }
        func call(_ invocation: ToolInvocation) -> CallToolResult { .text("") }
        func ownPolicy(of tool: String) -> ToolPolicy? { own }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let hints: (readOnly: Bool, destructive: Bool, openWorld: Bool)
        let trusted: ToolPolicy
        let untrusted: ToolPolicy
        var testDescription: String { "\(hints)" }
    }

    static let rows: [Row] = [
        Row(hints: (true, true, true), trusted: .automatic, untrusted: .ask(.openWorldAction, .network)),
        Row(hints: (true, true, false), trusted: .automatic, untrusted: .ask(.hostTool)),
        Row(hints: (true, false, true), trusted: .automatic, untrusted: .ask(.openWorldAction, .network)),
        Row(hints: (true, false, false), trusted: .automatic, untrusted: .ask(.hostTool)),
        Row(
            hints: (false, true, true), trusted: .ask(.destructiveAction, .openWorldAction, .network),
            untrusted: .ask(.destructiveAction, .openWorldAction, .network)),
        Row(
            hints: (false, true, false), trusted: .ask(.destructiveAction),
            untrusted: .ask(.destructiveAction)),
        Row(
            hints: (false, false, true), trusted: .ask(.openWorldAction, .network),
            untrusted: .ask(.openWorldAction, .network)),
        Row(hints: (false, false, false), trusted: .ask(.hostTool), untrusted: .ask(.hostTool)),
    ]

    // H22
    @Test(arguments: rows) func hints(_ row: Row) {
        let tool = Tool(
            "t",
            annotations: ToolAnnotations(
                readOnlyHint: row.hints.readOnly, destructiveHint: row.hints.destructive,
                openWorldHint: row.hints.openWorld))
        var table = PolicyTable()
        #expect(table.policy(for: tool, of: Source()) == row.untrusted)
        #expect(table.policy(for: tool, of: Source(kind: .client)) == row.untrusted)
        table.trust("fs")
        #expect(table.policy(for: tool, of: Source()) == row.trusted)
        // Trust is for servers: what connects from elsewhere cannot be marked.
        #expect(table.policy(for: tool, of: Source(kind: .client)) == row.untrusted)
        #expect(table.policy(for: tool, of: Source(kind: .app)) == row.untrusted)
    }

    /// A tool that says nothing is described as such, not as the worst.
    @Test func withoutAnnotations() {
        var table = PolicyTable()
        table.trust("fs")
        #expect(table.policy(for: Tool("t"), of: Source()) == .ask(.undeclared))
        #expect(table.policy(for: Tool("t"), of: Source(kind: .client)) == .ask(.undeclared))
        #expect(PermissionScope.undeclared.explanation.contains("does not say what it does"))
        let title = Tool("t", annotations: ToolAnnotations(title: "T", idempotentHint: true))
        #expect(table.policy(for: title, of: Source()) == .ask(.undeclared))
        let external = Tool("t", annotations: ToolAnnotations(openWorldHint: true))
        #expect(
            table.policy(for: external, of: Source(kind: .client))
                == .ask(.undeclared, .openWorldAction, .network))
        // What it says about itself counts: a tool that changes something may do so irreversibly.
        let writing = Tool("t", annotations: ToolAnnotations(readOnlyHint: false, openWorldHint: false))
        #expect(table.policy(for: writing, of: Source()) == .ask(.destructiveAction))
    }

    /// The scopes that a tool declares are what the user is told, and never less than that.
    @Test func declaredScopes() {
        let tool = Tool("t", meta: [VendorKey.scopes: ["location", "contacts", "bad name", 7, ""]])
        let table = PolicyTable()
        #expect(table.policy(for: tool, of: Source(kind: .client)) == .ask(.location, .contacts))
        var reading = tool
        reading.annotations = ToolAnnotations(readOnlyHint: true, openWorldHint: false)
        #expect(table.policy(for: reading, of: Source(kind: .client)) == .ask(.location, .contacts))
        var many = tool
        many.meta = [VendorKey.scopes: .array((0 ..< 40).map { .string("s\($0)") })]
        #expect(many.declaredScopes.count == 16)
        many.meta = [VendorKey.timeout: 9_000_000]
        #expect(many.declaredTimeout == .seconds(600))
        many.meta = [VendorKey.timeout: -1]
        #expect(many.declaredTimeout == nil)
    }

    @Test func order() {
        let tool = Tool("delete", annotations: ToolAnnotations(readOnlyHint: true))
        let host = Source(id: "host", kind: .host, own: .automatic)
        var table = PolicyTable()
        table.set(.ask(.photos), forSource: "fs")
        #expect(table.policy(for: tool, of: Source()) == .ask(.photos))
        table.set(.deny(.files), for: "fs/*")
        table.set(.automatic, for: "fs/delete")
        // The first that matches counts.
        #expect(table.policy(for: tool, of: Source()) == .deny(.files))
        // What the program declared counts before the entry of its source.
        table.set(.deny(.files), forSource: "host")
        #expect(table.policy(for: tool, of: host) == .automatic)
        table.override = .deny([])
        #expect(table.policy(for: tool, of: host) == .deny([]))
        #expect(table.policy(for: tool, of: Source()) == .deny(.files))
    }
}
