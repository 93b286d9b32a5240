/// Whether a program sees the probe of 2026-07-28, which some older servers do not survive.
///
/// The program may be another one at each start, so nothing is final: an attempt that led to nothing is
/// followed by one of the other kind, unless the program has answered as a server of 2026-07-28.
package struct ProbePolicy: Sendable {
    /// How an attempt has ended.
    package enum Outcome: Sendable {
        /// After the daemon has listed the tools.
        case open
        /// The program has answered as a server of 2026-07-28.
        case modern
        /// The program has ended, or was silent for too long, without a result.
        case disturbed
        /// The connection has ended after some answer.
        case failed
        /// The connection has ended without an answer: perhaps the daemon has.
        case unanswered
    }

    /// Whether the next attempt hides the probe.
    package private(set) var hides = false
    /// Whether a program that leaves the probe unanswered is started again: not one that did no better
    /// without it, because it may only be slow.
    package private(set) var endsSilence = true

    package init() {}

    /// Notes how an attempt has ended; returns whether the next one follows at once.
    package mutating func note(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .open:
            // A program that has worked with the probe survives it.
            endsSilence = hides
            return false
        case .modern:
            defer { (hides, endsSilence) = (false, false) }
            return hides
        case .disturbed:
            (hides, endsSilence) = (!hides, false)
            return hides
        case .failed:
            (hides, endsSilence) = (!hides, false)
            return false
        case .unanswered:
            (hides, endsSilence) = hides ? (false, false) : (!endsSilence, endsSilence)
            return false
        }
    }
}
