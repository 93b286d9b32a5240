import Synchronization

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The schemas of all revisions, from the folder that the environment names.
package struct WireSchemas: Sendable {
    private let schemas: [String: WireSchema]

    /// Nil without the folder: then nothing is checked, and one line says so.
    package static let shared: WireSchemas? = {
        guard let folder = Environment.value("MCP_SCHEMAS") else {
            if Environment.value("CI") != nil { fatalError("MCP_SCHEMAS is not set") }
            say("MCP_SCHEMAS is not set: no message is checked against the schemas of MCP")
            return nil
        }
        do {
            let schemas = try WireSchemas(folder: folder)
            MessageCount.writeAtExit()
            return schemas
        } catch {
            fatalError("MCP_SCHEMAS=\(folder): \(error)")
        }
    }()

    package init(folder: String) throws {
        var schemas: [String: WireSchema] = [:]
        for version in Setting.versions {
            let text = String(
                decoding: try Files.read("\(folder)/\(version).json", maxBytes: 4_000_000), as: UTF8.self)
            schemas[version] = try WireSchema(version: version, text: text)
        }
        self.schemas = schemas
    }

    /// The schema of a revision; of the newest for a version that nobody has.
    package subscript(version: String) -> WireSchema? { schemas[version] ?? schemas["2026-07-28"] }

    package func knows(_ method: String) -> Bool { schemas.values.contains { $0.knows(method) } }
}

/// How many messages were checked in this process.
package enum MessageCount {
    private static let count = Atomic<Int>(0)

    package static var value: Int { count.load(ordering: .relaxed) }

    package static func add() { count.add(1, ordering: .relaxed) }

    /// Appends `process count` to the file that MCP_SCHEMA_COUNT names when the process ends.
    package static func writeAtExit() {
        atexit {
            guard let path = Environment.value("MCP_SCHEMA_COUNT") else { return }
            let line = "\(getpid()) \(MessageCount.value)\n"
            guard let file = try? Syscalls.open(path, O_WRONLY | O_CREAT | O_APPEND) else {
                return say("MCP_SCHEMA_COUNT=\(path) cannot be written")
            }
            try? writeText(file.rawValue, line)
        }
    }
}

private func say(_ line: String) { try? writeText(2, line + "\n") }
