/// The files that are written and stay open: one report a second of each is enough, and the last write is in
/// one.
struct GrowingFiles {
    /// The second in which each file was last reported, of those that were reported lately.
    private var reported: [String: Int] = [:]
    /// The files that were written since their last report.
    private var waiting: Set<String> = []
    private var areLost = false
    private var second = 0
    private let capacity: Int

    /// The files of one report.
    struct Report {
        var paths: [String] = []
        /// Whether there were more than are told apart.
        var areLost = false
    }

    /// - Parameter capacity: the number of files that are told apart.
    init(capacity: Int) { self.capacity = capacity }

    /// Whether nothing will be reported unless something more is written.
    var isIdle: Bool { reported.isEmpty && waiting.isEmpty && !areLost }

    /// Notes a write to a file. Returns whether to report it now.
    mutating func grew(_ path: String) -> Bool {
        if reported[path] == nil, reported.count < capacity {
            // Within the second that is running, so that the next report is more than one away.
            reported[path] = second + 1
            return true
        }
        if waiting.count < capacity || waiting.contains(path) { waiting.insert(path) } else { areLost = true }
        return false
    }

    /// Forgets what is to be reported of a file, because it is reported otherwise, or gone.
    mutating func settle(_ path: String) { waiting.remove(path) }

    /// Returns what to report at the end of a second.
    mutating func endSecond() -> Report {
        second += 1
        let due = waiting.filter { (reported[$0] ?? 0) < second }
        waiting.subtract(due)
        reported = reported.filter { $0.value >= second }
        for path in due where reported.count < capacity { reported[path] = second }
        defer { areLost = false }
        return Report(paths: Array(due), areLost: areLost)
    }
}
