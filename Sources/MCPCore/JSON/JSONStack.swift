/// A stack whose topmost elements can be moved into an array of exactly the right size.
@safe struct JSONStack<Element>: ~Copyable {
    // SAFETY: the first `count` of `capacity` elements are initialized; the stack has one owner.
    private var base: UnsafeMutablePointer<Element>?
    private var capacity = 0
    private(set) var count = 0

    init() { unsafe base = nil }

    deinit {
        unsafe base?.deinitialize(count: count)
        unsafe base?.deallocate()
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        if let base = unsafe base { unsafe (base + count).initialize(to: element) }
        count += 1
    }

    private mutating func grow() {
        // Small: twice the size of an array in memory.
        let room = max(16, 2 * capacity)
        let grown = UnsafeMutablePointer<Element>.allocate(capacity: room)
        if let base = unsafe base {
            unsafe grown.moveInitialize(from: base, count: count)
            unsafe base.deallocate()
        }
        unsafe base = unsafe grown
        capacity = room
    }

    subscript(place: Int) -> Element {
        @inline(__always) get {
            guard place >= 0, place < count, let base = unsafe base else {
                preconditionFailure("no such element")
            }
            return unsafe base[place]
        }
    }

    /// Moves out the elements at and above `mark`.
    @inline(__always)
    mutating func popArray(to mark: Int) -> [Element] {
        precondition(mark >= 0 && mark <= count, "mark is not on the stack")
        guard let base = unsafe base, mark < count else { return [] }
        let number = count - mark
        count = mark
        var elements: [Element] = []
        elements.reserveCapacity(number)
        for index in mark ..< mark + number { elements.append(unsafe (base + index).move()) }
        return elements
    }

    /// Removes the elements at and above `mark`.
    @inline(__always)
    mutating func drop(to mark: Int) {
        precondition(mark >= 0 && mark <= count, "mark is not on the stack")
        if let base = unsafe base { unsafe (base + mark).deinitialize(count: count - mark) }
        count = mark
    }
}

extension JSONStack where Element == UInt64 {
    /// Whether two of the elements at and above `mark` are equal.
    @inline(__always)
    borrowing func hasEqual(from mark: Int) -> Bool {
        precondition(mark >= 0 && mark <= count, "mark is not on the stack")
        guard let base = unsafe base, count - mark > 1 else { return false }
        for index in mark + 1 ..< count {
            let element = unsafe base[index]
            for other in mark ..< index where unsafe base[other] == element { return true }
        }
        return false
    }
}
