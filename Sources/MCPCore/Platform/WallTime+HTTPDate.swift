extension WallTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Creates a time from a header field, such as `Sun, 06 Nov 1994 08:49:37 GMT`, in any of the three forms
    /// (RFC 9110, section 5.6.7); nil for anything else.
    ///
    /// - Parameter now: the present. Two digits are a year of the last 50 years or of the next 50.
    package init?(httpDate text: String, now: WallTime = .now) {
        var words = text.split(whereSeparator: { " ,:-".contains($0) })
        // `Sun Nov  6 08:49:37 1994`
        if words.count == 7 { words = [0, 2, 1, 6, 3, 4, 5].map { words[$0] } + ["GMT"] }
        guard words.count == 8, words[7] == "GMT", let day = Int64(words[1]),
            let month = Self.months.firstIndex(of: String(words[2])), var year = Int64(words[3]),
            let hour = Int64(words[4]), let minute = Int64(words[5]), let second = Int64(words[6])
        else { return nil }
        // `Sunday, 06-Nov-94 08:49:37 GMT`
        if words[3].utf8.count == 2 {
            let thisYear = Int64(now.civil.year)
            year += thisYear - thisYear % 100
            if year > thisYear + 50 { year -= 100 }
        }
        guard (1 ... 31).contains(day), (1970 ... 9999).contains(year), (0 ... 23).contains(hour),
            (0 ... 59).contains(minute), (0 ... 60).contains(second)
        else { return nil }
        // Days from civil (Howard Hinnant), with years that begin in March.
        let shifted = month < 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * Int64((month + 10) % 12) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        self.init(secondsSinceEpoch: days * 86_400 + hour * 3_600 + minute * 60 + second)
    }
}
