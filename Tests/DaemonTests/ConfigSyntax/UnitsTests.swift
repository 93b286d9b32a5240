import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct UnitsTests {
    @Test(arguments: [
        ("30s", Duration.seconds(30)), ("500ms", .milliseconds(500)), ("10m", .seconds(600)),
        ("2h", .seconds(7_200)),
        ("1d", .seconds(86_400)), ("5 s", .seconds(5)), ("0s", nil), ("", nil), ("s", nil), ("30", nil),
        ("-1s", nil),
        ("1.5s", nil), ("1w", nil), ("99999999999999999999s", nil), ("9007199254740993d", nil),
    ])
    func readsDurations(text: String, expected: Duration?) {
        #expect(Units.duration(text) == expected)
    }

    @Test(arguments: [
        ("256KiB", 262_144), ("4MiB", 4_194_304), ("1GiB", 1 << 30), ("100kB", 100_000), ("5MB", 5_000_000),
        ("0", 0),
        ("512", 512), ("7B", 7), ("4 MiB", 4_194_304), ("", nil), ("MiB", nil), ("4XiB", nil), ("-4", nil),
        ("9999999999999GiB", nil),
    ])
    func readsSizes(text: String, expected: Int?) {
        #expect(Units.size(text) == expected)
    }

    @Test func describesForPeople() {
        #expect(Units.describe(.seconds(30)) == "30 s")
        #expect(Units.describe(.seconds(600)) == "10 min")
        #expect(Units.describe(.milliseconds(1_500)) == "1500 ms")
        #expect(Units.describe(bytes: 262_144) == "256 KiB")
        #expect(Units.describe(bytes: 1_000) == "1000 bytes")
    }
}
