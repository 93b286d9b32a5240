import Synchronization

/// The streams that end when the token that opened them has expired.
final class ExpiryWatch: Sendable {
    /// An entry for one stream; the stream is forgotten with it.
    final class Entry: Sendable {
        fileprivate let number: UInt64
        fileprivate let end: @Sendable () -> Void
        private weak let watch: ExpiryWatch?

        fileprivate init(
            _ number: UInt64, _ watch: ExpiryWatch, _ end: @escaping @Sendable () -> Void
        ) {
            self.number = number
            self.watch = watch
            self.end = end
        }

        deinit { watch?.forget(number) }
    }

    private struct WeakEntry: Sendable {
        weak let entry: Entry?
        let moment: MonotonicInstant
    }

    private let entries = Mutex<[UInt64: WeakEntry]>([:])
    private let lastNumber = Atomic<UInt64>(0)
    private let clock: any TimeSource
    private let alarm: Alarm

    init(clock: any TimeSource) {
        self.clock = clock
        alarm = Alarm(label: "mcp.expiry", clock: clock)
    }

    /// The number of streams that are watched.
    var count: Int { entries.withLock { $0.count } }

    /// Calls `end` when the caller's token has expired and the time for differences between clocks is over,
    /// as long as the entry is kept. Returns nil for a caller whose token does not expire.
    func watch(_ caller: Caller?, _ end: @escaping @Sendable () -> Void) -> Entry? {
        guard let expiry = caller?.identity.principal.expiresAt else { return nil }
        let (left, overflow) = expiry.subtractingReportingOverflow(clock.wallTime.secondsSinceEpoch)
        // Beyond a hundred years nothing is watched.
        guard !overflow, left < 3_200_000_000 else { return nil }
        let moment = clock.now + .seconds(max(0, left) + AccessGuard.skewSeconds)
        let entry = Entry(lastNumber.add(1, ordering: .relaxed).newValue, self, end)
        entries.withLock { $0[entry.number] = WeakEntry(entry: entry, moment: moment) }
        alarm.set(for: moment, waking: self) { $0.sweep() }
        return entry
    }

    private func forget(_ number: UInt64) { _ = entries.withLock { $0.removeValue(forKey: number) } }

    private func sweep() {
        let now = clock.now
        var next = MonotonicInstant.never
        let due = entries.withLock { entries -> [Entry] in
            var due: [Entry] = []
            for (key, known) in entries {
                if known.moment > now {
                    next = min(next, known.moment)
                    continue
                }
                if let entry = known.entry { due.append(entry) }
                entries[key] = nil
            }
            return due
        }
        for entry in due { entry.end() }
        if next < .never { alarm.set(for: next, waking: self) { $0.sweep() } }
    }
}
