import Synchronization

/// The session ids of the handshake revisions over HTTP, which contain the complete session (LEG-21).
///
/// An id contains the revision, the client's abilities, the creation time and 128 random bits, protected by a
/// MAC. Any instance with the same key can therefore serve it, even after a restart. An id identifies a
/// session and is never a proof of identity (LEG-28): the MAC also covers the principal. The sessions that
/// have ended are known only to this instance, and only as long as it runs; `SharedState` knows those of all
/// instances.
///
/// The age of an id that was made here is that on the monotonic clock, which nobody can set; that of another
/// one is what the wall clock says.
final class LegacySessions: Sendable {
    struct Session: Sendable {
        let negotiated: NegotiatedSession
        /// The id of the channel, within which request ids are unique.
        let channelID: UInt64
    }

    enum Refusal: Error { case unknown, expired, ended }

    private let keys: StateKeys
    private let lifetime: Int64
    /// Recognises the ids that were made here.
    private let name = UInt64.random(in: .min ... .max)
    /// The number of seconds by which the clock may have been set back, or be behind that of another
    /// instance. An id that was made later than that is refused.
    private static let skew: Int64 = 300
    /// The sessions ended by their clients, with the times at which they may be forgotten on a clock that
    /// nobody can set. An entry is never evicted to make room for a new one: that would bring an ended
    /// session back.
    private let ended: Mutex<BoundedTable<UInt64, Int64>>
    static let maxEnded = 100_000

    private static let format: UInt8 = 3
    /// The length of the body: format, revision, abilities, creation time, the instance, its uptime, random.
    private static let bodyBytes = 1 + 1 + 1 + 8 + 8 + 8 + 16
    private static let macBytes = 16

    /// - Parameters:
    ///   - lifetime: the number of seconds after which an id expires.
    ///   - maxEnded: the maximum number of ended sessions that are remembered.
    init(keys: StateKeys, lifetime: Int64 = 24 * 3600, maxEnded: Int = LegacySessions.maxEnded) {
        self.keys = keys
        self.lifetime = lifetime
        ended = Mutex(BoundedTable(capacity: maxEnded, policy: .refuse))
    }

    /// - Parameters:
    ///   - now: the current time in seconds since 1970.
    ///   - uptime: the number of seconds on the monotonic clock.
    ///   - random: 16 random bytes.
    func make(
        _ session: NegotiatedSession, principal: String, now: Int64, uptime: Int64,
        random: some Collection<UInt8>
    ) -> String {
        var body: [UInt8] = [
            Self.format, UInt8(truncatingIfNeeded: session.revision.index), session.abilities.rawValue,
        ]
        for number in [UInt64(bitPattern: now), name, UInt64(bitPattern: uptime)] {
            for shift in stride(from: 56, through: 0, by: -8) {
                body.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        body += random
        return Base64URL.encode(body + keys.sign(Self.macBytes) { Self.add(body, principal, to: &$0) })
    }

    /// - Parameters:
    ///   - now: the current time in seconds since 1970.
    ///   - uptime: the number of seconds on the monotonic clock.
    func open(
        _ id: ByteSlice, principal: String, now: Int64, uptime: Int64
    ) throws(Refusal) -> Session {
        guard id.count <= 128, let bytes = Base64URL.decode(id), bytes.count == Self.bodyBytes + Self.macBytes
        else { throw .unknown }
        let body = Array(bytes.prefix(Self.bodyBytes))
        let mac = bytes.suffix(Self.macBytes)
        guard keys.verify(mac, Self.macBytes, { Self.add(body, principal, to: &$0) }),
            body[0] == Self.format,
            // Small: from a byte.
            Int(body[1]) < Revision.all.count
        else { throw .unknown }
        if Self.number(body[11 ..< 19]) == name {
            // Small: the numbers are protected by our own MAC.
            guard uptime - Int64(bitPattern: Self.number(body[19 ..< 27])) < lifetime else { throw .expired }
        } else {
            let born = Int64(bitPattern: Self.number(body[3 ..< 11]))
            guard now - born < lifetime, born - now < Self.skew else { throw .expired }
        }
        let channelID = Self.number(body[27 ..< 35]) | 1 << 63
        guard !ended.withLock({ $0.contains(channelID) }) else { throw .ended }
        let negotiated = NegotiatedSession(
            // Small: from a byte, below the count.
            revision: Revision.all[Int(body[1])], abilities: ClientAbilities(rawValue: body[2]))
        return Session(negotiated: negotiated, channelID: channelID)
    }

    /// The number of seconds for which any id may be valid, and for which the end of a session is remembered.
    ///
    /// The time that an id of another instance has left says less: it is longer after the clock was set back.
    var longestLifetime: Int64 { lifetime + Self.skew }

    /// Ends a session: from now on, this instance refuses its id.
    ///
    /// - Parameter uptime: the number of seconds on the monotonic clock.
    /// - Returns: nil, or the number of seconds after which to try again. In that case the maximum number of
    ///   ended sessions is remembered, and this session continues.
    func end(_ session: Session, uptime: Int64) -> Int64? {
        ended.withLock { ended in
            ended.removeOldest { _, end in end <= uptime }
            let end = uptime + longestLifetime
            guard case .refused = ended.insert(end, for: session.channelID) else { return nil }
            return max(1, (ended.oldest?.value ?? uptime) - uptime)
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        // Small: eight bytes.
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func add(_ body: [UInt8], _ principal: String, to code: inout HMACSHA256) {
        code.update("session".utf8)
        code.update(body)
        code.update(principal.utf8)
    }
}
