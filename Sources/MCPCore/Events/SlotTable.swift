/// The registration of one descriptor on an event loop.
///
/// The generation distinguishes it from earlier users of the same slot, so that an event that the operating
/// system had already reported when its descriptor was closed reaches no handler.
struct Registration: Sendable, Hashable {
    fileprivate let index: UInt32
    fileprivate let generation: UInt32

    fileprivate init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    @inline(__always)
    init(token: UInt64) {
        index = UInt32(truncatingIfNeeded: token)
        generation = UInt32(truncatingIfNeeded: token >> 32)
    }

    @inline(__always)
    var token: UInt64 { UInt64(generation) << 32 | UInt64(index) }
}

/// The handlers of a loop by slot number; a lookup takes one comparison and one load.
@safe struct SlotTable: ~Copyable {
    @unsafe struct Slot {
        var handler: Unmanaged<EventHandler>?
        var generation: UInt32
        var fd: Int32
        var interest: Readiness
        var isAlwaysReady: Bool
    }

    // SAFETY: `capacity` initialized slots, replaced as a whole when the table grows; a slot's handler is
    // retained from insert until remove returns the reference.
    private var slots: UnsafeMutablePointer<Slot>
    private var capacity: Int
    private var free: [UInt32]
    /// The registered descriptors of the kind that no poller can watch.
    private(set) var alwaysReady: [Registration] = []

    init() {
        unsafe slots = .allocate(capacity: 0)
        capacity = 0
        free = []
    }

    deinit {
        for index in 0 ..< capacity { unsafe slots[index].handler?.release() }
        unsafe slots.deallocate()
    }

    var count: Int { capacity - free.count }

    mutating func insert(_ handler: EventHandler, fd: Int32, interest: Readiness) -> Registration {
        if free.isEmpty { grow() }
        let index = free.removeLast()
        let place = Int(index)
        unsafe slots[place].generation &+= 1
        unsafe slots[place].handler = .passRetained(handler)
        unsafe slots[place].fd = fd
        unsafe slots[place].interest = interest
        unsafe slots[place].isAlwaysReady = false
        return unsafe Registration(index: index, generation: slots[place].generation)
    }

    /// Frees the slot and returns the handler together with the table's reference, or nil if the slot was
    /// already free.
    mutating func remove(_ registration: Registration) -> (handler: EventHandler, fd: Int32, Readiness)? {
        guard let place = place(of: registration), let handler = unsafe slots[place].handler else {
            return nil
        }
        unsafe slots[place].handler = nil
        if unsafe slots[place].isAlwaysReady { alwaysReady.removeAll { $0 == registration } }
        free.append(registration.index)
        return unsafe (handler.takeRetainedValue(), slots[place].fd, slots[place].interest)
    }

    /// Returns the handler and its interest.
    ///
    /// The table keeps the handler alive until it is removed. A caller that removes it while one of its
    /// methods is running must keep it alive until that method has returned.
    @inline(__always)
    func handler(_ registration: Registration) -> (Unmanaged<EventHandler>, Readiness)? {
        guard let place = place(of: registration), let handler = unsafe slots[place].handler else {
            return nil
        }
        return unsafe (handler, slots[place].interest)
    }

    /// Returns the descriptor and what it is watched for.
    func entry(_ registration: Registration) -> (fd: Int32, interest: Readiness, isAlwaysReady: Bool)? {
        guard let place = place(of: registration), unsafe slots[place].handler != nil else { return nil }
        return unsafe (slots[place].fd, slots[place].interest, slots[place].isAlwaysReady)
    }

    mutating func setInterest(_ registration: Registration, _ interest: Readiness) {
        guard let place = place(of: registration) else { return }
        unsafe slots[place].interest = interest
    }

    mutating func setAlwaysReady(_ registration: Registration) {
        guard let place = place(of: registration) else { return }
        unsafe slots[place].isAlwaysReady = true
        alwaysReady.append(registration)
    }

    /// All registrations in use.
    var registrations: [Registration] {
        (0 ..< capacity).compactMap { place in
            guard unsafe slots[place].handler != nil else { return nil }
            return unsafe Registration(index: UInt32(place), generation: slots[place].generation)
        }
    }

    @inline(__always)
    private func place(of registration: Registration) -> Int? {
        let place = Int(registration.index)
        guard place < capacity, unsafe slots[place].generation == registration.generation else { return nil }
        return place
    }

    private mutating func grow() {
        let grown = max(16, capacity * 2)
        let block = UnsafeMutablePointer<Slot>.allocate(capacity: grown)
        unsafe block.moveInitialize(from: slots, count: capacity)
        let blank = unsafe Slot(handler: nil, generation: 0, fd: -1, interest: [], isAlwaysReady: false)
        unsafe (block + capacity).initialize(repeating: blank, count: grown - capacity)
        unsafe slots.deallocate()
        free.append(contentsOf: (UInt32(capacity) ..< UInt32(grown)).reversed())
        unsafe slots = block
        capacity = grown
    }
}
