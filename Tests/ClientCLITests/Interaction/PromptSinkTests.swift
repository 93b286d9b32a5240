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

    /// What follows a question that nobody answered begins in a line of its own.
    @Test func aQuestionThatIsLeft() async {
        let sink = PromptSink.on(terminal)
        _ = await sink.ask("name: ") {
            sink.write("\n")
            sink.write("one\n")
            return nil
        }
        #expect(terminal.text == "name: \none\n")
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
