/// Sizes for people: `12 B`, `1.2 kB`, `3.4 MB`.
enum ByteSize {
    static func text(_ bytes: Int) -> String {
        if bytes < 1000 { return "\(bytes) B" }
        var value = Double(bytes) / 1000
        for unit in ["kB", "MB", "GB"] {
            if value < 1000 || unit == "GB" { return "\(TimeSpan.decimal(value)) \(unit)" }
            value /= 1000
        }
        return "\(bytes) B"
    }
}
