/// An immutable run of bytes that shares its memory with the buffer it was cut from.
///
/// Copying a slice copies a reference, never bytes. A slice keeps the whole block alive: copy what you keep
/// for long out of a large message with `copy()`.
@safe public struct ByteSlice: @unchecked Sendable {
    let storage: ByteStorage
    // SAFETY: points into `storage`, which the slice keeps alive and nobody overwrites meanwhile (see
    // ByteStorage).
    let base: UnsafePointer<UInt8>
    /// The number of bytes.
    public let count: Int

    /// `start ..< start + count` must lie inside the written part of `storage`.
    @inline(__always)
    init(storage: ByteStorage, start: Int, count: Int) {
        self.storage = storage
        unsafe base = UnsafePointer(storage.base + start)
        self.count = count
    }

    /// A slice without bytes.
    public init() { self.init(storage: .empty, start: 0, count: 0) }

    /// Copies the bytes.
    public init(_ bytes: some Collection<UInt8>) {
        let count = bytes.count
        let storage = ByteStorage(capacity: count)
        _ = unsafe UnsafeMutableBufferPointer(start: storage.base, count: count).update(fromContentsOf: bytes)
        self.init(storage: storage, start: 0, count: count)
    }

    /// Copies the UTF-8 of a string.
    public init(_ string: String) { self.init(string.utf8) }

    /// The bytes as an array, copied at once; `Array(slice)` copies one by one.
    public var array: [UInt8] { unsafe withBytes { unsafe Array($0) } }

    /// The same bytes in memory of their own.
    public func copy() -> ByteSlice { ByteSlice(self) }

    /// The bytes as unsafe memory, valid during the call.
    @inline(__always)
    func withBytes<R, E: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R {
        let result = unsafe try body(UnsafeBufferPointer(start: base, count: count))
        withExtendedLifetime(storage) {}
        return result
    }

    /// The part of this slice at `range`, without a copy. `range` must lie inside `0 ..< count`.
    @inline(__always)
    public subscript(range: Range<Int>) -> ByteSlice {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "slice out of range")
        let start = unsafe base - UnsafePointer(storage.base)
        return ByteSlice(storage: storage, start: start + range.lowerBound, count: range.count)
    }

    /// Compares with the bytes of a literal.
    @inline(__always)
    func equals(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount else { return false }
        return unsafe memoryEquals(base, literal.utf8Start, count)
    }
}

extension ByteSlice: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The same as `count`.
    public var endIndex: Int { count }

    /// The byte at `index`, which must lie inside `0 ..< count`.
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
    /// Whether both hold the same bytes.
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
    /// The bytes as text; invalid UTF-8 becomes U+FFFD.
    public init(_ slice: ByteSlice) {
        self = unsafe slice.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
