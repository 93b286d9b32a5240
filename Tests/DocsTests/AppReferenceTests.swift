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

    @Test(arguments: ["docs/client-tools.md", "docs/apps.md"])
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
