import Testing

@testable import MCPClientCLI

struct TimeSpanTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("10s", .seconds(10)), ("10", .seconds(10)),
        ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)), ("1m30s", .seconds(90)), ("1h", .seconds(3600)),
        ("0.5", .milliseconds(500)),
    ])
    func times(text: String, duration: Duration) {
        #expect(TimeSpan.parse(text) == duration)
    }

    @Test(arguments: ["", "s", "-1s", "0", "1x", "1s2", "1e3", "99999999999h", "١s", "1..2s"])
    func whatIsNoTime(text: String) {
        #expect(TimeSpan.parse(text) == nil)
    }

    @Test(arguments: [
        (Duration.microseconds(3400), "3.4 ms"), (.milliseconds(3), "3 ms"), (.milliseconds(41), "41 ms"),
        (.milliseconds(2500), "2.5 s"), (.seconds(60), "60 s"),
    ])
    func forPeople(duration: Duration, text: String) {
        #expect(TimeSpan.text(duration) == text)
    }

    /// Progress is any number that a server likes.
    @Test(
        arguments: [
            (0.0, "0"), (-0.04, "0"), (-2.5, "-2.5"), (-1e300, "?"), (1e300, "?"), (.infinity, "?"),
            (-.infinity, "?"), (.nan, "?"), (999_999_999_999, "999999999999"),
        ] as [(Double, String)])
    func anyNumber(_ value: Double, text: String) {
        #expect(TimeSpan.decimal(value) == text)
    }
}
