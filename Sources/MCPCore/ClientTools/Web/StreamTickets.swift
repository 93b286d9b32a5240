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

    /// Used tickets that are remembered, so that the page learns why one is refused: 1,024.
    private static let remembered = 1_024

    /// The reason why a ticket opens no stream.
    enum Refusal: String, Error {
        case unknown = "The ticket is unknown"
        case used = "The ticket has been used: each one opens one stream"
        case expired = "The ticket has expired: it is valid for 30 s"
        case other = "The ticket was issued for another channel or another page"
    }

    private struct Grant {
        let channel: String
        /// The origin of the page; nil for a page of the server itself, and for other programs.
        let origin: String?
        let end: MonotonicInstant
        var isUsed = false
    }

    private let grants = Mutex<[String: Grant]>([:])
    private let clock: any TimeSource

    init(clock: any TimeSource) { self.clock = clock }

    /// Returns a new ticket; nil when the channel has too many that are unused.
    func issue(channel: String, origin: String?) -> String? {
        let now = clock.now
        let ticket = Hex.encode(SystemRandom().bytes(16))
        return grants.withLock { grants in
            Self.forget(&grants, at: now)
            guard
                grants.values.count(where: { $0.end > now && !$0.isUsed && $0.channel == channel })
                    < Self.perChannel
            else { return nil }
            grants[ticket] = Grant(channel: channel, origin: origin, end: now + Self.lifetime)
            return ticket
        }
    }

    /// Uses a ticket for a stream. It is void afterwards, whatever the outcome.
    func redeem(_ ticket: String, channel: String, origin: String?) throws(Refusal) {
        let now = clock.now
        let found = grants.withLock { grants in
            let grant = grants[ticket]
            grants[ticket]?.isUsed = true
            return grant
        }
        guard let grant = found else { throw .unknown }
        if grant.isUsed { throw .used }
        if grant.end <= now { throw .expired }
        guard grant.channel == channel, grant.origin == origin else { throw .other }
    }

    /// Forgets tickets that ended a while ago, and the used ones when there are too many.
    private static func forget(_ grants: inout [String: Grant], at now: MonotonicInstant) {
        grants = grants.filter { $0.value.end + lifetime > now }
        if grants.values.count(where: \.isUsed) > remembered { grants = grants.filter { !$0.value.isUsed } }
    }
}
