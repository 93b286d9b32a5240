/// "Did you mean" suggestions: the nearest of the existing words, for messages of the daemon and the client.
package enum Suggestion {
    /// Returns the nearest candidate if it is near enough for `word` to be a typing error.
    package static func best(for word: String, among candidates: some Sequence<String>) -> String? {
        let typed = plain(word)
        guard !typed.isEmpty else { return nil }
        var best: (distance: Int, candidate: String)?
        for candidate in candidates.prefix(1000) where candidate != word {
            let name = plain(candidate)
            var distance = editDistance(typed, name)
            // A prefix of at least three characters counts as near: `git` for `git_log`.
            if typed.count >= 3, name.count > typed.count, name.starts(with: typed) {
                distance = min(distance, 2)
            }
            // A word with nothing in common is not a typing error.
            guard distance < max(typed.count, name.count) else { continue }
            // Nobody mistypes the first letter and another one.
            let limit = typed.first == name.first ? max(1, (max(typed.count, name.count) + 1) / 3) : 1
            guard distance <= limit || (distance == 2 && name.starts(with: typed)) else { continue }
            if best.map({ distance < $0.distance }) ?? true { best = (distance, candidate) }
        }
        return best?.candidate
    }

    /// Returns the beginning of a word that is compared: without the dashes of a flag, in lower case.
    private static func plain(_ word: String) -> [Unicode.Scalar] {
        Array(word.drop { $0 == "-" }.lowercased().unicodeScalars.prefix(64))
    }

    /// Returns ` (did you mean …?)`, or an empty string if no candidate is near.
    package static func hint(for word: String, among candidates: some Sequence<String>) -> String {
        best(for: word, among: candidates).map { " (did you mean \($0)?)" } ?? ""
    }

    /// Returns the number of insertions, deletions, replacements and swaps of neighbors (optimal string
    /// alignment).
    package static func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0 ... b.count)
        for i in 1 ... a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1 ... b.count {
                let cost = a[i - 1] == b[j - 1] ? 0 : 1
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
