/// A point in time on the monotonic clock, in nanoseconds; comparable only within one boot.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    var nanoseconds: Int64

    /// The instant later than all others: no deadline.
    package static let never = MonotonicInstant(nanoseconds: .max)

    /// Returns whether `a` is earlier than `b`.
    @inline(__always)
    package static func < (a: MonotonicInstant, b: MonotonicInstant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Returns the instant after a duration, saturating at `never` and at the earliest instant.
    @inline(__always)
    package static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        instant.advanced(byNanoseconds: duration.wholeNanoseconds)
    }

    @inline(__always)
    func advanced(byNanoseconds count: Int64) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return MonotonicInstant(nanoseconds: overflow ? (count > 0 ? .max : .min) : sum)
    }

    /// Returns the time from `earlier` to `instant`.
    package static func - (instant: MonotonicInstant, earlier: MonotonicInstant) -> Duration {
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        return .nanoseconds(overflow ? (instant > earlier ? .max : .min) : difference)
    }
}

extension Duration {
    /// The duration in nanoseconds, saturating at the bounds of Int64 (about 292 years).
    var wholeNanoseconds: Int64 {
        // `components` itself traps when the seconds are more than an Int64 has.
        if self >= .seconds(Self.mostSeconds) { return .max }
        if self <= .seconds(-Self.mostSeconds) { return .min }
        let (seconds, attoseconds) = components
        // In the range: checked above.
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The whole seconds that Int64 has as nanoseconds.
    private static let mostSeconds: Int64 = 9_223_372_036

    /// The duration in milliseconds, as shown in log lines and error texts.
    package var milliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}
