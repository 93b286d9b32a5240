import MCPCore
import Synchronization

/// The audit lines of some connections, and how they begin: the time, and who calls what. The requests of a
/// connection mostly differ in neither.
final class LineOpening: Sendable {
    /// The largest `_meta` and name that are remembered.
    static let maxKeyBytes = 2_048

    /// What the part behind the time depends on.
    private struct Key {
        let connection: UInt64
        let peer: String?
        let caller: (any AnyObject & Sendable)?
        let method: Int
        let revision: Int
        let meta: ByteSlice?
        let name: ByteSlice?

        /// Nil for a request whose line is made each time.
        init?(_ request: IncomingRequest, _ meta: ByteSlice?, _ name: ByteSlice?) {
            guard (meta?.count ?? 0) + (name?.count ?? 0) <= maxKeyBytes else { return nil }
            connection = request.connection
            peer = request.peer
            caller = request.callerIdentity
            method = request.methodIndex
            revision = request.revisionIndex
            // Copied: they are parts of a block of many kilobytes.
            self.meta = meta?.copy()
            self.name = name?.copy()
        }

        func fits(_ request: IncomingRequest, _ meta: ByteSlice?, _ name: ByteSlice?) -> Bool {
            connection == request.connection && method == request.methodIndex
                && revision == request.revisionIndex && caller === request.callerIdentity && self.name == name
                && self.meta == meta && peer == request.peer
        }
    }

    private struct State {
        var key: Key?
        var text: [UInt8] = []
        /// Whether `_meta` has a trace, so that the others need not be searched for one.
        var hasTrace = true
        var time = TimeText()
        /// The memory of the lines, and of the keys of arguments in them.
        var line = LineText()
        var memory = Redactor.Memory()
    }

    private let state = Mutex(State())

    /// Writes the line of a request.
    ///
    /// - Parameters:
    ///   - opening: writes the part between the time and what differs from request to request.
    ///   - rest: writes what differs. Its last argument is whether `_meta` may have a trace.
    ///   - done: receives the line.
    func write(
        _ request: IncomingRequest, opening: (inout LineText) -> Void,
        rest: (inout LineText, inout Redactor.Memory, Bool) -> Void, done: ([UInt8]) -> Void
    ) {
        // The handshake has the name of the client in its parameters.
        let meta = request.method == "initialize" ? request.params?.bytes : request.meta?.bytes
        let name = request.rawName?.bytes
        state.withLock { state in
            state.line.removeAll()
            state.line.literal("{\"time\":\"")
            state.time.append(to: &state.line)
            if state.key?.fits(request, meta, name) == true {
                state.line.append(state.text)
            } else {
                let start = state.line.bytes.count
                opening(&state.line)
                state.key = Key(request, meta, name)
                if state.key != nil { state.text = Array(state.line.bytes[start...]) }
                state.hasTrace = request.meta?["traceparent"] != nil
            }
            rest(&state.line, &state.memory, state.hasTrace)
            done(state.line.bytes)
        }
    }
}

/// The text of the current time, of which a second changes little.
struct TimeText {
    private var second = Int64.min
    private var text: [UInt8] = []

    /// Appends the time in ISO 8601 with milliseconds.
    mutating func append(to line: inout LineText) {
        let time = WallTime.now
        if time.secondsSinceEpoch != second {
            second = time.secondsSinceEpoch
            text = time.iso8601
        }
        let milliseconds = Int(time.nanosecondsSinceEpoch / 1_000_000 - second * 1_000)
        // `…:00.000Z`
        let last = text.count - 2
        text[last] = 0x30 + UInt8(truncatingIfNeeded: milliseconds % 10)
        text[last - 1] = 0x30 + UInt8(truncatingIfNeeded: milliseconds / 10 % 10)
        text[last - 2] = 0x30 + UInt8(truncatingIfNeeded: milliseconds / 100 % 10)
        line.append(text)
    }
}
