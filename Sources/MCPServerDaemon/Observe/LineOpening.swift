import MCPCore
import Synchronization

/// The beginning of the audit lines of a connection: the time, and who calls what. The requests of a
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
        var time = TimeText()
    }

    private let state = Mutex(State())

    /// Appends the beginning of the line of a request.
    ///
    /// - Parameter make: writes the part behind the time.
    func append(
        of request: IncomingRequest, to line: inout LineText, _ make: (inout LineText) -> Void
    ) {
        // The handshake has the name of the client in its parameters.
        let meta = request.method == "initialize" ? request.params?.bytes : request.meta?.bytes
        let name = request.rawName?.bytes
        state.withLock { state in
            state.time.append(to: &line)
            if let key = state.key, key.fits(request, meta, name) { return line.append(state.text) }
            let start = line.bytes.count
            make(&line)
            state.key = Key(request, meta, name)
            if state.key != nil { state.text = Array(line.bytes[start...]) }
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
