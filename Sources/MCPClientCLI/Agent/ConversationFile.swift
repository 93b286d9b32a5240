import MCPCore
import MCPHarness
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The place where a conversation is kept between two runs: a file that only the user can read.
///
/// Several processes may go on with one conversation: the first one that has an answer changes the file, and
/// another one keeps its own in a file beside it.
final class ConversationFile: Sendable {
    private static let name = "conversation.json"
    private static let decisions = "tool-decisions.json"
    /// The largest number in the name of a file beside another one.
    private static let maxBeside = 1_000

    /// What a file has to contain for it to be replaced.
    private enum Expected {
        /// Whatever it contains: a new conversation takes the place of the last one.
        case anything
        /// The bytes with this digest; nil stands for no file.
        case content(SHA256.Digest?)
    }

    private struct State {
        /// A file of the user's choice, or one that was chosen since; nil for that of the last conversation.
        var path: String?
        var expected = Expected.anything
    }

    /// Whether the user has chosen the file.
    let isChosen: Bool
    private let environment: CommandEnvironment
    private let place: PrivateDirectory?
    private let state: Mutex<State>
    private var path: String? { state.withLock { $0.path } }

    /// - Parameter path: a file of the user's choice; nil for the one of the last conversation.
    init(_ environment: CommandEnvironment, path: String?) {
        self.environment = environment
        isChosen = path != nil
        state = Mutex(State(path: path))
        place = PrivateDirectory.statePath(environment.variable).map { PrivateDirectory(path: $0) }
    }

    /// Returns the conversation; nil if there is none.
    ///
    /// An empty file of the user's choice is a new conversation.
    ///
    /// - Throws: a usage failure for a file that cannot be read or written, or that contains something else.
    func read() throws(Failure) -> [ModelMessage]? {
        let bytes: [UInt8]?
        let path = path
        let shown = path ?? "the last conversation"
        do { bytes = try content() } catch {
            let pipe = path.flatMap { SystemFile.isNamedPipe($0) ? Files.pipeReason : nil }
            throw .usage("cannot read \(inlineText(shown)): \(pipe ?? inlineText(Self.reason(error)))")
        }
        // Before the turn: what cannot be kept afterwards would be lost.
        if let path { _ = try OutputFile(path) }
        expect(bytes)
        guard let bytes, !(path != nil && bytes.isEmpty) else { return nil }
        do {
            return try Transcript.messages(in: bytes)
        } catch {
            throw .usage(
                "\(inlineText(shown)): \(inlineText("\(error)"))",
                hint: "remove the file to start a new conversation")
        }
    }

    /// Returns what the file contains; nil if there is none.
    private func content() throws -> [UInt8]? {
        guard let path else { return try place?.read(Self.name, maxBytes: Transcript.maxBytes) }
        do throws(IOError) {
            return try Files.read(path, maxBytes: Transcript.maxBytes)
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    private func expect(_ bytes: [UInt8]?) {
        state.withLock { $0.expected = .content(bytes.map { SHA256.hash($0) }) }
    }

    private static func reason(_ error: any Error) -> String {
        (error as? IOError)?.reason ?? (error as? AuthorizationError)?.message
            ?? (error as? Failure)?.message ?? "\(error)"
    }

    /// Replaces the file, unless another process has changed it. Returns what is to be noted: where else the
    /// conversation is; nil if there is nothing to say.
    ///
    /// - Throws: the reason why it is not kept.
    func write(_ messages: [ModelMessage]) throws(Failure) -> String? {
        let bytes = Array(Transcript.json(messages).serialized().utf8)
        guard bytes.count <= Transcript.maxBytes else {
            throw Self.notKept("it has more than \(Transcript.maxBytes >> 20) MiB")
        }
        guard let file = path ?? place?.path(of: Self.name) else { return nil }
        let lock = ChangeLock(file, shownAs: inlineText(file), environment.variable)
        do {
            return try lock.hold { () throws(Failure) in try replace(file, bytes) }
        } catch {
            throw Self.notKept(error.message)
        }
    }

    private static func notKept(_ reason: String) -> Failure {
        Failure(code: .unreachable, kind: .output, message: "the conversation is not kept: \(reason)")
    }

    /// The caller holds the lock of the file.
    private func replace(_ file: String, _ bytes: [UInt8]) throws(Failure) -> String? {
        do {
            if !isAsExpected() {
                let other = try beside(file)
                try Files.replace(other, with: bytes)
                state.withLock { $0.path = other }
                expect(bytes)
                return "another process has changed \(inlineText(file)): this conversation is kept in "
                    + "\(inlineText(other)); \(continuation) goes on with it"
            }
            if let path {
                try Files.replace(OutputFile.destination(of: path), with: bytes)
            } else if let place {
                try place.create()
                try place.replace(Self.name, bytes)
            }
            expect(bytes)
            return nil
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(code: .unreachable, kind: .store, message: inlineText(Self.reason(error)))
        }
    }

    /// Whether the file contains what this process has last seen in it. One that cannot be read has changed.
    private func isAsExpected() -> Bool {
        guard case .content(let digest) = state.withLock({ $0.expected }) else { return true }
        let bytes: [UInt8]?
        do { bytes = try content() } catch { return false }
        return bytes.map { SHA256.hash($0) } == digest
    }

    /// Returns the name of a file that does not exist: NAME-2.json beside NAME.json.
    private func beside(_ file: String) throws(Failure) -> String {
        let target = try OutputFile.destination(of: file)
        let name = target.split(separator: "/").last ?? ""
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let stem = target.dropLast(name[dot...].count)
        for number in 2 ... Self.maxBeside {
            let other = "\(stem)-\(number)\(name[dot...])"
            if !SystemFile.exists(other) { return other }
        }
        throw Failure(
            code: .unreachable, kind: .store,
            message: "another process has changed \(inlineText(file)), and there are too many files beside it"
        )
    }

    /// Whether a conversation can be kept without a file of the user's choice.
    var isKept: Bool { path != nil || place != nil }

    /// The flags that go on with the conversation.
    var continuation: String { path.map { "--conversation \(ShellWord.visible($0))" } ?? "--continue" }

    /// The decisions on tools that are kept permanently; nil if nothing can be stored.
    func permanentDecisions() -> RememberedDecisions? {
        guard let place, (try? place.create()) != nil else { return nil }
        return RememberedDecisions(file: place.path(of: Self.decisions))
    }
}
