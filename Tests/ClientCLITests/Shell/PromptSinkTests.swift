import Testing

@testable import MCPClientCLI

/// What is written while a line is being typed.
struct PromptSinkTests {
    @Test func aMessageComesAboveTheLine() {
        let terminal = MemorySink(isTerminal: true)
        let sink = PromptSink(terminal)
        sink.write("before\n")
        sink.draw("\rdemo> ca\u{1B}[K")
        sink.write("info: a message\n")
        sink.leave("\r\n")
        sink.write("a result\n")
        #expect(
            terminal.text == "before\n" + "\rdemo> ca\u{1B}[K"
                + "\r\u{1B}[Kinfo: a message\n\rdemo> ca\u{1B}[K" + "\r\n" + "a result\n")
        #expect(sink.isTerminal)
    }
}
