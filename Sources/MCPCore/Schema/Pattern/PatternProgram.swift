/// A regular expression compiled to instructions for `PatternMatcher`.
struct PatternProgram: Sendable {
    enum Instruction: Sendable {
        case consume(Int)
        case split(Int, Int)
        case jump(Int)
        case assertion(PatternAssertion)
        case look(Int, isNegated: Bool)
        case accept
    }

    /// A look-around: its program runs over the whole text once, before the code that refers to it.
    struct Look: Sendable {
        let code: [Instruction]
        let ahead: Bool
    }

    private(set) var code: [Instruction] = []
    private(set) var sets: [ScalarSet] = []
    private(set) var looks: [Look] = []
    private var setNumbers: [ScalarSet: Int] = [:]
    private var size = 0

    /// The maximum number of instructions in an expression, with repetitions expanded.
    static let maxSize = 20_000

    init(_ node: PatternNode) throws(PatternError) {
        code = try compile(node, isReversed: false)
        setNumbers = [:]
    }

    private mutating func compile(_ node: PatternNode, isReversed: Bool) throws(PatternError) -> [Instruction]
    {
        var output: [Instruction] = []
        try emit(node, isReversed, into: &output)
        output.append(.accept)
        return output
    }

    private mutating func emit(
        _ node: PatternNode, _ isReversed: Bool, into output: inout [Instruction]
    ) throws(PatternError) {
        size += 1
        guard size <= Self.maxSize else {
            throw PatternError("too large: it needs more than \(Self.maxSize) steps", at: 0)
        }
        switch node {
        case .empty: break
        case .set(let set): output.append(.consume(number(of: set)))
        case .assertion(let assertion): output.append(.assertion(assertion))
        case .sequence(let nodes):
            for index in nodes.indices {
                try emit(nodes[isReversed ? nodes.count - 1 - index : index], isReversed, into: &output)
            }
        case .alternation(let branches):
            var ends: [Int] = []
            for branch in branches.dropLast() {
                let split = output.count
                output.append(.accept)
                try emit(branch, isReversed, into: &output)
                ends.append(output.count)
                output.append(.accept)
                output[split] = .split(split + 1, output.count)
            }
            if let last = branches.last { try emit(last, isReversed, into: &output) }
            for end in ends { output[end] = .jump(output.count) }
        case .repeated(let body, let minimum, let maximum):
            try emitRepeated(body, minimum, maximum, isReversed, into: &output)
        case .look(let body, let ahead, let isNegated):
            let look = Look(code: try compile(body, isReversed: ahead), ahead: ahead)
            looks.append(look)
            output.append(.look(looks.count - 1, isNegated: isNegated))
        }
    }

    private mutating func emitRepeated(
        _ body: PatternNode, _ minimum: Int, _ maximum: Int?, _ isReversed: Bool,
        into output: inout [Instruction]
    ) throws(PatternError) {
        for _ in 0 ..< minimum { try emit(body, isReversed, into: &output) }
        guard let maximum else {
            let split = output.count
            output.append(.accept)
            try emit(body, isReversed, into: &output)
            output.append(.jump(split))
            output[split] = .split(split + 1, output.count)
            return
        }
        var splits: [Int] = []
        for _ in minimum ..< maximum {
            splits.append(output.count)
            output.append(.accept)
            try emit(body, isReversed, into: &output)
        }
        for split in splits { output[split] = .split(split + 1, output.count) }
    }

    private mutating func number(of set: ScalarSet) -> Int {
        if let known = setNumbers[set] { return known }
        sets.append(set)
        setNumbers[set] = sets.count - 1
        return sets.count - 1
    }
}
