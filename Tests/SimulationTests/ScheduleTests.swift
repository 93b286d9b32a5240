import Dispatch
import MCPCore
import Synchronization
import Testing

/// Cancellation, deadlines, ends of connections and answers, in every order that seeds can think of.
///
/// A step of a schedule is one call of the dispatcher, or one piece of a handler between two waits; what two
/// threads do within such a step is not simulated.
@Suite struct ScheduleTests {
    /// Runs seeds on `workers` threads, each with a world of its own, each until its first violation.
    private static func run(
        _ seeds: Range<UInt64>, workers: UInt64 = 2, fault: Fault? = nil,
        each: @escaping @Sendable (Schedule) -> Void = { _ in }
    ) async throws -> Schedule? {
        try await withThrowingTaskGroup(of: Schedule?.self) { group in
            for worker in 0 ..< workers {
                let mine = stride(from: seeds.lowerBound + worker, to: seeds.upperBound, by: Int(workers))
                group.addTask {
                    try await withCheckedThrowingContinuation { continuation in
                        DispatchQueue(label: "simulation.\(worker)").async {
                            continuation.resume(with: Result { try work(mine, fault, each) })
                        }
                    }
                }
            }
            var failed: [Schedule] = []
            for try await schedule in group { if let schedule { failed.append(schedule) } }
            return failed.min { $0.seed < $1.seed }
        }
    }

    private static func work(
        _ seeds: StrideTo<UInt64>, _ fault: Fault?, _ each: (Schedule) -> Void
    ) throws -> Schedule? {
        var world = try SimulatedWorld(fault: fault)
        for (count, seed) in seeds.enumerated() {
            // A world is used again, because making a server costs more than a schedule.
            if count % 1000 == 999 { world = try SimulatedWorld(fault: fault) }
            let schedule = Schedule(seed, in: world)
            each(schedule)
            if schedule.violation != nil { return schedule }
        }
        return nil
    }

    private static func number(_ name: String, _ usual: UInt64) -> UInt64 {
        Environment.value(name).flatMap { UInt64($0) } ?? usual
    }

    // CANC-03, CANC-04, CANC-08, JRPC-03, JRPC-30, PROG-03
    @Test(.timeLimit(.minutes(30))) func schedules() async throws {
        let first = Self.number("MCP_SIM_FROM", 0)
        let failed = try await Self.run(first ..< first + Self.number("MCP_SIM_SEEDS", 25_000))
        #expect(failed == nil, "\(failed?.report ?? "")")
    }

    /// The seeds reach what they are made for.
    @Test func everythingHappens() async throws {
        let seen = Mutex<(actions: Set<Action>, endings: Set<Ending>, late: Int)>(([], [], 0))
        _ = try await Self.run(0 ..< 500) { schedule in
            seen.withLock { seen in
                seen.actions.formUnion(schedule.actions)
                seen.endings.formUnion(schedule.endings)
                seen.late += schedule.lateResults
            }
        }
        seen.withLock { seen in
            #expect(seen.actions == Set(Action.allCases))
            #expect(seen.endings == Set(Ending.allCases))
            #expect(seen.late > 100)
        }
    }

    /// A seed means one schedule, alone or after others.
    @Test func aSeedIsOneSchedule() throws {
        let world = try SimulatedWorld()
        for seed in UInt64(0) ..< 100 {
            let alone = Schedule(seed, in: try SimulatedWorld())
            let later = Schedule(seed, in: world)
            #expect(alone.steps.count == later.steps.count)
            #expect(alone.actions == later.actions && alone.endings == later.endings)
        }
    }

    /// Planted mistakes are found, and soon.
    @Test(arguments: Fault.allCases) func mistakesAreFound(_ fault: Fault) async throws {
        let failed = try #require(try await Self.run(0 ..< 300, workers: 1, fault: fault))
        #expect(failed.report.hasPrefix("seed \(failed.seed): call "))
        #expect(failed.report.contains("\n  1. "))
        // The same seed says the same again.
        #expect(Schedule(failed.seed, in: try SimulatedWorld(fault: fault)).violation != nil)
    }
}
