import MCPCore
import Testing

@testable import MCPServerDaemon

/// The configurations in the documentation can be used as they are written, on a machine that has what they
/// name.
@Suite struct DocumentedConfigurationTests {
    private static let pages = [
        "authorization", "client-tools", "commands", "daemon", "instances", "operations", "quick-start",
        "sandbox", "upstreams",
    ]

    /// What this machine may lack: files, directories, programs, users, variables.
    private static let missing = [
        "does not exist", "no group named", "no user named", "cannot open", "was not found",
        "not found in PATH", "is not set", "matches no tool",
    ]

    private static let documentation: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        return parts.joined(separator: "/") + "/docs"
    }()

    /// The blocks of a page; a part of a configuration is put into braces.
    private static func blocks(_ page: String) throws -> [String] {
        let bytes = try Files.read("\(documentation)/\(page).md", maxBytes: 1 << 20)
        var blocks: [String] = []
        var current: [Substring]?
        for line in String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line == "```jsonc" {
                current = []
            } else if line == "```", let lines = current {
                let text = lines.joined(separator: "\n")
                blocks.append(text.hasPrefix("{") || text.hasPrefix("//") ? text : "{\(text)}")
                current = nil
            } else {
                current?.append(line)
            }
        }
        return blocks
    }

    @Test(arguments: pages) func blocksOf(_ page: String) throws {
        let schema = try CompiledSchema(try JSONValue(parsing: ConfigurationSchema.text))
        let blocks = try Self.blocks(page)
        #expect(!blocks.isEmpty)
        for block in blocks {
            let directory = try TemporaryDirectory()
            let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
                SourceText(name: "\(page).jsonc", text: block), directory: directory.path, Diagnostics())
            let mistakes = outcome.diagnostics.report.filter { line in
                !Self.missing.contains { line.contains($0) } && !line.hasSuffix("errors")
                    && !line.hasSuffix("error") && !line.contains("warning")
            }
            #expect(mistakes == [], "\(block)")
            // An editor that has the schema agrees.
            let node = JSONCParser.parse(SourceText(name: page, text: block), into: Diagnostics())
            #expect(schema.validate(try #require(node).json).isEmpty, "\(block)")
        }
    }

    /// Blocks for nginx can be used as they are: without `Host`, for example, every call would be refused.
    @Test(arguments: ["daemon", "instances"]) func blocksForProxies(_ page: String) throws {
        let bytes = try Files.read("\(Self.documentation)/\(page).md", maxBytes: 1 << 20)
        let text = String(decoding: bytes, as: UTF8.self)
        let blocks = text.split(separator: "```").filter { $0.contains("proxy_pass") }
        #expect(!blocks.isEmpty)
        for block in blocks {
            for line in [
                "proxy_http_version 1.1;", "proxy_set_header Host $http_host;", "proxy_buffering off;",
                "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
                "proxy_set_header Forwarded \"\";", "client_max_body_size ",
                "proxy_read_timeout 1h;", "oauth-protected-resource)",
            ] {
                #expect(block.contains(line), "\(line)\n\(block)")
            }
            if block.contains(" ssl;") { #expect(block.contains("ssl_certificate_key ")) }
        }
    }
}
