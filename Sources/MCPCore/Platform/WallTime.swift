/// A point in civil time: nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
package struct WallTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var nanosecondsSinceEpoch: Int64

    package init(nanosecondsSinceEpoch: Int64) { self.nanosecondsSinceEpoch = nanosecondsSinceEpoch }

    /// Creates a time from seconds, saturating at the bounds of Int64 nanoseconds (the years 1677 and 2262).
    package init(secondsSinceEpoch: Int64) {
        let (product, overflow) = secondsSinceEpoch.multipliedReportingOverflow(by: 1_000_000_000)
        nanosecondsSinceEpoch = overflow ? (secondsSinceEpoch > 0 ? .max : .min) : product
    }

    /// The current time of the system's wall clock.
    package static var now: WallTime { SystemClock().wallTime }

    /// The date in UTC that `SOURCE_DATE_EPOCH` names, such as `2026-07-28`; nil without it. Every build of a
    /// commit has the same.
    package static func sourceDate(_ variable: (String) -> String?) -> String? {
        variable("SOURCE_DATE_EPOCH").flatMap { Int64($0) }.map {
            String(WallTime(secondsSinceEpoch: $0).description.prefix { $0 != "T" })
        }
    }

    package var secondsSinceEpoch: Int64 { Self.floorDivide(nanosecondsSinceEpoch, 1_000_000_000) }

    package static func < (a: WallTime, b: WallTime) -> Bool {
        a.nanosecondsSinceEpoch < b.nanosecondsSinceEpoch
    }

    package static func + (time: WallTime, duration: Duration) -> WallTime {
        let step = duration.wholeNanoseconds
        let (sum, overflow) = time.nanosecondsSinceEpoch.addingReportingOverflow(step)
        return WallTime(nanosecondsSinceEpoch: overflow ? (step > 0 ? .max : .min) : sum)
    }

    /// The time in ISO 8601, in UTC and with milliseconds: `2026-07-28T09:30:00.000Z`.
    package var description: String { String(decoding: iso8601, as: UTF8.self) }

    /// The date and time of day in UTC.
    package var civil: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, weekday: Int) {
        let seconds = secondsSinceEpoch
        let days = Self.floorDivide(seconds, 86_400)
        let timeOfDay = Int(seconds - days * 86_400)
        // Days to civil date in the proleptic Gregorian calendar, with years that begin in March so that the
        // leap day is the last one (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
        let shifted = days + 719_468
        let era = Self.floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let weekday = ((days + 4) % 7 + 7) % 7
        return (
            Int(year), Int(month), Int(day), timeOfDay / 3_600, timeOfDay / 60 % 60, timeOfDay % 60,
            Int(weekday)
        )
    }

    /// The bytes of `description`.
    package var iso8601: [UInt8] {
        let civil = civil
        let fraction = nanosecondsSinceEpoch - secondsSinceEpoch * 1_000_000_000
        var text: [UInt8] = []
        text.reserveCapacity(24)
        func put(_ number: Int, digits: Int, then separator: Character) {
            var power = 1
            for _ in 1 ..< digits { power *= 10 }
            while power > 0 {
                text.append(0x30 + UInt8(truncatingIfNeeded: number / power % 10))
                power /= 10
            }
            text.append(contentsOf: String(separator).utf8)
        }
        put(civil.year, digits: 4, then: "-")
        put(civil.month, digits: 2, then: "-")
        put(civil.day, digits: 2, then: "T")
        put(civil.hour, digits: 2, then: ":")
        put(civil.minute, digits: 2, then: ":")
        put(civil.second, digits: 2, then: ".")
        put(Int(fraction / 1_000_000), digits: 3, then: "Z")
        return text
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
        let quotient = a / b
        return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient
    }
}
