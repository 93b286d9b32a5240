/// Formats of dates, times and durations as defined by RFC 3339.
enum TimeFormat {
    /// Accepts `full-date`; the day must exist in the month.
    static func isDate(_ text: ArraySlice<UInt8>) -> Bool {
        var text = text
        guard let year = number(&text, 4), skip(&text, 0x2D), let month = number(&text, 2), skip(&text, 0x2D),
            let day = number(&text, 2), text.isEmpty, (1 ... 12).contains(month), day >= 1
        else { return false }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return day <= days[month - 1]
    }

    /// Accepts `full-time`; second 60 is accepted only where a leap second can occur (23:59:60 UTC).
    static func isTime(_ text: ArraySlice<UInt8>) -> Bool {
        var text = text
        guard let hour = number(&text, 2), skip(&text, 0x3A), let minute = number(&text, 2),
            skip(&text, 0x3A),
            let second = number(&text, 2), hour < 24, minute < 60, second <= 60
        else { return false }
        if skip(&text, 0x2E) {
            let digits = text.prefix { $0 >= 0x30 && $0 <= 0x39 }
            guard !digits.isEmpty else { return false }
            text = text.dropFirst(digits.count)
        }
        guard let sign = text.popFirst() else { return false }
        var offset = 0
        switch sign {
        case 0x5A, 0x7A: break
        case 0x2B, 0x2D:
            guard let hours = number(&text, 2), skip(&text, 0x3A), let minutes = number(&text, 2), hours < 24,
                minutes < 60
            else { return false }
            // Small: less than a day.
            offset = (hours * 60 + minutes) * (sign == 0x2B ? 1 : -1)
        default: return false
        }
        guard text.isEmpty else { return false }
        // Small: less than two days.
        return second < 60 || (hour * 60 + minute - offset + 2880) % 1440 == 1439
    }

    static func isDateTime(_ text: [UInt8]) -> Bool {
        guard text.count > 11, text[10] | 0x20 == 0x74 else { return false }
        return isDate(text[..<10]) && isTime(text[11...])
    }

    /// Accepts durations of RFC 3339 appendix A: `P` followed by weeks alone, or by a run of date units, then
    /// `T` and a run of time units.
    static func isDuration(_ text: [UInt8]) -> Bool {
        var text = text[...]
        guard skip(&text, 0x50), !text.isEmpty else { return false }
        if text.last == 0x57 {
            return text.count > 1 && text.dropLast().allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
        }
        guard units(&text, Array("YMD".utf8)) else { return false }
        if skip(&text, 0x54) {
            guard !text.isEmpty, units(&text, Array("HMS".utf8)) else { return false }
        }
        return text.isEmpty
    }

    /// Moves past numbers with units, which must follow each other without a gap (`Y`, then `M`, then `D`).
    private static func units(_ text: inout ArraySlice<UInt8>, _ names: [UInt8]) -> Bool {
        var previous: Int?
        while let first = text.first, first != 0x54 {
            let digits = text.prefix { $0 >= 0x30 && $0 <= 0x39 }
            text = text.dropFirst(digits.count)
            guard !digits.isEmpty, let unit = text.popFirst(), let place = names.firstIndex(of: unit) else {
                return false
            }
            if let previous, place != previous + 1 { return false }
            previous = place
        }
        return true
    }

    private static func number(_ text: inout ArraySlice<UInt8>, _ digits: Int) -> Int? {
        guard text.count >= digits else { return nil }
        var value = 0
        for byte in text.prefix(digits) {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            // Small: four digits at most.
            value = value * 10 + Int(byte - 0x30)
        }
        text = text.dropFirst(digits)
        return value
    }

    private static func skip(_ text: inout ArraySlice<UInt8>, _ byte: UInt8) -> Bool {
        guard text.first == byte else { return false }
        text = text.dropFirst()
        return true
    }
}
