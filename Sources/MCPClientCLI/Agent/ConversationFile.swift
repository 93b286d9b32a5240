import MCPCore
import MCPHarness

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The place where a conversation is kept between two runs: a file that only the user can read.
struct ConversationFile: Sendable {
    private static let name = "conversation.json"
    private static let decisions = "tool-decisions.json"

    /// A file of the user's choice; nil for the one of the last conversation.
    private let path: String?
    private let place: PrivateDirectory?

    init(_ environment: CommandEnvironment, path: String?) {
        self.path = path
        place = PrivateDirectory.statePath(environment.variable).map { PrivateDirectory(path: $0) }
    }

    /// Returns the conversation; nil if there is none.
    ///
    /// An empty file of the user's choice is a new conversation.
    ///
    /// - Throws: a usage failure for a file that cannot be read or written, or that contains something else.
    func read() throws(Failure) -> [ModelMessage]? {
        let bytes: [UInt8]?
        let shown = path ?? "the last conversation"
        do {
            if let path {
                bytes = try Self.content(of: path)
            } else {
                bytes = try place?.read(Self.name, maxBytes: Transcript.maxBytes)
            }
        } catch {
            let pipe = path.flatMap { SystemFile.isNamedPipe($0) ? Files.pipeReason : nil }
            throw .usage("cannot read \(inlineText(shown)): \(pipe ?? inlineText(Self.reason(error)))")
        }
        // Before the turn: what cannot be kept afterwards would be lost.
        if let path { _ = try OutputFile(path) }
        guard let bytes, !(path != nil && bytes.isEmpty) else { return nil }
        do {
            return try Transcript.messages(in: bytes)
        } catch {
            throw .usage(
                "\(inlineText(shown)): \(inlineText("\(error)"))",
                hint: "remove the file to start a new conversation")
        }
    }

    private static func content(of path: String) throws(IOError) -> [UInt8]? {
        do {
            return try Files.read(path, maxBytes: Transcript.maxBytes)
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    private static func reason(_ error: any Error) -> String {
        (error as? IOError)?.reason ?? (error as? AuthorizationError)?.message
            ?? (error as? Failure)?.message ?? "\(error)"
    }

    /// Replaces the file. Returns a description of the failure; nil if it succeeds or nothing can be stored.
    func write(_ messages: [ModelMessage]) -> String? {
        let bytes = Array(Transcript.json(messages).serialized().utf8)
        guard bytes.count <= Transcript.maxBytes else {
            return "the conversation is not kept: it has more than \(Transcript.maxBytes >> 20) MiB"
        }
        do {
            if let path {
                try Files.replace(OutputFile.destination(of: path), with: bytes)
            } else if let place {
                try place.create()
                try place.replace(Self.name, bytes)
            }
            return nil
        } catch {
            return "the conversation is not kept: \(Self.reason(error))"
        }
    }

    /// Whether a conversation can be kept without a file of the user's choice.
    var isKept: Bool { path != nil || place != nil }

    /// The decisions on tools that are kept permanently; nil if nothing can be stored.
    func permanentDecisions() -> RememberedDecisions? {
        guard let place, (try? place.create()) != nil else { return nil }
        return RememberedDecisions(file: place.path(of: Self.decisions))
    }
}
