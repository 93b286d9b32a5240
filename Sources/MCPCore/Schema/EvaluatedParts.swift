/// The members of an object or elements of an array that some schema has evaluated (2020-12 core 11).
///
/// Members are identified by their position in the object. Nothing is recorded unless an `unevaluated…`
/// keyword needs it.
struct EvaluatedParts {
    let isTracking: Bool
    private var all = false
    private var words: [UInt64] = []

    init(isTracking: Bool) { self.isTracking = isTracking }

    @inline(__always)
    mutating func insert(_ place: Int) {
        if isTracking { set(place) }
    }

    private mutating func set(_ place: Int) {
        while words.count <= place >> 6 { words.append(0) }
        words[place >> 6] |= 1 << UInt64(place & 63)
    }

    @inline(__always)
    mutating func insertAll() { all = true }

    func contains(_ place: Int) -> Bool {
        all || (place >> 6 < words.count && words[place >> 6] & (1 << UInt64(place & 63)) != 0)
    }

    mutating func formUnion(_ other: EvaluatedParts) {
        guard isTracking else { return }
        if other.all { all = true }
        for (place, word) in other.words.enumerated() {
            if place < words.count { words[place] |= word } else { words.append(word) }
        }
    }
}
