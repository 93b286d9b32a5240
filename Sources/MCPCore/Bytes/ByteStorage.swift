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

    init(capacity: Int) {
        self.capacity = capacity
        unsafe base = .allocate(capacity: capacity + Self.slack)
        unsafe (base + capacity).initialize(repeating: 0, count: Self.slack)
    }

    deinit { unsafe base.deallocate() }
}
