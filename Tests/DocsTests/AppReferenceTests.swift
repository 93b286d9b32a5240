import Foundation
import Testing

/// The pages about apps list every event, scope, field and `_meta` key that the code has, and no others.
@Suite struct AppReferenceTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: DocumentTests.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The texts in backquotes of a page.
    private static func terms(_ page: String) throws -> Set<String> {
        Set(try text(page).matches(of: /`([^`\n]+)`/).map { String($0.1) })
    }

    /// The cases of an enumeration.
    private static func cases(of type: String, in path: String) throws -> [String] {
        let source = try text(path)
        let start = try #require(source.range(of: "enum \(type)"), "\(path) has no \(type)")
        let rest = source[start.upperBound...]
        let body = rest[..<(rest.range(of: "\n}")?.lowerBound ?? rest.endIndex)]
        return body.matches(of: /\n    case ([A-Za-z]+)/).map { String($0.1) }
    }

    /// The cases and public properties of a type, without those of the types inside it.
    private static func members(of type: String, in path: String) throws -> [String] {
        let lines = try text(path).components(separatedBy: "\n")
        let start = try #require(
            lines.firstIndex { $0.firstMatch(of: /(struct|enum) ([A-Za-z]+)/)?.2 == Substring(type) },
            "\(path) has no \(type)")
        let indent = String(lines[start].prefix { $0 == " " })
        let body = lines[(start + 1)...].prefix { $0 != indent + "}" }
        return body.filter { $0.hasPrefix(indent + "    ") && !$0.hasPrefix(indent + "     ") }.flatMap {
            line in
            if let names = line.firstMatch(of: /^ +case ([A-Za-z]+(, [A-Za-z]+)*)/)?.1 {
                return names.split(separator: ", ").map(String.init)
            }
            // What an enumeration computes is in the reference of the library.
            if lines[start].contains("enum ") { return [] }
            let property = line.firstMatch(of: /public (?:internal\(set\) )?(?:let|var) ([A-Za-z]+)/)
            return property.map { [String($0.1)] } ?? []
        }
    }

    /// The texts in backquotes in the first cells of the tables between two texts.
    private static func table(_ page: String, from start: String, to end: String) throws -> [String] {
        let all = try text(page)
        let first = try #require(all.range(of: start), "\(page) has no \(start)")
        let last = try #require(all[first.upperBound...].range(of: end), "\(page) has no \(end)")
        return all[first.upperBound ..< last.lowerBound].split(separator: "\n").filter { $0.hasPrefix("|") }
            .flatMap { $0.dropFirst().prefix { $0 != "|" }.matches(of: /`([^`]+)`/).map { String($0.1) } }
    }

    @Test func eventsOfTheHarness() throws {
        let events = try Self.cases(of: "HarnessEvent", in: "Sources/MCPHarness/HarnessEvent.swift")
        #expect(events.count > 8)
        let listed = try Self.table("docs/tool-harness.md", from: "## Events", to: "\n## ")
        #expect(listed.sorted() == events.sorted())
    }

    @Test(arguments: [
        ("HostEvent", "Sources/MCPApps/Host/HostEvent.swift"),
        ("ViewEvent", "Sources/MCPApps/Bridge/ViewEvent.swift"),
    ])
    func eventsOfTheHost(type: String, path: String) throws {
        let terms = try Self.terms("docs/apps.md")
        let events = try Self.cases(of: type, in: path)
        #expect(events.count > 8)
        #expect(events.filter { !terms.contains($0) } == [])
    }

    /// The cases of other public enumerations, and the members of options and limits.
    @Test(arguments: [
        ("client-tools.md", "MCPCore/ClientTools/Provider/ClientToolProvider.swift", "Event", 3),
        ("client-tools.md", "MCPCore/ClientTools/Hub/ClientToolOptions.swift", "ClientToolOptions", 7),
        ("client-tools.md", "MCPCore/ClientTools/Hub/ClientToolCounts.swift", "ClientToolCounts", 10),
        ("client-tools.md", "MCPCore/ClientTools/Hub/ClientToolReport.swift", "ClientToolReport", 4),
        ("client-tools.md", "MCPCore/ClientTools/App/ClientToolInvocation.swift", "ClientToolInvocation", 5),
        (
            "client-tools.md", "MCPCore/ClientTools/App/ToolRegistrationPayload.swift",
            "ToolRegistrationPayload", 7
        ),
        ("tool-harness.md", "MCPHarness/HarnessEvent.swift", "ToolExecutionResult", 6),
        ("tool-harness.md", "MCPHarness/HarnessEvent.swift", "HarnessReply", 5),
        ("tool-harness.md", "MCPHarness/Policies/Approval.swift", "ApprovalRequest", 10),
        ("tool-harness.md", "MCPHarness/Models/LanguageModel.swift", "ModelEvent", 6),
        ("tool-harness.md", "MCPHarness/Models/HarnessError.swift", "HarnessError", 13),
        ("tool-harness.md", "MCPHarness/HarnessLimits.swift", "HarnessLimits", 9),
        ("tool-harness.md", "MCPHarness/HarnessOptions.swift", "HarnessOptions", 2),
        ("apps.md", "MCPApps/Host/AppHostOptions.swift", "AppHostOptions", 12),
        ("apps.md", "MCPApps/Host/AppHostOptions.swift", "AppHostError", 6),
        ("apps.md", "MCPApps/Host/HostQuestion.swift", "Subject", 6),
        ("apps.md", "MCPApps/Host/HostQuestion.swift", "QuestionAnswer", 5),
        ("apps.md", "MCPApps/Host/HostedCall.swift", "State", 8),
        ("apps.md", "MCPApps/Host/HostedView.swift", "ViewStop", 2),
        ("apps.md", "MCPApps/Types/HostContext.swift", "HostContext", 12),
        ("apps.md", "MCPApps/Embedding/AppBridgeHandlers.swift", "AppBridgeHandlers", 15),
        ("apps.md", "MCPApps/Types/UIResourceError.swift", "UIResourceError", 5),
        ("apps.md", "MCPApps/Policy/UICSPOptions.swift", "UICSPOptions", 4),
    ])
    func membersOfTypes(page: String, path: String, type: String, count: Int) throws {
        let terms = try Self.terms("docs/\(page)")
        let names = try Self.members(of: type, in: "Sources/\(path)")
        #expect(names.count >= count, "\(names)")
        // A name stands alone, after a dot, or before its arguments.
        let known = Set(terms.flatMap { $0.matches(of: /[A-Za-z]+/).map { String($0.0) } })
        #expect(names.filter { !known.contains($0) } == [])
    }

    @Test(arguments: ["docs/client-tools.md", "docs/tool-harness.md", "docs/apps.md"])
    func scopes(page: String) throws {
        let source = try Self.text("Sources/MCPCore/Tools/PermissionScope.swift")
        let scopes = source.matches(of: /static let ([A-Za-z]+): PermissionScope/).map { String($0.1) }
        #expect(scopes.count > 8)
        let terms = try Self.terms(page)
        #expect(scopes.filter { !terms.contains($0) } == [])
    }

    @Test func metaKeys() throws {
        let source = try Self.text("Sources/MCPCore/Tools/VendorKey.swift")
        let keys = source.matches(of: /= prefix \+ "([A-Za-z]+)"/).map { "mcpcore/\($0.1)" }
        #expect(keys.count > 7)
        let listed = try Self.table(
            "docs/client-tools.md", from: "## Providers without Swift", to: "## Stream Chat clients")
        #expect(Set(listed.filter { $0.hasPrefix("mcpcore/") }) == Set(keys))
    }

    @Test func fieldsOfTheEventsOfStreamClients() throws {
        let source = try Self.text("Sources/MCPCore/ClientTools/StreamChat/StreamChatEvent.swift")
        let quoted = source.matches(of: /"([a-z_.]+)"/).map { String($0.1) }
        let terms = try Self.terms("docs/client-tools.md")
        #expect(quoted.count > 10)
        // A channel's type, where its name has none.
        #expect(Set(quoted).subtracting(["messaging"]).filter { !terms.contains($0) } == [])
    }

    /// The methods that views send and receive, and the permissions of `_meta.ui`.
    @Test func methodsOfViews() throws {
        let page = try Self.text("docs/apps.md")
        let folder = DocumentTests.root.appendingPathComponent("Sources/MCPApps")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var methods: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            methods.formUnion(source.matches(of: /"(ui\/[a-z\/-]+)"/).map { String($0.1) })
        }
        // Those of the sandbox are between the page and its frame.
        methods = methods.filter { !$0.hasPrefix("ui/notifications/sandbox") }
        #expect(methods.count > 10)
        #expect(methods.filter { !page.contains("`\($0)`") } == [])
        let permissions = try Self.cases(of: "UIPermission", in: "Sources/MCPApps/Types/UIPermission.swift")
        #expect(permissions.count > 3)
        #expect(permissions.filter { !page.contains(".\($0)`") } == [])
    }

    /// The members of the events that `mcp-client agent --events jsonl` prints.
    @Test func membersOfTheEventLines() throws {
        let terms = try Self.terms("docs/tool-harness.md")
        let source = try Self.text("Sources/MCPClientCLI/Agent/AgentEventJSON.swift")
        let members = Set(source.matches(of: /"([a-z][A-Za-z]+)"[:,]/).map { String($0.1) })
        #expect(members.count > 8)
        #expect(members.filter { !terms.contains($0) } == [])
    }
}
