import MCPCore
import Synchronization
import Testing

@testable import MCPClientCLI

/// What is typed answers the question that is shown.
@Suite(.timeLimit(.minutes(5))) struct PersonTests {
    /// A terminal at which the test types.
    private final class Keyboard: Sendable {
        private let typed = Mutex<[String]>([])
        let shown = Mutex<[String]>([])
        let discarded = Mutex(0)

        func person(waitForTerminal: @escaping @Sendable () async -> Bool = { true }) -> Person {
            Person(
                waitForTerminal: waitForTerminal, discardInput: { self.discarded.withLock { $0 += 1 } }
            ) {
                while !Task.isCancelled {
                    if let line = self.typed.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return line }
                    await Task.yield()
                }
                return nil
            }
        }

        func type(_ line: String) { typed.withLock { $0.append(line) } }

        func wasShown(_ count: Int) async {
            while shown.withLock({ $0.count }) < count { await Task.yield() }
        }
    }

    private func put(_ name: String, to person: Person, _ keyboard: Keyboard) async -> String? {
        await person.answer { readLine in
            keyboard.shown.withLock { $0.append(name) }
            return await readLine()
        } ?? nil
    }

    @Test func theSecondQuestionWaitsForTheFirst() async {
        let keyboard = Keyboard()
        let person = keyboard.person()
        let first = Task { await put("first", to: person, keyboard) }
        await keyboard.wasShown(1)
        let second = Task { await put("second", to: person, keyboard) }
        for _ in 1 ... 100 { await Task.yield() }
        #expect(keyboard.shown.withLock { $0 } == ["first"])
        keyboard.type("yes")
        #expect(await first.value == "yes")
        await keyboard.wasShown(2)
        keyboard.type("no")
        #expect(await second.value == "no")
        // What was typed before a question was there is no answer to it, nor is what follows an answer.
        #expect(keyboard.discarded.withLock { $0 } == 4)
    }

    /// What is pasted behind the answer to one line answers no other, though it is the same question's.
    @Test func aPasteAnswersOneLine() async {
        let typed = Mutex(["Bob", "y", "exit"])
        let person = Person(discardInput: { typed.withLock { $0 = [] } }) {
            typed.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
        let answers = await person.answer { readLine in
            typed.withLock { $0 = ["Bob", "y", "exit"] }
            return [await readLine(), await readLine()]
        }
        #expect(answers == ["Bob", nil] && typed.withLock { $0 } == [])
    }

    /// The end of the process does not wait for that of the question.
    @Test func whatIsHalfTypedWhenTheProcessEnds() async {
        let keyboard = Keyboard()
        let person = keyboard.person()
        person.leave()
        #expect(keyboard.discarded.withLock { $0 } == 0)
        let first = Task { await put("first", to: person, keyboard) }
        await keyboard.wasShown(1)
        person.leave()
        #expect(keyboard.discarded.withLock { $0 } == 2)
        keyboard.type("yes")
        #expect(await first.value == "yes")
        person.leave()
        #expect(keyboard.discarded.withLock { $0 } == 3)
    }

    /// A question that waited for a prompt, such as one in an unfinished paste, is not put when the program
    /// ends.
    @Test func aQuestionBehindAPromptThatEnds() async {
        let keyboard = Keyboard()
        let person = keyboard.person()
        let (turns, tell) = AsyncStream.makeStream(of: TerminalTurn.self)
        let prompt = Task {
            await person.atPrompt { turn -> String? in
                tell.yield(turn)
                while !Task.isCancelled { await Task.yield() }
                return nil
            }
        }
        let turn = await turns.first { _ in true }
        let question = Task { await put("first", to: person, keyboard) }
        while turn?.isOver == false { await Task.yield() }
        prompt.cancel()
        #expect(await prompt.value == nil)
        #expect(await question.value == nil)
        #expect(keyboard.shown.withLock { $0 }.isEmpty)
    }

    /// A program in the background stops before it shows a question, and before it takes what is typed.
    @Test func aQuestionWaitsForTheTerminal() async {
        let keyboard = Keyboard()
        let before = Mutex<[Int]>([])
        let person = keyboard.person {
            let count = keyboard.shown.withLock { $0.count } + keyboard.discarded.withLock { $0 }
            before.withLock { $0.append(count) }
            return true
        }
        keyboard.type("yes")
        #expect(await put("first", to: person, keyboard) == "yes")
        #expect(before.withLock { $0 } == [0])
        // What may be typed, and need not, does not stop the program.
        keyboard.type("an address")
        #expect(await person.optionalLine() == "an address")
        #expect(before.withLock { $0 } == [0])
    }

    @Test func aProgramThatEndsInTheBackgroundAsksNothing() async {
        let keyboard = Keyboard()
        let person = keyboard.person { false }
        #expect(await put("first", to: person, keyboard) == nil)
        #expect(keyboard.shown.withLock { $0 }.isEmpty)
    }

    /// A question that is given up waits for no other, wherever it stands.
    @Test func aQuestionThatIsGivenUpLeavesTheQueue() async {
        let keyboard = Keyboard()
        let person = keyboard.person()
        let first = Task { await put("first", to: person, keyboard) }
        await keyboard.wasShown(1)
        let second = Task { await put("second", to: person, keyboard) }
        for _ in 1 ... 100 { await Task.yield() }
        second.cancel()
        #expect(await second.value == nil)
        keyboard.type("yes")
        #expect(await first.value == "yes")
        #expect(keyboard.shown.withLock { $0 } == ["first"])
    }

    @Test func aQuestionThatNobodyWaitsForIsNotPut() async {
        let keyboard = Keyboard()
        let person = keyboard.person()
        let first = Task { await put("first", to: person, keyboard) }
        await keyboard.wasShown(1)
        let second = Task { await put("second", to: person, keyboard) }
        let third = Task { await put("third", to: person, keyboard) }
        second.cancel()
        // The end of the task ends the reading: the next line is for the question after it.
        first.cancel()
        #expect(await first.value == nil)
        #expect(await second.value == nil)
        await keyboard.wasShown(2)
        keyboard.type("to the third")
        #expect(await third.value == "to the third")
        #expect(keyboard.shown.withLock { $0 } == ["first", "third"])
    }
}
