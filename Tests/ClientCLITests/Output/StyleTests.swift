import Testing

@testable import MCPClientCLI

struct StyleTests {
    @Test(
        arguments: [
            (Options.ColorChoice.auto, true, [:], true), (.auto, false, [:], false),
            (.auto, true, ["NO_COLOR": "1"], false), (.auto, true, ["NO_COLOR": ""], true),
            (.auto, false, ["CLICOLOR_FORCE": "1"], true), (.auto, false, ["CLICOLOR_FORCE": "0"], false),
            (.auto, false, ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false),
            (.auto, true, ["TERM": "dumb"], false),
            (.always, false, ["NO_COLOR": "1"], true), (.never, true, ["CLICOLOR_FORCE": "1"], false),
        ] as [(Options.ColorChoice, Bool, [String: String], Bool)])
    func colourIsChosen(
        choice: Options.ColorChoice, isTerminal: Bool, environment: [String: String], isOn: Bool
    ) {
        #expect(Style.choose(choice, isTerminal: isTerminal) { environment[$0] }.isOn == isOn)
    }
}
