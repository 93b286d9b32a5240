import TestSupport

@testable import MCPCore

/// What one seed did.
struct Schedule: Sendable {
    let seed: UInt64
    private(set) var steps: [String] = []
    private(set) var actions: Set<Action> = []
    private(set) var endings: Set<Ending> = []
    /// Answers that came too late to be sent.
    private(set) var lateResults = 0
    private(set) var violation: String?

    /// Runs one seed in a world whose last schedule is over.
    init(_ seed: UInt64, in world: SimulatedWorld) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        world.begin()
        for _ in 0 ..< 8 + random.below(32) where world.violation == nil {
            let possible = Action.allCases.filter { $0.isPossible(in: world) }
            var place = random.below(possible.reduce(0) { $0 + $1.weight })
            let action = possible.first { action in
                place -= action.weight
                return place < 0
            }
            guard let action else { break }
            actions.insert(action)
            steps.append(action.perform(in: world, &random))
        }
        world.finish()
        for call in world.calls { if let ending = call.ending { endings.insert(ending) } }
        lateResults = world.expected[.lateResults, default: 0]
        violation = world.violation
    }

    var report: String {
        "seed \(seed): \(violation ?? "as expected")\n"
            + steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }.joined(separator: "\n")
    }
}
