import Synchronization

/// A queue of work that other threads submit to a loop.
///
/// A wake-up costs a system call, so it is requested only while the loop sleeps, and only from the first
/// sender.
struct Mailbox: ~Copyable {
    enum Item: Sendable {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    /// The action required of the sender.
    enum Delivery {
        case done
        case wake
        /// The loop has ended and no longer reads its mailbox.
        case refused
    }

    // Not private: the loop's file needs the layout (otherwise, the 6.3.1 compiler generates broken code).
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

    /// Whether the loop runs and has taken everything that was sent.
    var isEmpty: Bool { state.withLock { $0.items.isEmpty && !$0.isClosed } }

    /// Prepares for a wait of the loop; returns whether it may wait, or false if there is work to do first.
    func prepareToSleep() -> Bool {
        state.withLock { state in
            state.isSleeping = state.items.isEmpty
            return state.isSleeping
        }
    }

    /// Takes all items and leaves the emptied `spare` for the next senders. Marks the loop as awake.
    func take(into spare: inout [Item]) {
        state.withLock { state in
            state.isSleeping = false
            swap(&state.items, &spare)
        }
    }

    /// Refuses all further items and returns those that have arrived.
    func close() -> [Item] {
        state.withLock { state in
            state.isClosed = true
            state.isSleeping = false
            defer { state.items = [] }
            return state.items
        }
    }
}
