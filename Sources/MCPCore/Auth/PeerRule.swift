/// A rule about processes of this machine that need no token: those of a user or of a group, at the other end
/// of a unix socket, or on Linux of a TCP connection over the loopback interface.
public struct PeerRule: Sendable, Hashable {
    /// The processes that a rule is about.
    public enum Match: Sendable, Hashable {
        /// Those of the user with this id.
        case user(UInt32)
        /// Those of all users that are in the group with this id.
        case group(UInt32)
        /// Those of every user.
        case everyone
    }

    /// The processes.
    public let match: Match
    /// The patterns of the names that they may use (`AccessRules`).
    public let allow: [String]
    /// The scopes that they have.
    public let scopes: [String]
    /// The rate of requests of each user; nil for that of `ServerAuthorization`.
    public let rate: RateLimit?

    /// Creates a rule.
    public init(_ match: Match, allow: [String] = ["*"], scopes: [String] = [], rate: RateLimit? = nil) {
        self.match = match
        self.allow = allow
        self.scopes = scopes
        self.rate = rate
    }

    /// Returns the principal of a process by the first rule that is about it. Its subject is the name of the
    /// user, or the user id without a name. May wait for a directory service.
    static func principal(of peer: PeerUser, by rules: [PeerRule]) -> Principal? {
        // The groups are looked up for the first rule that needs them.
        var groups: Set<UInt32>?
        let rule = rules.first { rule in
            switch rule.match {
            case .everyone: return true
            case .user(let user): return user == peer.user
            case .group(let group):
                if groups == nil { groups = peer.groups }
                return groups?.contains(group) == true
            }
        }
        guard let rule else { return nil }
        return Principal(
            kind: .peer, subject: peer.name ?? "\(peer.user)", scopes: Set(rule.scopes),
            allowedNames: rule.allow, verifiedFor: verifiedFor, rate: rule.rate)
    }

    /// The time after which the groups of a user are looked up again.
    private static let verifiedFor = Duration.seconds(60)
}
