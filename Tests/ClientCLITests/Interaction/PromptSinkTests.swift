import Testing

@testable import MCPClientCLI

/// What is written while a person types does not mix with that line.
struct PromptSinkTests {
    private let terminal = MemorySink(isTerminal: true)

    @Test func aQuestionIsAskedAgain() async {
        let sink = PromptSink.on(terminal)
        #expect(PromptSink.on(sink) === sink)
        let answer = await sink.ask("name: ") {
            #expect(sink.isAsking)
            sink.write("one\n")
            sink.write("\r\u{1B}[2Kprogress")
            sink.write("two")
            return "Ada"
        }
        #expect(answer == "Ada" && !sink.isAsking)
        sink.write("three\n")
        #expect(terminal.text == "name: \none\nname: \ntwo\nname: three\n")
    }

    /// The commands of a shell and its session write on one terminal.
    @Test func aLineOfProgressIsErasedByWhatOthersWrite() {
        let sink = PromptSink.on(terminal)
        let (command, session) = (0, 1)
        let consoles = [command, session].map { _ in
            Console(stdout: terminal, stderr: sink, options: Options(), variable: { _ in nil })
        }
        consoles[command].status?.show("half")
        consoles[session].note("[info] x")
        consoles[command].note("done")
        #expect(terminal.text == "\r\u{1B}[2Khalf\r\u{1B}[2K[info] x\ndone\n")
    }

    /// After a stop the lines without which a question cannot be answered are shown again, too.
    @Test func aQuestionAfterAStop() async {
        let sink = PromptSink.on(terminal)
        sink.write("Really?\n")
        _ = await sink.ask("name: ", about: "Really?\n") {
            sink.write("one\n")
            sink.redraw()
            return "Ada"
        }
        #expect(terminal.text == "Really?\nname: \none\nname: \nReally?\nname: ")
    }

    /// What follows a question that nobody answered begins in a line of its own.
    @Test func aQuestionThatIsLeft() async {
        let sink = PromptSink.on(terminal)
        _ = await sink.ask("name: ") { String?.none }
        sink.write("one\n")
        #expect(terminal.text == "name: \none\n")
    }

    /// A question that was taken back is not asked again, though the reading has not ended yet.
    @Test func aQuestionThatIsTakenBack() async {
        let sink = PromptSink.on(terminal)
        let (lines, keyboard) = AsyncStream.makeStream(of: String.self)
        let asking = Task {
            await sink.ask("age: ") { await Task { await lines.first { _ in true } }.value }
        }
        while !sink.isAsking { await Task.yield() }
        asking.cancel()
        sink.write("two\n")
        keyboard.finish()
        #expect(await asking.value == nil)
        #expect(terminal.text == "age: \ntwo\n")
    }

    /// Output that comes to the same terminal is written above the question, too.
    @Test func outputDoesNotMixWithTheQuestion() async {
        let sink = PromptSink.on(terminal)
        let output = sink.sharing(terminal)
        #expect(output.isTerminal)
        output.write("one\n")
        output.write("two")
        #expect(sink.isBehindOutput)
        output.write(" three")
        _ = await sink.ask("\nname: ") {
            #expect(!sink.isBehindOutput)
            output.write("four\n")
            output.write("five")
            return "Ada"
        }
        output.write("six")
        // What is no output ends its line.
        sink.write("seven\n")
        output.write("eight")
        sink.write("\nnine\n")
        #expect(
            terminal.text == "one\ntwo three\nname: \nfour\n\nname: \nfive\n\nname: six\nseven\neight\n"
                + "nine\n")
    }

    @Test func anEditedLineComesBelow() {
        let sink = PromptSink.on(terminal)
        sink.draw("> call")
        sink.write("one\n")
        sink.erase()
        sink.write("two\n")
        #expect(terminal.text == "> call\r\u{1B}[Kone\n> call\r\u{1B}[Ktwo\n")
    }
}
