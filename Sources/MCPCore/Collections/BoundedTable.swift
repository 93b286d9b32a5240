/// An ordered dictionary with a fixed maximum number of entries.
///
/// Lookup, insertion, removal and eviction take constant time, however full the table is. The table has no
/// lock of its own; its owner must provide one. The entries are stored in one array and linked in their order
/// by index.
package struct BoundedTable<Key: Hashable, Value> {
    /// The handling of an insertion into a full table.
    package enum Policy: Sendable {
        /// The new entry is refused, and the table stays as it is.
        case refuse
        /// The entry that was inserted first is evicted.
        case evictOldest
        /// The entry that was least recently inserted or used is evicted.
        case evictLeastRecentlyUsed
    }

    /// The result of an insertion.
    package enum Insertion {
        /// There was room.
        case inserted
        /// The key already had an entry, whose previous value is given.
        case replaced(Value)
        /// This entry was evicted to make room.
        case evicted(key: Key, value: Value)
        /// The table is full and unchanged.
        case refused
    }

    fileprivate struct Node {
        let key: Key
        var value: Value
        /// The places of the next older and the next newer entry.
        var older: Int
        var newer: Int
    }

    private static var none: Int { -1 }

    let capacity: Int
    let policy: Policy
    private var places: [Key: Int] = [:]
    /// The entries by place, nil where a place is free. No longer than the table was at its fullest.
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var oldestPlace = Self.none
    private var newestPlace = Self.none

    /// Creates an empty table.
    ///
    /// - Precondition: `capacity` is at least 1.
    package init(capacity: Int, policy: Policy) {
        precondition(capacity > 0, "a table must have room for at least one entry")
        self.capacity = capacity
        self.policy = policy
    }

    /// The number of entries.
    package var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }
    /// Whether a new entry would be refused or would evict another one.
    var isFull: Bool { places.count >= capacity }

    /// Whether the key has an entry.
    package func contains(_ key: Key) -> Bool { places[key] != nil }

    /// The value of a key. Reading it does not count as use.
    subscript(key: Key) -> Value? { places[key].flatMap { nodes[$0]?.value } }

    /// The entry that is evicted next.
    var oldest: (key: Key, value: Value)? { entry(at: oldestPlace) }

    private func entry(at place: Int) -> (key: Key, value: Value)? {
        place == Self.none ? nil : nodes[place].map { ($0.key, $0.value) }
    }

    // MARK: Changing

    /// Inserts a value, or replaces the value that the key has.
    ///
    /// A replacement counts as use where entries are evicted by use. Where they are evicted by age, the entry
    /// keeps its age.
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key) -> Insertion {
        if let place = places[key] {
            let before = nodes[place]?.value
            nodes[place]?.value = value
            if policy == .evictLeastRecentlyUsed { makeNewest(place) }
            return before.map(Insertion.replaced) ?? .inserted
        }
        guard isFull else {
            append(key, value)
            return .inserted
        }
        guard policy != .refuse, let evicted = removeOldest() else { return .refused }
        append(key, value)
        return .evicted(key: evicted.key, value: evicted.value)
    }

    /// Returns the value of a key, which counts as use.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if policy == .evictLeastRecentlyUsed { makeNewest(place) }
        return nodes[place]?.value
    }

    /// Changes a value in place, which counts as use. Returns nil if the key has no entry.
    mutating func update<R>(_ key: Key, _ body: (inout Value) -> R) -> R? {
        guard let place = places[key] else { return nil }
        if policy == .evictLeastRecentlyUsed { makeNewest(place) }
        guard var node = nodes[place] else { return nil }
        // Taken out for the call, so that an array or a set in it is not copied.
        nodes[place] = nil
        defer { nodes[place] = node }
        return body(&node.value)
    }

    /// Replaces the value of a key if it has one. This does not count as use.
    mutating func replace(_ value: Value, for key: Key) {
        if let place = places[key] { nodes[place]?.value = value }
    }

    /// Removes the entry of a key and returns its value.
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return nil }
        unlink(node)
        nodes[place] = nil
        free.append(place)
        return node.value
    }

    /// Removes the entry that is evicted next.
    @discardableResult
    package mutating func removeOldest() -> (key: Key, value: Value)? {
        guard let oldest else { return nil }
        remove(oldest.key)
        return oldest
    }

    /// Removes entries, oldest first, until `goes` returns false. Takes constant time for each removed entry.
    package mutating func removeOldest(while goes: (Key, Value) -> Bool) {
        while let (key, value) = oldest, goes(key, value) { remove(key) }
    }

    /// Removes every entry for which `goes` returns true; visits all entries.
    mutating func removeAll(where goes: (Key, Value) -> Bool) {
        var place = oldestPlace
        while place != Self.none, let node = nodes[place] {
            place = node.newer
            if goes(node.key, node.value) { remove(node.key) }
        }
    }

    mutating func removeAll() { self = Self(capacity: capacity, policy: policy) }

    // MARK: Order

    private mutating func append(_ key: Key, _ value: Value) {
        let node = Node(key: key, value: value, older: newestPlace, newer: Self.none)
        let place: Int
        if let last = free.popLast() {
            place = last
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        link(place)
    }

    /// Appends an entry to the list after the newest one.
    private mutating func link(_ place: Int) {
        nodes[place]?.older = newestPlace
        nodes[place]?.newer = Self.none
        if newestPlace == Self.none { oldestPlace = place } else { nodes[newestPlace]?.newer = place }
        newestPlace = place
    }

    private mutating func unlink(_ node: Node) {
        if node.older == Self.none { oldestPlace = node.newer } else { nodes[node.older]?.newer = node.newer }
        if node.newer == Self.none { newestPlace = node.older } else { nodes[node.newer]?.older = node.older }
    }

    private mutating func makeNewest(_ place: Int) {
        guard place != newestPlace, let node = nodes[place] else { return }
        unlink(node)
        link(place)
    }
}

/// The entries in the order of eviction.
extension BoundedTable: Sequence {
    package func makeIterator() -> AnyIterator<(key: Key, value: Value)> {
        var place = oldestPlace
        return AnyIterator {
            guard let entry = entry(at: place) else { return nil }
            place = nodes[place]?.newer ?? Self.none
            return entry
        }
    }
}

extension BoundedTable.Node: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedTable: Sendable where Key: Sendable, Value: Sendable {}
