import MCPCore
import Synchronization

/// Turns the messages of a conversation into lines of a recording: requests wait for their responses.
final class ExchangeLog: Sendable {
    /// The number of requests that wait; further ones are written without their responses.
    static let maxWaiting = 10_000
    /// The largest message that is written down; a larger one is null.
    static let maxMessageBytes = 4 << 20

    /// Messages whose ids belong together.
    enum Conversation: Sendable, Hashable {
        case program
        /// One HTTP request and its response, also an event stream with what is posted for it.
        case request(Int)
        /// The requests of a session over HTTP, in which one may answer what another one asked.
        case session(String)
    }

    private struct Key: Hashable {
        let side: RecordedLine.Side
        /// The id as it is spelled.
        let id: String
        let conversation: Conversation
    }

    private struct Waiting {
        var line: RecordedLine
        let start: ContinuousClock.Instant
    }

    private let mask: MessageMask
    private let write: @Sendable ([UInt8]) -> Void
    private let waiting = Mutex<[Key: Waiting]>([:])

    init(mask: MessageMask, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.mask = mask
        self.write = write
    }

    /// Takes the bytes of a message, or of several in an array. What is not JSON is left out.
    func note(_ bytes: [UInt8], from side: RecordedLine.Side, in conversation: Conversation = .program) {
        for message in Self.messages(bytes) { note(message, from: side, in: conversation) }
    }

    /// Takes a message of the client that was answered here, and not passed on.
    func noteRefused(_ bytes: [UInt8], with refusal: [UInt8]?, in conversation: Conversation = .program) {
        let error = refusal.flatMap { try? RawJSON(validating: ByteSlice($0)) }?["error"]
        for message in Self.messages(bytes) {
            note(message, from: .client, in: conversation)
            guard let error, let id = message["id"], message["method"] != nil else { continue }
            let response: JSONValue = ["jsonrpc": "2.0", "id": id.value, "error": error.value]
            note(RawJSON(response), from: .server, in: conversation)
        }
    }

    private static func messages(_ bytes: [UInt8]) -> [RawJSON] {
        let limits = JSONLimits(maxDepth: 128)
        guard let json = try? RawJSON(validating: ByteSlice(bytes), limits: limits) else { return [] }
        return json.kind == .array ? json.elements ?? [] : [json]
    }

    /// Takes a message that one side sent.
    func note(_ message: RawJSON, from side: RecordedLine.Side, in conversation: Conversation = .program) {
        let now = ContinuousClock.now
        let id = message["id"].map { String($0.bytes) }
        let kept = message.bytes.count <= Self.maxMessageBytes ? mask.masked(message) : nil
        if let method = message["method"]?.string.map({ mask.masked(text: $0) }) {
            var line = RecordedLine(time: WallTime.now.description, side: side, method: method)
            guard let id else {
                line.message = kept ?? RawJSON(["method": .string(method)])
                return write(line.bytes)
            }
            line.request = kept
            let key = Key(side: side, id: id, conversation: conversation)
            let waits = waiting.withLock { waiting in
                guard waiting.count < Self.maxWaiting else { return false }
                waiting[key] = Waiting(line: line, start: now)
                return true
            }
            if !waits { write(line.bytes) }
            return
        }
        guard let id else { return }
        let other: RecordedLine.Side = side == .client ? .server : .client
        let key = Key(side: other, id: id, conversation: conversation)
        guard var found = waiting.withLock({ $0.removeValue(forKey: key) }) else { return }
        found.line.response = kept
        found.line.outcome = RecordedLine.outcome(of: message)
        found.line.milliseconds = TimeSpan.milliseconds(now - found.start)
        write(found.line.bytes)
    }

    /// Writes the requests that got no response.
    func finish() {
        let rest = waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting.values.sorted { $0.start < $1.start }
        }
        for waiting in rest { write(waiting.line.bytes) }
    }
}
