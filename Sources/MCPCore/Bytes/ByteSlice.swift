/// An immutable sequence of bytes that shares memory with the buffer it was taken from.
///
/// Copying a slice copies a reference, never bytes. A slice keeps its whole block alive, so use `copy()` for
/// a part of a large message that you keep for long.
@safe public struct ByteSlice: @unchecked Sendable {
    let storage: ByteStorage
    // SAFETY: points into `storage`, which the slice keeps alive and which is not overwritten in the meantime
    // (see ByteStorage).
    let base: UnsafePointer<UInt8>
    /// The number of bytes.
    public let count: Int

    /// Creates a slice; `start ..< start + count` must be within the written part of `storage`.
    @inline(__always)
    init(storage: ByteStorage, start: Int, count: Int) {
        self.storage = storage
        unsafe base = UnsafePointer(storage.base + start)
        self.count = count
    }

    /// Creates an empty slice.
    public init() { self.init(storage: .empty, start: 0, count: 0) }

    /// Creates a slice with a copy of the bytes.
    public init(_ bytes: some Collection<UInt8>) {
        let count = bytes.count
        let storage = ByteStorage(capacity: count)
        _ = unsafe UnsafeMutableBufferPointer(start: storage.base, count: count).update(fromContentsOf: bytes)
        self.init(storage: storage, start: 0, count: count)
    }

    /// Creates a slice with a copy of the UTF-8 encoding of a string.
    public init(_ string: String) { self.init(string.utf8) }

    /// The bytes as an array, copied as a block; `Array(slice)` copies them one by one.
    public var array: [UInt8] { unsafe withBytes { unsafe Array($0) } }

    /// Returns the same bytes in their own memory.
    public func copy() -> ByteSlice { ByteSlice(self) }

    /// Calls `body` with the bytes as unsafe memory, which is valid during the call.
    @inline(__always)
    func withBytes<R, E: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R {
        let result = unsafe try body(UnsafeBufferPointer(start: base, count: count))
        withExtendedLifetime(storage) {}
        return result
    }

    /// The part of this slice at `range`, without copying. `range` must be within `0 ..< count`.
    @inline(__always)
    public subscript(range: Range<Int>) -> ByteSlice {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "slice out of range")
        let start = unsafe base - UnsafePointer(storage.base)
        return ByteSlice(storage: storage, start: start + range.lowerBound, count: range.count)
    }

    /// Whether the bytes equal those of a literal.
    @inline(__always)
    func equals(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount else { return false }
        return unsafe memoryEquals(base, literal.utf8Start, count)
    }

    /// Whether the bytes begin with those of a literal.
    @inline(__always)
    func hasPrefix(_ literal: StaticString) -> Bool {
        guard count >= literal.utf8CodeUnitCount else { return false }
        return unsafe memoryEquals(base, literal.utf8Start, literal.utf8CodeUnitCount)
    }
}

extension ByteSlice: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The same as `count`.
    public var endIndex: Int { count }

    /// The byte at `index`, which must be within `0 ..< count`.
    public subscript(index: Int) -> UInt8 {
        @inline(__always) get {
            precondition(index >= 0 && index < count, "index out of range")
            return unsafe base[index]
        }
    }

    /// Calls `body` with the bytes.
    public func withContiguousStorageIfAvailable<R>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> R
    ) rethrows -> R? {
        let result = unsafe try body(UnsafeBufferPointer(start: base, count: count))
        withExtendedLifetime(storage) {}
        return result
    }
}

extension ByteSlice: Hashable {
    /// Whether both slices contain the same bytes.
    public static func == (a: ByteSlice, b: ByteSlice) -> Bool {
        guard a.count == b.count else { return false }
        return unsafe memoryEquals(a.base, b.base, a.count)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        unsafe withBytes { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Creates a string by decoding the bytes as UTF-8; invalid sequences become U+FFFD.
    public init(_ slice: ByteSlice) {
        self = unsafe slice.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
