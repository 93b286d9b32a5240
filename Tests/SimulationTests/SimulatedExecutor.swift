/// Keeps the jobs of handlers until the schedule runs them, one at a time, in any order.
// SAFETY: a world and everything in it is used by one thread only.
final class SimulatedExecutor: TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []

    var waiting: Int { jobs.count }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    func run(_ place: Int) {
        let job = jobs.remove(at: place)
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
