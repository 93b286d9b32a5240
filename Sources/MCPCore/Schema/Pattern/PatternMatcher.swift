/// Runs a program over a text with all threads in lockstep, so that the time is at most text length × program
/// size.
///
/// This is Thompson's construction as executed by Pike; nothing is captured. Look-arounds also stay linear:
/// for each one, a pass over the whole text (backwards for a look-ahead) marks the positions where it holds,
/// with one bit each.
struct PatternMatcher {
    /// The maximum memory for the marks of all look-arounds, in bytes: enough for 32 of them on a text of 4
    /// million characters.
    static let maxMarkBytes = 16 << 20

    private let program: PatternProgram
    private let text: [UInt32]
    private var budget: Int
    private let maxMarkBytes: Int
    /// The marks of the look-arounds, stored one after another.
    private var marks: [UInt64] = []
    /// The number of words for the marks of one look-around.
    private let wordsPerLook: Int
    private var pending: [Int] = []
    /// For each instruction, the last step (plus one) in which it was added.
    private var added: [Int] = []
    private var step = 0

    init(
        _ program: PatternProgram, text: [UInt32], budget: Int,
        maxMarkBytes: Int = PatternMatcher.maxMarkBytes
    ) {
        self.maxMarkBytes = maxMarkBytes
        self.program = program
        self.text = text
        self.budget = budget
        wordsPerLook = text.count / 64 + 1
    }

    /// Whether some part of the text matches; nil when `budget` steps or `maxMarkBytes` did not suffice to
    /// decide.
    mutating func search(left: inout Int) -> Bool? {
        defer { left = max(0, budget) }
        let looks = program.looks.count
        guard looks == 0 || wordsPerLook <= maxMarkBytes / 8 / looks else {
            budget = 0
            return nil
        }
        // Small: at most `maxMarkBytes`, as the guard ensures.
        marks.reserveCapacity(looks * wordsPerLook)
        for look in program.looks {
            // Setting up the marks also counts as work, at 64 bits per step.
            budget -= wordsPerLook
            guard budget > 0 else { return nil }
            var holds = [UInt64](repeating: 0, count: wordsPerLook)
            run(look.code, isReversed: look.ahead) { position in
                holds[position >> 6] |= 1 << UInt64(position & 63)
                return false
            }
            marks += holds
        }
        var found = false
        run(program.code, isReversed: false) { _ in
            found = true
            return true
        }
        return found ? true : budget > 0 ? false : nil
    }

    /// Runs `code`, starting again at every position; `accepted` receives the end of each match and may stop
    /// the run.
    private mutating func run(
        _ code: [PatternProgram.Instruction], isReversed: Bool, accepted: (Int) -> Bool
    ) {
        added = [Int](repeating: 0, count: code.count)
        budget -= code.count >> 6
        step = 0
        var current: [Int] = []
        var following: [Int] = []
        for index in 0 ... text.count {
            let position = isReversed ? text.count - index : index
            // The surviving threads were already counted for this step when the scalar was consumed.
            if add(0, code, position, &current), accepted(position) { return }
            guard index < text.count, budget > 0 else { return }
            let scalar = text[isReversed ? position - 1 : position]
            let nextPosition = isReversed ? position - 1 : position + 1
            step += 1
            following.removeAll(keepingCapacity: true)
            var isAccepted = false
            budget -= current.count + 1
            for thread in current {
                guard case .consume(let set) = code[thread], program.sets[set].contains(scalar) else {
                    continue
                }
                if add(thread + 1, code, nextPosition, &following) { isAccepted = true }
            }
            swap(&current, &following)
            if isAccepted, accepted(nextPosition) { return }
        }
    }

    /// Adds the consuming instructions that are reachable from `start` and returns whether the end was
    /// reached.
    private mutating func add(
        _ start: Int, _ code: [PatternProgram.Instruction], _ position: Int, _ threads: inout [Int]
    ) -> Bool {
        var isAccepted = false
        pending.removeAll(keepingCapacity: true)
        pending.append(start)
        while let place = pending.popLast() {
            guard added[place] != step + 1 else { continue }
            added[place] = step + 1
            budget -= 1
            switch code[place] {
            case .consume: threads.append(place)
            case .split(let first, let second):
                pending.append(second)
                pending.append(first)
            case .jump(let target): pending.append(target)
            case .assertion(let assertion): if holds(assertion, at: position) { pending.append(place + 1) }
            case .look(let look, let isNegated):
                if isMarked(look, position) != isNegated { pending.append(place + 1) }
            case .accept: isAccepted = true
            }
        }
        return isAccepted
    }

    private func isMarked(_ look: Int, _ position: Int) -> Bool {
        // Small: an index into `marks`.
        marks[look * wordsPerLook + position >> 6] & 1 << UInt64(position & 63) != 0
    }

    private func holds(_ assertion: PatternAssertion, at position: Int) -> Bool {
        switch assertion {
        case .start: return position == 0
        case .end: return position == text.count
        case .wordBoundary, .notWordBoundary:
            let before = position > 0 && ScalarSet.word.contains(text[position - 1])
            let after = position < text.count && ScalarSet.word.contains(text[position])
            return (before != after) == (assertion == .wordBoundary)
        }
    }
}
