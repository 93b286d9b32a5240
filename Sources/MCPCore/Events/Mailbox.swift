import Synchronization

/// Work that other threads leave for a loop.
///
/// A wake-up costs a system call, so one is asked for only when the loop sleeps, and only by the first
/// sender.
struct Mailbox: ~Copyable {
    enum Item: Sendable {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    /// What the sender has to do.
    enum Delivery {
        case done
        case wake
        /// The loop has ended and will not look here again.
        case refused
    }

    // Not private: the loop's file needs the layout (the compiler of 6.3.1 breaks its own output otherwise).
    struct State {
        var items: [Item] = []
        var isSleeping = false
        var isClosed = false
    }

    private let state = Mutex(State())

    func send(_ item: Item) -> Delivery {
        state.withLock { state in
            if state.isClosed { return .refused }
            state.items.append(item)
            guard state.isSleeping else { return .done }
            state.isSleeping = false
            return .wake
        }
    }

    /// For a loop that is about to wait: true when it may, false when there is something to do first.
    func prepareToSleep() -> Bool {
        state.withLock { state in
            state.isSleeping = state.items.isEmpty
            return state.isSleeping
        }
    }

    /// Takes everything, and gives the emptied `spare` to the next senders. The loop is awake.
    func take(into spare: inout [Item]) {
        state.withLock { state in
            state.isSleeping = false
            swap(&state.items, &spare)
        }
    }

    /// Refuses everything from now on and returns what had arrived.
    func close() -> [Item] {
        state.withLock { state in
            state.isClosed = true
            state.isSleeping = false
            defer { state.items = [] }
            return state.items
        }
    }
}
