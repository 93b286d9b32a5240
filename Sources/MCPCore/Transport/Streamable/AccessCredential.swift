extension AccessGuard {
    /// What a caller is known by.
    enum Credential: Sendable {
        case token(PresentedToken)
        /// The process at the other end of the connection.
        case peer(PeerUser)

        var digest: SHA256.Digest {
            switch self {
            case .token(let token): SHA256.hash(Array(token.value.utf8))
            // Not a token: it contains spaces.
            case .peer(let peer): SHA256.hash(Array("peer \(peer.user) \(peer.group ?? .max)".utf8))
            }
        }

        /// The process; nil for a token.
        var peer: PeerUser? { if case .peer(let peer) = self { peer } else { nil } }
    }

    /// A credential that is not in the cache.
    struct UnverifiedCredential: Sendable {
        let digest: SHA256.Digest
        let credential: Credential
        /// Whether it is verified however many wrong tokens its address presents: for a process, and for a
        /// token whose last verification succeeded.
        let wasGood: Bool
        /// The generation of the verifier when the request came.
        let generation: UInt64

        init(_ credential: Credential, wasGood: Bool) {
            self.init(digest: credential.digest, credential: credential, wasGood: wasGood, generation: 0)
        }

        init(
            digest: SHA256.Digest, credential: Credential, wasGood: Bool, generation: UInt64
        ) {
            self.digest = digest
            self.credential = credential
            self.wasGood = wasGood
            self.generation = generation
        }
    }
}
