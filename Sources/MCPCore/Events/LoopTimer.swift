/// A deadline on an event loop that can be moved cheaply.
///
/// `arm` with a later deadline than before only stores the deadline: the timer keeps its place in the heap,
/// and the loop moves it when that place comes up too early. An idle timeout that is postponed by every
/// request therefore costs one store. Only an earlier deadline and `cancel` change the heap, in O(log n).
///
/// A timer is confined to its loop. Cancel it when its owner ends, because the loop keeps an armed timer
/// alive.
final class LoopTimer {
    private let counted = Counted(.loopTimer)

    /// The time at which the owner is to be called; `never` while disarmed.
    fileprivate(set) var deadline = MonotonicInstant.never
    /// The deadline that determines the place in the heap; never later than `deadline`.
    fileprivate var queuedDeadline = MonotonicInstant.never
    fileprivate var heapIndex = -1
    private var action: (() -> Void)?
    // SAFETY: every call is made on the loop's thread, which keeps the loop alive while it runs.
    private unowned let loop: EventLoop

    init(loop: EventLoop, action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Sets or moves the deadline, at which the timer fires once. `.never` disarms the timer.
    @inline(__always)
    func arm(at deadline: MonotonicInstant) {
        self.deadline = deadline
        if deadline < queuedDeadline { loop.enqueue(self) }
    }

    /// Sets the deadline, counted from the beginning of the loop's turn.
    func arm(after duration: Duration) { arm(at: loop.now + duration) }

    /// Clears the deadline and the action permanently.
    func cancel() {
        deadline = .never
        action = nil
        loop.dequeue(self)
    }

    fileprivate func fire() {
        deadline = .never
        action?()
    }
}

/// The armed timers of one loop: a binary min-heap in which every timer stores its own index.
struct TimerHeap {
    private var timers: [LoopTimer] = []

    var count: Int { timers.count }

    /// The time at which the loop has to check the heap again; it may be earlier than the first real deadline
    /// (see `LoopTimer`).
    var next: MonotonicInstant { timers.first?.queuedDeadline ?? .never }

    mutating func insert(_ timer: LoopTimer) {
        timer.queuedDeadline = timer.deadline
        if timer.heapIndex < 0 {
            timer.heapIndex = timers.count
            timers.append(timer)
        }
        siftUp(timer.heapIndex)
    }

    mutating func remove(_ timer: LoopTimer) {
        let index = timer.heapIndex
        guard index >= 0, index < timers.count, timers[index] === timer else { return }
        timer.heapIndex = -1
        timer.queuedDeadline = .never
        let last = timers.removeLast()
        guard last !== timer else { return }
        timers[index] = last
        last.heapIndex = index
        siftUp(index)
        siftDown(last.heapIndex)
    }

    /// Removes and returns a timer whose deadline has passed; requeues timers that were postponed in the
    /// meantime.
    mutating func popDue(at now: MonotonicInstant) -> LoopTimer? {
        while let first = timers.first, first.queuedDeadline <= now {
            if first.deadline <= now {
                remove(first)
                return first
            }
            if first.deadline == .never {
                remove(first)
            } else {
                first.queuedDeadline = first.deadline
                siftDown(0)
            }
        }
        return nil
    }

    mutating func removeAll() {
        for timer in timers {
            timer.heapIndex = -1
            timer.queuedDeadline = .never
        }
        timers = []
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        let timer = timers[index]
        while index > 0 {
            let parent = (index - 1) / 2
            guard timer.queuedDeadline < timers[parent].queuedDeadline else { break }
            place(timers[parent], at: index)
            index = parent
        }
        place(timer, at: index)
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        let timer = timers[index]
        while true {
            var child = 2 * index + 1
            guard child < timers.count else { break }
            if child + 1 < timers.count, timers[child + 1].queuedDeadline < timers[child].queuedDeadline {
                child += 1
            }
            guard timers[child].queuedDeadline < timer.queuedDeadline else { break }
            place(timers[child], at: index)
            index = child
        }
        place(timer, at: index)
    }

    private mutating func place(_ timer: LoopTimer, at index: Int) {
        timers[index] = timer
        timer.heapIndex = index
    }
}

extension TimerHeap {
    /// Runs the action of a timer that `popDue` returned.
    static func fire(_ timer: LoopTimer) { timer.fire() }
}
