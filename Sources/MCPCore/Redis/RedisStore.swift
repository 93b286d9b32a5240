import Synchronization

/// A store in Redis or Valkey, for `ServerOptions.stateStore`.
///
/// One connection carries all commands, as many at once as there are calls. A command takes at most 1 s.
/// While the store cannot be reached, commands fail at once, and the connection is tried again, at first
/// after 100 ms and at last every 5 s. A server signs or encrypts the values that it stores; anyone who
/// reaches the store can remove them.
public final class RedisStore: StateStore {
    /// The time until a command fails.
    static let commandTimeout = Duration.seconds(1)
    /// The most commands that wait for their replies. Another one fails.
    static let maxPending = 10_000

    /// An address that cannot be used; the description continues a sentence that begins with it.
    public struct AddressError: Error, Sendable, CustomStringConvertible {
        /// What is wrong with the address.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// A command that was not carried out, or of which that is unknown.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What happened.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// What is known about the connection.
    public struct Status: Sendable {
        /// Whether the store answers.
        public var isConnected = false
        /// The commands that were answered.
        public var commands = 0
        /// The commands that failed.
        public var failures = 0
        /// Why the store was not reached last, or which command it has refused since it last carried one out;
        /// nil while all is well.
        public var lastError: String?
        /// The errors of commands that are refused at present, by their names.
        private var refused: [String: String] = [:]

        mutating func record(_ error: Failure?, of command: String) {
            guard let error else {
                commands += 1
                if refused.isEmpty { return }
                refused[command] = nil
                lastError = refused.values.first
                return
            }
            failures += 1
            guard isConnected else { return }
            refused[command] = "\(command): \(error)"
            lastError = refused[command]
        }

        mutating func connected() { (isConnected, lastError, refused) = (true, nil, [:]) }
    }

    private let link: LoopBound<RedisLink>
    private let loop: EventLoop
    private let prefix: String
    private let shared: RedisLink.Shared
    /// The place of the store, without user and password.
    public let place: String
    /// Whether what is sent stays on this machine; anything else can be read on its way, without `rediss://`.
    public let isLocal: Bool

    /// Creates a store and begins to connect to it.
    ///
    /// - Parameters:
    ///   - address: `redis://[USER@]HOST[:PORT][/DATABASE]`, the same with `rediss://` for TLS, or
    ///     `unix:///PATH[?db=DATABASE]`.
    ///   - password: sent with `AUTH`; nil sends none.
    ///   - prefix: the beginning of all keys. Servers with the same prefix share their state.
    ///   - tls: makes the TLS of `rediss://`; the certificate must be valid for HOST.
    ///   - log: receives a line when the store becomes unreachable and when it is back.
    /// - Throws: `AddressError`, and any error of the system if there are no descriptors.
    public convenience init(
        _ address: String, password: String? = nil, prefix: String = "mcp:",
        tls: any TLSProvider = OpenSSLProvider.system, log: (@Sendable (String) -> Void)? = nil
    ) throws {
        var onChange: (@Sendable (Bool, String) -> Void)?
        if let log { onChange = { _, line in log(line) } }
        try self.init(
            RedisAddress(address), password: password, prefix: prefix, tls: tls, onChange: onChange,
            clock: SystemClock())
    }

    /// - Parameter onChange: receives whether the store is back or cannot be used, in words as well.
    package convenience init(
        _ address: String, password: String?, prefix: String,
        onChange: (@Sendable (_ isBack: Bool, _ line: String) -> Void)?
    ) throws {
        try self.init(
            RedisAddress(address), password: password, prefix: prefix, onChange: onChange,
            clock: SystemClock())
    }

    init(
        _ address: RedisAddress, password: String?, prefix: String,
        tls: any TLSProvider = OpenSSLProvider.system,
        onChange: (@Sendable (_ isBack: Bool, _ line: String) -> Void)?, clock: any TimeSource
    ) throws(IOError) {
        let loop = try EventLoop(label: "mcp.store", clock: clock)
        let shared = RedisLink.Shared()
        self.shared = shared
        self.loop = loop
        self.prefix = prefix
        place = address.description
        isLocal = address.isLocal
        let link = RedisLink(
            address, password: password.map { Redacted($0) }, tls: tls, loop: loop, shared: shared,
            onChange: onChange)
        self.link = LoopBound(link, loop: loop)
        loop.start()
        loop.execute { [link = self.link] in link.value.connect() }
    }

    deinit { loop.stop() }

    /// What is known about the connection.
    public var status: Status { shared.status.withLock { $0 } }

    /// Checks an address without connecting. Returns whether what is sent there stays on this machine.
    ///
    /// - Throws: `AddressError`.
    public static func check(_ address: String) throws(AddressError) -> (place: String, isLocal: Bool) {
        let address = try RedisAddress(address)
        return (address.description, address.isLocal)
    }

    // MARK: StateStore

    /// Returns the value of a key (`GET`).
    ///
    /// - Throws: `Failure`.
    public func value(for key: String) async throws -> [UInt8]? {
        switch try await send(RESPCommand("GET", prefix + key)) {
        case .bytes(let bytes): return bytes
        case .null: return nil
        default: throw Failure("an unexpected reply")
        }
    }

    /// Stores a value (`SET`).
    ///
    /// - Throws: `Failure`.
    public func set(_ value: [UInt8], for key: String, lifetime: Duration) async throws {
        guard case .text = try await send(set(value, key, lifetime)) else {
            throw Failure("an unexpected reply")
        }
    }

    /// Stores a value unless the key has one (`SET` with `NX`).
    ///
    /// - Throws: `Failure`. The value may have been stored all the same.
    public func insert(_ value: [UInt8], for key: String, lifetime: Duration) async throws -> Bool {
        switch try await send(set(value, key, lifetime, "NX")) {
        case .text: return true
        case .null: return false
        default: throw Failure("an unexpected reply")
        }
    }

    /// Removes a value (`DEL`).
    ///
    /// - Throws: `Failure`.
    public func removeValue(for key: String) async throws {
        guard case .integer = try await send(RESPCommand("DEL", prefix + key)) else {
            throw Failure("an unexpected reply")
        }
    }

    private func set(
        _ value: [UInt8], _ key: String, _ lifetime: Duration, _ condition: String...
    ) -> RESPCommand {
        let milliseconds = "\(max(1, lifetime.wholeNanoseconds / 1_000_000))"
        let parts = ["PX", milliseconds] + condition
        return RESPCommand(
            [Array("SET".utf8), Array((prefix + key).utf8), value] + parts.map { Array($0.utf8) })
    }

    private func send(_ command: RESPCommand) async throws -> RESPReply {
        let reply = await withCheckedContinuation { continuation in
            loop.execute { [link] in
                link.value.send(command) { continuation.resume(returning: $0) }
            }
        }
        return try reply.get()
    }
}
