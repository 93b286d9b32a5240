// What `make sanitize` has to see, and what it must not report: `control race`, `control mutex`, `control overread`,
// `control leak`, `control cycle`, `control weak`, `control overlap`.
import Glibc
import Synchronization

final class Shared: @unchecked Sendable {
    var plain = 0
    var locked: Int { mutex.withLock { $0 } }
    private let mutex = Mutex(0)
    // The value behind a lock that the sanitizer does not know by itself.
    private var protected = 0

    func addPlain() { plain += 1 }

    func addLocked() {
        mutex.withLock { value in
            value += 1
            protected += 1
        }
    }
}

let shared = Shared()

/// Runs a body on two threads of their own.
func twice(_ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) {
    var threads = [pthread_t(), pthread_t()]
    for place in threads.indices { pthread_create(&threads[place], nil, body, nil) }
    for thread in threads { pthread_join(thread, nil) }
}

/// Changes a value while somebody else is changing it.
@inline(never) func overlap(_ value: inout Int) { value += shared.plain }

/// Objects that hold each other, strongly and weakly.
final class Node {
    var next: Node?
    weak var previous: Node?
}

@inline(never) func cycle() {
    let first = Node(), second = Node()
    (first.next, second.next) = (second, first)
    (first.previous, second.previous) = (second, first)
}

nonisolated(unsafe) var kept: Node?

@inline(never) func pointWeakly() {
    kept = Node()
    weak let reference = kept
    print(reference == nil)
}

@inline(never) func leak() { UnsafeMutablePointer<Int>.allocate(capacity: 100).initialize(to: 1) }

@main enum Control {
    static func main() {
        switch CommandLine.arguments.last {
        case "race":
            twice { _ in
                for _ in 0 ..< 100_000 { shared.addPlain() }
                return nil
            }
        case "mutex":
            twice { _ in
                for _ in 0 ..< 100_000 { shared.addLocked() }
                return nil
            }
        case "overread":
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 10)
            memory.initialize(repeating: 1, count: 10)
            print(memory[CommandLine.arguments.count + 8])
            memory.deallocate()
        case "cycle":
            for _ in 0 ..< 3 { cycle() }
        case "weak":
            pointWeakly()
        case "overlap":
            overlap(&shared.plain)
        default: for _ in 0 ..< 3 { leak() }
        }
        print("end")
    }
}
