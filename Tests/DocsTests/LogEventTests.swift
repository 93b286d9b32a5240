import Foundation
import Testing

/// The events of the server's log are short fixed terms, and the list in the documentation is complete.
@Suite struct LogEventTests {
    /// Those of debug builds.
    static let undocumented: Set<String> = ["census"]

    /// Returns the events that the sources of the server log.
    static func events() throws -> Set<String> {
        var found: Set<String> = []
        for folder in ["MCPServerDaemon", "MCPCore/Platform", "MCPCore/ConfigSyntax"] {
            let root = DocumentTests.root.appendingPathComponent("Sources/\(folder)")
            let files = try #require(
                FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                let calls = text.matches(of: /\blog\??\.(?:error|warning|info|debug)\(\s*"([^"]*)"/)
                found.formUnion(calls.map { String($0.1) })
                // The log's lines about itself.
                found.formUnion(text.matches(of: /\bLogLine\([^)]*event: "([^"]*)"/).map { String($0.1) })
            }
        }
        return found.subtracting(undocumented)
    }

    @Test func areShortTerms() throws {
        for event in try Self.events() {
            #expect(event.wholeMatch(of: /[a-z]+( [a-z]+){0,2}/) != nil, "\(event)")
        }
    }

    @Test func areDocumented() throws {
        let page = DocumentTests.root.appendingPathComponent("docs/operations.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let table = try #require(
            text.components(separatedBy: "| event | level | when | keys |").dropFirst().first
        )
        .components(separatedBy: "\n\n")[0]
        let listed = table.components(separatedBy: "\n").flatMap { row -> [String] in
            let cells = row.components(separatedBy: "|")
            guard cells.count > 2 else { return [] }
            return cells[1].matches(of: /`([^`]+)`/).map { String($0.1) }
        }
        #expect(Set(listed).count == listed.count, "an event is listed twice")
        #expect(Set(listed) == (try Self.events()))
    }
}
