import Foundation
import MCPCore
import TestSupport
import Testing

/// What the documentation shows is what happens: consoles are run, Swift stands in an example that is
/// compiled.
@Suite struct DocumentTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let pages = [
        "README.md", "docs/quick-start.md", "docs/cli.md", "docs/checks.md", "docs/daemon.md",
        "docs/operations.md",
        "docs/architecture.md", "docs/tasks.md", "docs/subscriptions.md", "docs/logging-and-completion.md",
        "docs/elicitation.md", "docs/tls.md", "docs/tool-harness.md", "docs/client.md",
        "docs/client-tools.md", "docs/apps.md", "docs/authorization.md", "docs/upstreams.md",
        "docs/sandbox.md", "docs/instances.md", "docs/install.md", "docs/comparison.md", "docs/foundation.md",
        "docs/reliability.md", "docs/json.md", "docs/commands.md", "SECURITY.md",
    ]

    struct Block: Sendable, CustomTestStringConvertible {
        let page: String
        let line: Int
        let language: String
        let lines: [String]
        var testDescription: String { "\(page):\(line)" }
        /// Whether it is run here: others install packages, or need programs of their own.
        var isTried: Bool { page == "docs/client-tools.md" }
    }

    static func blocks(_ language: String) -> [Block] {
        pages.flatMap { page -> [Block] in
            guard let text = try? String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
            else {
                return []
            }
            var blocks: [Block] = []
            var open: (line: Int, language: String, lines: [String])?
            for (index, line) in text.components(separatedBy: "\n").enumerated() {
                if let current = open {
                    if line == "```" {
                        blocks.append(
                            Block(
                                page: page, line: current.line, language: current.language,
                                lines: current.lines))
                        open = nil
                    } else {
                        open?.lines.append(line)
                    }
                } else if line.hasPrefix("```") {
                    open = (index + 1, String(line.dropFirst(3)), [])
                }
            }
            return blocks.filter { $0.language == language }
        }
    }

    @Test("every page that is checked exists", arguments: pages)
    func pageExists(page: String) {
        #expect(FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(page).path))
    }

    @Test("every page with Swift or a console is checked")
    func pagesAreComplete() throws {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appendingPathComponent("docs").path)
        for page in names.filter({ $0.hasSuffix(".md") }).map({ "docs/\($0)" }) + ["CONTRIBUTING.md"] {
            let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
            let isShown = text.contains("\n```swift\n") || text.contains("\n```console\n")
            #expect(!isShown || Self.pages.contains(page), "\(page) is not in `pages`")
        }
    }

    @Test("links between pages lead somewhere", arguments: pages + ["CONTRIBUTING.md", "docs/limits.md"])
    func links(page: String) throws {
        let url = Self.root.appendingPathComponent(page)
        let text = try String(contentsOf: url, encoding: .utf8)
        for match in text.matches(of: /\]\(([^)#]+)(#[^)]*)?\)/) where !match.1.contains("://") {
            let target = url.deletingLastPathComponent().appendingPathComponent(String(match.1))
            #expect(FileManager.default.fileExists(atPath: target.path), "\(page) links to \(match.1)")
        }
    }

    @Test("Swift in the documentation stands in an example", arguments: blocks("swift"))
    func swift(block: Block) throws {
        let wanted = block.lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        let examples = Self.root.appendingPathComponent("Examples")
        let files = try #require(
            FileManager.default.enumerator(
                at: examples, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        )
        .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        let isThere = try files.contains { file in
            let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            return lines.indices.contains { lines[$0...].starts(with: wanted) }
        }
        #expect(isThere, "\(block.testDescription): no example holds these lines")
    }

    /// `$ COMMAND`, its output, and `[exit status N]` when it is not 0. `…` stands for any text, alone on a
    /// line for any lines.
    @Test("consoles in the documentation show what really happens", arguments: blocks("console"))
    func console(block: Block) throws {
        for step in Self.steps(block.lines) {
            let (output, status) = try Self.run(step.command)
            var lines = output.components(separatedBy: "\n")
            if lines.last == "" { lines.removeLast() }
            // Depends on where this repository is: below /home and /tmp there is such a line.
            lines.removeAll { $0.hasPrefix("warning: the service does not see \(Self.root.path)") }
            if status != 0 { lines.append("[exit status \(status)]") }
            #expect(
                Self.matches(lines[...], step.output[...]),
                "\(block.testDescription): `\(step.command)` printed:\n\(lines.joined(separator: "\n"))")
        }
    }

    /// Programs that stay, one per line, and at last a command that succeeds once they are there. Each block gets
    /// ports and a folder of its own.
    // D3
    @Test("shell blocks of client-side tools work as they are", arguments: blocks("sh").filter(\.isTried))
    func shell(block: Block) throws {
        let folder = NSTemporaryDirectory() + "mcp-docs-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ports = try (0 ..< 2).map { _ in String(try freePort()) }
        let lines = block.lines.map { line in
            line.replacingOccurrences(of: "3001", with: ports[0])
                .replacingOccurrences(of: "8000", with: ports[1])
                .replacingOccurrences(of: "/tmp/", with: folder + "/")
        }
        let last = try #require(lines.last)
        let started = lines.dropLast().map {
            $0.hasPrefix("echo") ? $0 : "\($0) </dev/null >>log 2>&1 &"
        }
        let script = """
            cd '\(folder)'; ln -s '\(Self.root.path)/Examples' Examples
            trap 'kill -KILL $(jobs -p) 2>/dev/null; wait 2>/dev/null' EXIT
            export XDG_STATE_HOME='\(folder)'
            \(started.joined(separator: "\n"))
            for n in $(seq 100); do if \(last) 2>/dev/null; then exit 0; fi; sleep 0.2; done
            \(last); cat log; exit 1
            """
        let (output, status) = try Self.run(script)
        #expect(status == 0, "\(block.testDescription): `\(last)` printed:\n\(output)")
    }

    static func steps(_ lines: [String]) -> [(command: String, output: [String])] {
        var steps: [(command: String, output: [String])] = []
        for line in lines {
            if line.hasPrefix("$ ") {
                steps.append((String(line.dropFirst(2)), []))
            } else if !steps.isEmpty {
                steps[steps.count - 1].output.append(line)
            }
        }
        return steps
    }

    static func run(_ command: String) throws -> (String, Int32) {
        var environment = ProcessInfo.processInfo.environment
        // The examples are there too: `make test` builds them before it runs these tests.
        environment["PATH"] = "\(programs.path):\(environment["PATH"] ?? "")"
        environment["NO_COLOR"] = "1"
        // Not Foundation's Process, which leaves two sockets open.
        let launch = ProcessLaunch(
            "bash", ["-c", "set -o pipefail; exec 2>&1; \(command)"], environment: environment,
            directory: root.path)
        let limits = ProcessRunner.Limits(timeout: .seconds(60), maxOutputBytes: 16 << 20)
        let result = try ProcessRunner.run(launch, limits: limits)
        let status: Int32 = if case .exited(let code) = result.status { code } else { -1 }
        return (String(decoding: result.output, as: UTF8.self), status)
    }

    /// The folder of the built programs: where the test program is.
    static var programs: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    static func matches(_ actual: ArraySlice<String>, _ wanted: ArraySlice<String>) -> Bool {
        guard let first = wanted.first else { return actual.isEmpty }
        if first == "…" {
            return (actual.startIndex ... actual.endIndex).contains {
                matches(actual[$0...], wanted.dropFirst())
            }
        }
        guard let line = actual.first, matches(line: line, first) else { return false }
        return matches(actual.dropFirst(), wanted.dropFirst())
    }

    static func matches(line: String, _ pattern: String) -> Bool {
        let parts = pattern.components(separatedBy: "…")
        guard parts.count > 1 else { return line == pattern }
        // A literal ellipsis, as in a range, matches itself too.
        if line == pattern { return true }
        guard line.hasPrefix(parts[0]), line.hasSuffix(parts[parts.count - 1]) else { return false }
        var rest = Substring(line)
        for part in parts where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
