import Synchronization

/// An event stream that instances share.
protocol SharedStream: AnyObject, Sendable {
    /// The time for which events wait for a client that is gone.
    static var age: Duration { get }
    /// The name of the stream in event ids; unique in its session.
    var name: String { get }
    /// Whether the stream is for messages that belong to no request.
    var isOfServer: Bool { get }
    /// The session of the stream.
    var channelID: UInt64 { get }
    /// What is to be stored; nil when the stream can no longer be resumed.
    var snapshot: SharedStreams.Snapshot? { get }
    /// Called when what there was is stored, or could not be stored.
    func wasStored()
}

/// The last events of the event streams of old sessions, in the store that instances share: a client that
/// reconnects to another instance receives there what it missed (2025-11-25 basic/transports "Resumability
/// and Redelivery").
///
/// An instance stores a stream after each change, sealed with the server's key, in one entry. Changes that
/// arrive while an entry is being written are stored together.
final class SharedStreams: Sendable {
    /// The limits on the events of a stream that are stored: the newest ones.
    static let maxEvents = 64
    static let maxBytes = 32 << 10
    /// The time for which a stream without a last event is stored after the last change: a call may run for
    /// long. Others are stored for as long as their instance keeps them.
    static let openAge = Duration.seconds(3600)
    /// The pause after which a client asks another instance for the rest of a call.
    static let pause = Duration.seconds(1)

    /// What is stored about a stream.
    struct Record: Sendable {
        let name: String
        /// Whether the stream is for messages that belong to no request.
        let isOfServer: Bool
        /// Whether nothing more will come.
        let isEnded: Bool
        /// Whether the instance that serves the stream lives.
        let isLive: Bool
        /// The number of the newest event.
        let last: Int
        /// The last events, up to the newest.
        let events: [ByteSlice]

        /// The number before the oldest event.
        private var start: Int { last - events.count }

        /// Whether the instance that a client resumes the stream at continues it: it sends what comes there.
        var continuesHere: Bool { isOfServer && !isEnded }

        private func id(of number: Int) -> String { "\(name)-\(number)" }

        /// Returns the events after an event; nil when some of them are gone, or will not come.
        func rest(after number: Int) -> Rest? {
            guard number >= start else { return nil }
            // What the client has and the store has not is on its way there.
            guard number <= last else {
                return isLive && !isEnded ? Rest(record: self, events: [], lastID: id(of: number)) : nil
            }
            if !isOfServer, !isEnded, !isLive, number == last { return nil }
            let missed = events.enumerated().dropFirst(number - start).map { place, data in
                (id: id(of: start + place + 1), data: data)
            }
            return Rest(record: self, events: missed, lastID: id(of: last))
        }
    }

    /// What other instances may know.
    struct Snapshot {
        /// The kept events, up to the newest.
        let events: [ByteSlice]
        /// The number of the newest event.
        let last: Int
        let isEnded: Bool
    }

    /// What a client has missed of a stream.
    struct Rest: Sendable {
        let record: Record
        let events: [(id: String, data: ByteSlice)]
        /// The id that the client has after these events.
        let lastID: String
    }

    /// What is known about a stream of another instance.
    enum Found: Sendable {
        case stream(Record, after: Int)
        case unknown
        /// The store cannot be asked.
        case away
    }

    private struct State {
        /// The calls whose streams have not ended.
        var open = 0
        /// The streams that are being stored, and whether they have changed since.
        var writing: [String: Bool] = [:]
        var settling: [CheckedContinuation<Void, Never>] = []
    }

    private let store: any StateStore
    private let keys: StateKeys
    private let lease: InstanceLease
    private let report: @Sendable (String, any Error) -> Void
    private let clock: any TimeSource
    private let alarm: Alarm
    private let state = Mutex(State())

    init(
        _ store: any StateStore, keys: StateKeys, lease: InstanceLease, clock: any TimeSource,
        report: @escaping @Sendable (String, any Error) -> Void
    ) {
        self.store = store
        self.keys = keys
        self.lease = lease
        self.clock = clock
        self.report = report
        alarm = Alarm(label: "mcp.streams.shared", clock: clock)
    }

    // MARK: Streams of this instance

    /// Stores a new stream.
    func begin(_ stream: any SharedStream) {
        if !stream.isOfServer {
            state.withLock { $0.open += 1 }
            wake()
        }
        changed(stream)
    }

    /// Notes that the stream of a call has ended.
    func callEnded() { state.withLock { $0.open -= 1 } }

    /// Stores a stream again, soon.
    func changed(_ stream: any SharedStream) {
        let key = Self.key(stream.name, stream.channelID)
        let begins = state.withLock { state -> Bool in
            defer { state.writing[key] = state.writing[key] != nil }
            return state.writing[key] == nil
        }
        if begins { Task { await write(stream, key) } }
    }

    /// Returns when everything that has happened is stored, or could not be stored.
    func settle() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if !state.writing.isEmpty { state.settling.append(continuation) }
                return state.writing.isEmpty
            }
            if isSettled { continuation.resume() }
        }
    }

    /// Stores a stream until what is stored is what it is.
    private func write(_ stream: any SharedStream, _ key: String) async {
        var isStale = true
        while isStale {
            do {
                if let snapshot = stream.snapshot {
                    if !stream.isOfServer, !snapshot.isEnded { try await lease.renew(in: store) }
                    let isLong = !stream.isOfServer && !snapshot.isEnded
                    try await store.set(
                        keys.seal(record(of: stream, snapshot), Self.context(key)), for: key,
                        lifetime: isLong ? Self.openAge : type(of: stream).age)
                } else {
                    try await store.removeValue(for: key)
                }
            } catch {
                report("an event stream can be resumed at one instance only", error)
            }
            stream.wasStored()
            let (isAgain, settled) = state.withLock { state in
                let isAgain = state.writing[key] == true
                state.writing[key] = isAgain ? false : nil
                guard state.writing.isEmpty else { return (isAgain, [CheckedContinuation<Void, Never>]()) }
                defer { state.settling = [] }
                return (isAgain, state.settling)
            }
            for continuation in settled { continuation.resume() }
            isStale = isAgain
        }
    }

    private func record(of stream: any SharedStream, _ snapshot: Snapshot) -> [UInt8] {
        var size = 0
        let newest = snapshot.events.suffix(Self.maxEvents).reversed().prefix {
            size += $0.count
            return size <= Self.maxBytes
        }
        let events = Array(newest.reversed())
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("instance", lease.instance)
        writer.member("isOfServer", stream.isOfServer)
        writer.member("isEnded", snapshot.isEnded)
        writer.member("last", snapshot.last)
        writer.key("sizes")
        writer.value(.array(events.map { JSONValue($0.count) }))
        writer.endObject()
        return Array(writer.finish()) + [ASCII.lf] + events.flatMap { $0 }
    }

    /// Renews the lease as long as calls have streams.
    private func wake() {
        guard state.withLock({ $0.open > 0 }) else { return }
        alarm.set(for: clock.now + InstanceLease.interval, waking: self) { shared in
            Task {
                do { try await shared.lease.renew(in: shared.store) } catch {
                    shared.report("the calls of this instance may look ended at others", error)
                }
                shared.wake()
            }
        }
    }

    // MARK: Streams of other instances

    /// Returns what is stored about a stream of a session.
    ///
    /// - Parameters:
    ///   - name: the name in the id of an event, as a client has sent it.
    ///   - number: the number in that id: the last event that the client has.
    func find(_ name: String, after number: Int, in channelID: UInt64) async -> Found {
        guard name.utf8.count <= 64, name.utf8.allSatisfy({ ASCII.isDigit($0) || ASCII.isLetter($0) })
        else { return .unknown }
        let key = Self.key(name, channelID)
        do {
            guard let sealed = try await store.value(for: key),
                let bytes = keys.open(sealed, Self.context(key)),
                let end = bytes.firstIndex(of: ASCII.lf),
                let head = try? JSONValue(parsing: Array(bytes[..<end])),
                let isOfServer = head["isOfServer"]?.boolValue, let isEnded = head["isEnded"]?.boolValue,
                let last = head["last"]?.intValue, let sizes = head["sizes"]?.arrayValue
            else { return .unknown }
            var events: [ByteSlice] = []
            var start = end + 1
            for size in sizes {
                guard let size = size.intValue, size >= 0, size <= bytes.count - start else {
                    return .unknown
                }
                events.append(ByteSlice(Array(bytes[start ..< start + size])))
                start += size
            }
            var isLive = true
            if !isOfServer, !isEnded {
                isLive = try await lease.lives(head["instance"]?.stringValue ?? "", in: store)
            }
            let record = Record(
                name: name, isOfServer: isOfServer, isEnded: isEnded, isLive: isLive, last: last,
                events: events)
            return .stream(record, after: number)
        } catch {
            report("the event stream of another instance was not resumed", error)
            return .away
        }
    }

    /// The key of a stream, and what its seal is bound to: an entry copied to another key does not open.
    private static func key(_ name: String, _ channelID: UInt64) -> String {
        "stream:\(SharedState.hex(channelID))-\(name)"
    }

    private static func context(_ key: String) -> (inout HMACSHA256) -> Void {
        { $0.update("shared \(key)\0".utf8) }
    }
}
