#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A fixed block of memory that one buffer writes and any number of slices read.
///
/// The bytes up to a buffer's write position never change while a slice may refer to them: `ByteBuffer`
/// overwrites a block only if there are no other references to it, and otherwise allocates a new one. The
/// capacity is followed by `ByteStorage.slack` zero bytes, so that a vector load that starts inside the block
/// stays inside the allocation.
@safe final class ByteStorage: @unchecked Sendable {
    // SAFETY: written only outside the ranges of existing slices (see above); `base` and `capacity` never
    // change.
    let base: UnsafeMutablePointer<UInt8>
    let capacity: Int

    /// The number of zero bytes after the capacity.
    static let slack = 64

    /// The block that all empty buffers and slices share.
    static let empty = ByteStorage(capacity: 0)

    /// Whether the memory was handed over to a longer block and must no longer be freed by this object.
    private var isHandedOver = false

    convenience init(capacity: Int) { unsafe self.init(nil, capacity: capacity) }

    /// Returns a longer block with the same content, if possible in the same memory.
    ///
    /// The system remaps a block that is already long, so its pages are neither copied nor faulted in again.
    ///
    /// There must be no other references to this object, and it must not be used afterwards.
    func grown(to capacity: Int) -> ByteStorage {
        isHandedOver = true
        return unsafe ByteStorage(base, capacity: capacity)
    }

    private init(_ block: UnsafeMutablePointer<UInt8>?, capacity: Int) {
        guard let memory = unsafe realloc(block, capacity + Self.slack) else {
            fatalError("cannot allocate \(capacity) bytes")
        }
        self.capacity = capacity
        unsafe base = memory.assumingMemoryBound(to: UInt8.self)
        unsafe (base + capacity).initialize(repeating: 0, count: Self.slack)
    }

    deinit {
        if !isHandedOver { unsafe free(base) }
    }
}
