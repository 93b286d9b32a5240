/// The members of a JSON object in the order in which they were written.
///
/// Each name occurs once: where a text repeats a name, the last value counts and takes the position of the
/// first. Names are compared by their code points. Equality ignores the order. Lookup uses a linear search in
/// small objects and a seeded hash table in large ones.
public struct JSONObject: Sendable {
    /// A member.
    public typealias Element = (key: String, value: JSONValue)

    struct Member: Sendable {
        var key: String
        var value: JSONValue
    }

    /// The number of members above which an object has a table of its keys.
    static let linearLimit = 16

    private(set) var members: [Member]
    private var table: [JSONKey: Int]?

    /// Creates an object without members.
    @inline(__always)
    public init() { members = [] }

    /// Creates an object with the given members; the last one counts for repeated names.
    public init(_ elements: some Sequence<Element>) {
        members = []
        for element in elements { self[element.key] = element.value }
    }

    /// Creates an object with `members`, whose names must be distinct.
    @inline(__always)
    init(unique members: [Member], table: [JSONKey: Int]? = nil) {
        self.members = members
        self.table = table
        if table == nil, members.count > Self.linearLimit { buildTable() }
    }

    /// The number of members.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The names, in order.
    public var keys: some RandomAccessCollection<String> & Sendable { members.lazy.map(\.key) }

    /// The values, in order.
    public var values: some RandomAccessCollection<JSONValue> & Sendable { members.lazy.map(\.value) }

    /// The value of a member, or nil if there is none. Setting nil removes the member; a new member is added
    /// at the end.
    public subscript(key: String) -> JSONValue? {
        get {
            guard let place = place(of: key) else { return nil }
            return members[place].value
        }
        set {
            let place = place(of: key)
            if let newValue {
                if let place {
                    members[place].value = newValue
                } else {
                    append(newKey: key, newValue)
                }
            } else if let place {
                members.remove(at: place)
                table = nil
                if members.count > Self.linearLimit { buildTable() }
            }
        }
    }

    /// Adds a member at the end, or replaces the value of the member that has this name.
    public mutating func append(_ key: String, _ value: JSONValue) { self[key] = value }

    /// Makes room for `count` members.
    public mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    private mutating func append(newKey key: String, _ value: JSONValue) {
        members.append(Member(key: key, value: value))
        if table != nil {
            table?[JSONKey(name: key)] = members.count - 1
        } else if members.count > Self.linearLimit {
            buildTable()
        }
    }

    private mutating func buildTable() {
        var table = [JSONKey: Int](minimumCapacity: members.count)
        for (place, member) in members.enumerated() { table[JSONKey(name: member.key)] = place }
        self.table = table
    }

    private func place(of key: String) -> Int? {
        if let table { return table[JSONKey(name: key)] }
        for place in members.indices where JSONKey.same(members[place].key, key) { return place }
        return nil
    }
}

extension JSONObject: Sequence {
    /// An iterator over the members in order.
    public struct Iterator: IteratorProtocol {
        var base: IndexingIterator<[Member]>

        /// Returns the next member, or nil at the end.
        public mutating func next() -> Element? {
            guard let member = base.next() else { return nil }
            return (member.key, member.value)
        }
    }

    /// An iterator over the members in order.
    public func makeIterator() -> Iterator { Iterator(base: members.makeIterator()) }

    /// The number of members.
    public var underestimatedCount: Int { members.count }
}

extension JSONObject: Hashable {
    /// Whether both objects have the same names with equal values, in any order.
    public static func == (a: JSONObject, b: JSONObject) -> Bool {
        guard a.count == b.count else { return false }
        for (place, member) in a.members.enumerated() {
            let other = b.members[place]
            if JSONKey.same(member.key, other.key) {
                guard member.value == other.value else { return false }
            } else {
                guard b[member.key] == member.value else { return false }
            }
        }
        return true
    }

    /// Hashes the members without regard to their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for member in members {
            var one = hasher
            one.combine(JSONKey(name: member.key))
            one.combine(member.value)
            sum = sum &+ one.finalize()
        }
        hasher.combine(count)
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object with the members of the literal; the last one counts for repeated names.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        members = []
        members.reserveCapacity(elements.count)
        for (key, value) in elements { self[key] = value }
    }
}
