import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// A table with a bound and an order.
@Suite struct BoundedTableTests {
    typealias Table = BoundedTable<Int, String>
    static let policies: [Table.Policy] = [.refuse, .evictOldest, .evictLeastRecentlyUsed]

    /// The same in the simplest way: a list, the one that goes next first.
    struct Twin {
        let capacity: Int
        let policy: Table.Policy
        var entries: [(key: Int, value: String)] = []

        func place(_ key: Int) -> Int? { entries.firstIndex { $0.key == key } }

        mutating func touch(_ key: Int) {
            guard policy == .evictLeastRecentlyUsed, let place = place(key) else { return }
            entries.append(entries.remove(at: place))
        }

        mutating func insert(_ value: String, for key: Int) -> String {
            if let place = place(key) {
                let before = entries[place].value
                entries[place].value = value
                touch(key)
                return "replaced \(before)"
            }
            if entries.count < capacity {
                entries.append((key, value))
                return "inserted"
            }
            guard policy != .refuse else { return "refused" }
            let first = entries.removeFirst()
            entries.append((key, value))
            return "evicted \(first.key) \(first.value)"
        }
    }

    private static func text(_ insertion: Table.Insertion) -> String {
        switch insertion {
        case .inserted: "inserted"
        case .replaced(let before): "replaced \(before)"
        case .evicted(let key, let value): "evicted \(key) \(value)"
        case .refused: "refused"
        }
    }

    @Test(.ownThreads, arguments: policies, [1, 2, 7, 64])
    func anyCommandsDoWhatASimpleListDoes(_ policy: Table.Policy, _ capacity: Int) {
        var random = SeededRandom(seed: UInt64(capacity) &* 1_000_003)
        var table = Table(capacity: capacity, policy: policy)
        var twin = Twin(capacity: capacity, policy: policy)
        for step in 0 ..< 20_000 {
            let key = Int.random(in: 0 ..< capacity * 2 + 1, using: &random)
            switch Int.random(in: 0 ..< 100, using: &random) {
            case 0 ..< 60:
                #expect(Self.text(table.insert("v\(step)", for: key)) == twin.insert("v\(step)", for: key))
            case 60 ..< 70:
                twin.touch(key)
                #expect(table.use(key) == twin.place(key).map { twin.entries[$0].value })
            case 70 ..< 80:
                twin.touch(key)
                let place = twin.place(key)
                if let place { twin.entries[place].value += "+" }
                let length = table.update(key) { value in
                    value += "+"
                    return value.count
                }
                #expect(length == place.map { twin.entries[$0].value.count })
            case 80 ..< 92:
                let removed = twin.place(key).map { twin.entries.remove(at: $0).value }
                #expect(table.remove(key) == removed)
            case 92 ..< 95:
                let first = twin.entries.isEmpty ? nil : twin.entries.removeFirst()
                #expect(table.removeOldest()?.value == first?.value)
            case 95 ..< 97:
                table.removeAll { key, _ in key % 3 == 0 }
                twin.entries.removeAll { $0.key % 3 == 0 }
            case 97:
                table.removeOldest { key, _ in key % 2 == 0 }
                while let first = twin.entries.first, first.key % 2 == 0 { twin.entries.removeFirst() }
            case 98 where step % 50 == 0:
                table.removeAll()
                twin.entries = []
            default:
                #expect(table[key] == twin.place(key).map { twin.entries[$0].value })
                #expect(table.contains(key) == (twin.place(key) != nil))
            }
            guard
                table.count == twin.entries.count, table.isFull == (twin.entries.count == capacity),
                table.isEmpty == twin.entries.isEmpty, table.oldest?.key == twin.entries.first?.key,
                table.map(\.key) == twin.entries.map(\.key), table.map(\.value) == twin.entries.map(\.value)
            else {
                Issue.record("step \(step): \(table.map(\.key)) and not \(twin.entries.map(\.key))")
                return
            }
        }
    }

    // A value that is changed in place is not copied, and what is removed is let go at once.
    @Test func nothingIsKeptOfWhatIsGone() {
        final class Thing {}
        var table = BoundedTable<Int, Thing>(capacity: 2, policy: .evictOldest)
        weak var first: Thing?
        weak var second: Thing?
        do {
            let (one, two) = (Thing(), Thing())
            (first, second) = (one, two)
            table.insert(one, for: 1)
            table.insert(two, for: 2)
        }
        table.insert(Thing(), for: 3)
        #expect(first == nil)
        #expect(second != nil)
        table.remove(2)
        #expect(second == nil)
        #expect(table.map(\.key) == [3])
    }

    // The time for one more entry in a full table does not grow with the table.
    @Test func afullTableTakesConstantTime() {
        func steps(_ capacity: Int) -> Int {
            var table = BoundedTable<CountedKey, Int>(capacity: capacity, policy: .evictLeastRecentlyUsed)
            for number in 0 ..< capacity { table.insert(number, for: CountedKey(number)) }
            let before = CountedKey.operations.load(ordering: .relaxed)
            for number in 0 ..< 1_000 {
                table.insert(number, for: CountedKey(capacity + number))
                _ = table.use(CountedKey(capacity + number / 2))
                table.remove(CountedKey(capacity + number))
                table.insert(number, for: CountedKey(capacity + number))
            }
            return CountedKey.operations.load(ordering: .relaxed) - before
        }
        let (small, large) = (steps(100), steps(10_000))
        #expect(large < small * 3, "\(small) looks at keys with 100 entries, \(large) with 10,000")
    }

    /// A key that counts how often somebody looks at it.
    struct CountedKey: Hashable {
        static let operations = Atomic<Int>(0)
        let number: Int
        init(_ number: Int) { self.number = number }
        static func == (one: Self, other: Self) -> Bool {
            operations.add(1, ordering: .relaxed)
            return one.number == other.number
        }
        func hash(into hasher: inout Hasher) {
            Self.operations.add(1, ordering: .relaxed)
            hasher.combine(number)
        }
    }
}
