import Synchronization

/// Tickets with which web pages open event streams: an `EventSource` can send no token, and a token in a URL
/// would end up in logs.
///
/// A ticket is for one stream of one channel, for the page that requested it, and for a short time.
final class StreamTickets: Sendable {
    /// The time for which a ticket is valid: 30 s.
    static let lifetime = Duration.seconds(30)
    /// Unused tickets of one channel: 64. A further one is refused (429).
    static let perChannel = 64

    private struct Grant {
        let channel: String
        /// The origin of the page; nil for a page of the server itself, and for other programs.
        let origin: String?
        let end: MonotonicInstant
    }

    private let grants = Mutex<[String: Grant]>([:])
    private let clock: any TimeSource

    init(clock: any TimeSource) { self.clock = clock }

    /// Returns a new ticket; nil when the channel has too many that are unused.
    func issue(channel: String, origin: String?) -> String? {
        let now = clock.now
        let ticket = Hex.encode(SystemRandom().bytes(16))
        return grants.withLock { grants in
            grants = grants.filter { $0.value.end > now }
            guard grants.values.count(where: { $0.channel == channel }) < Self.perChannel else { return nil }
            grants[ticket] = Grant(channel: channel, origin: origin, end: now + Self.lifetime)
            return ticket
        }
    }

    /// Returns whether a ticket is valid for this stream. It is void afterwards, whatever the outcome.
    func redeem(_ ticket: String, channel: String, origin: String?) -> Bool {
        let now = clock.now
        guard let grant = grants.withLock({ $0.removeValue(forKey: ticket) }) else { return false }
        return grant.end > now && grant.channel == channel && grant.origin == origin
    }
}
