#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A fixed block of memory that a buffer writes and any number of slices read.
///
/// The bytes up to a buffer's write position never change while a slice may see them: `ByteBuffer` overwrites
/// a block only when nobody else refers to it, and otherwise takes a new one. Behind the capacity lie
/// `ByteStorage.slack` zero bytes, so that vector loads that start inside the block stay inside the
/// allocation.
@safe final class ByteStorage: @unchecked Sendable {
    // SAFETY: written only beyond what slices see (see above); `base` and `capacity` never change.
    let base: UnsafeMutablePointer<UInt8>
    let capacity: Int

    /// Zero bytes behind the capacity.
    static let slack = 64

    /// The block of every empty buffer and slice.
    static let empty = ByteStorage(capacity: 0)

    /// Whether the block went on to a longer one; it is then no longer this object's to free.
    private var isHandedOver = false

    convenience init(capacity: Int) { unsafe self.init(nil, capacity: capacity) }

    /// A longer block with the same content, where possible the same memory: what is long already is mapped
    /// to another place by the system, neither copied nor touched for the first time again.
    ///
    /// Nobody else may refer to this object, and nobody may use it afterwards.
    func grown(to capacity: Int) -> ByteStorage {
        isHandedOver = true
        return unsafe ByteStorage(base, capacity: capacity)
    }

    private init(_ block: UnsafeMutablePointer<UInt8>?, capacity: Int) {
        guard let memory = unsafe realloc(block, capacity + Self.slack) else {
            fatalError("no memory for \(capacity) bytes")
        }
        self.capacity = capacity
        unsafe base = memory.assumingMemoryBound(to: UInt8.self)
        unsafe (base + capacity).initialize(repeating: 0, count: Self.slack)
    }

    deinit {
        if !isHandedOver { unsafe free(base) }
    }
}
