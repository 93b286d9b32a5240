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

    @Test func withoutAnnotations() {
        var table = PolicyTable()
        table.trust("fs")
        #expect(
            table.policy(for: Tool("t"), of: Source()) == .ask(.destructiveAction, .openWorldAction, .network)
        )
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
