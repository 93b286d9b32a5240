/// Finds the word a person probably meant.
enum Suggestion {
    /// The longest word that is compared: the comparison takes quadratic time.
    static let maxLength = 64

    /// The candidate nearest to `word`, if one is near enough to be worth a question.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let wanted = Array(word.lowercased().unicodeScalars.prefix(maxLength))
        let allowed = max(1, wanted.count / 3)
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            let other = Array(candidate.lowercased().unicodeScalars.prefix(maxLength))
            let distance = distance(wanted, other)
            if distance <= allowed, distance < best?.distance ?? Int.max { best = (distance, candidate) }
        }
        return best?.candidate
    }

    /// ` (did you mean …?)`, or nothing.
    static func hint(for word: String, among candidates: some Sequence<String>) -> String {
        nearest(to: word, among: candidates).map { " (did you mean \($0)?)" } ?? ""
    }

    /// Edits (insert, delete, replace, swap of neighbours) between two words.
    private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var beforeLast: [Int] = []
        var last = Array(0 ... b.count)
        for i in 1 ... a.count {
            var current = [i]
            for j in 1 ... b.count {
                let cost = a[i - 1] == b[j - 1] ? 0 : 1
                var value = min(last[j] + 1, current[j - 1] + 1, last[j - 1] + cost)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    value = min(value, beforeLast[j - 2] + 1)
                }
                current.append(value)
            }
            beforeLast = last
            last = current
        }
        return last[b.count]
    }
}
