import Foundation
import MCPCore

/// A model whose words the test says one by one: a program that copies a named pipe to its output, and what it is
/// asked to a file.
final class PacedModel: Sendable {
    private let script: String
    private let pipe: FileHandle
    /// For `--model-command`.
    var command: String { "/bin/sh \(script)" }

    init() throws {
        script = NSTemporaryDirectory() + "mcp-model-\(UUID().uuidString.prefix(8))"
        try #"cat "$0.pipe" & exec cat > "$0.asked""#.write(toFile: script, atomically: true, encoding: .utf8)
        guard unsafe mkfifo(script + ".pipe", 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        // Open for both, so that neither end waits for the other.
        let descriptor = unsafe open(script + ".pipe", O_RDWR)
        guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown) }
        pipe = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func says(_ events: JSONValue...) throws {
        let lines = events.map { $0.serialized() + "\n" }.joined()
        try pipe.write(contentsOf: Data(lines.utf8))
    }

    /// What the model was asked so far.
    func requests() throws -> [JSONValue] {
        let text = (try? String(contentsOfFile: script + ".asked", encoding: .utf8)) ?? ""
        // The last line may be incomplete.
        return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            try JSONValue(parsing: String($0))
        }
    }

    /// Waits until the model is asked once more than these times; that request.
    func request(_ count: Int) async throws -> JSONValue {
        try await eventually { try requests().count > count }
        return try requests()[count]
    }

    /// The program ends with the pipe.
    func stop() {
        try? pipe.close()
        for path in [script, script + ".pipe", script + ".asked"] {
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
