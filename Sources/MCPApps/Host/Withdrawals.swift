/// The questions that a view or a server takes back.
///
/// One that asks and takes back endlessly would keep the user from everything else.
struct Withdrawals {
    /// The number within `period`: 6. After one more, its questions are refused without asking until it has
    /// asked nothing for `AppHost.quietTime`.
    static let max = 6
    /// One minute.
    static let period = Duration.seconds(60)

    private var recent: [ContinuousClock.Instant] = []
    private var refusedUntil: ContinuousClock.Instant?

    /// Whether a question is refused that is asked now.
    mutating func refuse(_ now: ContinuousClock.Instant) -> Bool {
        guard let refusedUntil, now < refusedUntil else { return false }
        self.refusedUntil = now + AppHost.quietTime
        return true
    }

    /// Counts a question that is taken back.
    /// - Returns: whether the asker is refused from now on.
    mutating func count(_ now: ContinuousClock.Instant) -> Bool {
        recent.removeAll { $0 <= now - Self.period }
        recent.append(now)
        guard recent.count > Self.max else { return false }
        recent = []
        refusedUntil = now + AppHost.quietTime
        return true
    }
}
