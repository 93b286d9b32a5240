/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The text for a time in seconds since 1970, between the years 1970 and 9999.
    static func format(_ seconds: Int) -> String {
        let seconds = min(max(0, seconds), 253_402_300_799)
        let (day, rest) = (seconds / 86_400, seconds % 86_400)
        let (year, month, date) = civil(day)
        let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        return "\(weekdays[day % 7]), \(two(date)) \(months[month - 1]) \(year) \(time) GMT"
    }

    /// The time in seconds since 1970, or nil if the text is not of the one current form.
    static func parse(_ text: String) -> Int? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].last == ",", parts[5] == "GMT",
            let date = number(parts[1], 2), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], 4), year >= 1970
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], 2), let minute = number(clock[1], 2),
            let second = number(clock[2], 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        let day = dayNumber(year, month + 1, date)
        guard civil(day) == (year, month + 1, date) else { return nil }
        return day * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// How many seconds a `Retry-After` asks to wait at the time `now`; nil if it cannot be read.
    static func delay(retryAfter: String, now: Int) -> Int? {
        // Small: no conversion: digits are read, nil beyond Int.
        if !retryAfter.isEmpty, retryAfter.utf8.allSatisfy(ASCII.isDigit) { return Int(retryAfter) ?? .max }
        return parse(retryAfter).map { max(0, $0 - now) }
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func number(_ text: Substring, _ digits: Int) -> Int? {
        // Small: no conversion: four digits at most are read.
        text.utf8.count == digits && text.utf8.allSatisfy(ASCII.isDigit) ? Int(text) : nil
    }

    // Days are counted in eras of 400 years that begin on 1 March, so that a leap day is the last day of a
    // year.

    private static func civil(_ day: Int) -> (year: Int, month: Int, date: Int) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let ofEra = shifted % 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, ofYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    private static func dayNumber(_ year: Int, _ month: Int, _ date: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let yearOfEra = shiftedYear % 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date - 1
        let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
        return shiftedYear / 400 * 146_097 + ofEra - 719_468
    }
}
