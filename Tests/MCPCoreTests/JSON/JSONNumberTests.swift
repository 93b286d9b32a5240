import MCPCore
import TestSupport
import Testing

@Suite struct JSONNumberTests {
    /// JRPC-02, fault row 14: integral values in range, whatever the spelling.
    @Test(arguments: [
        ("0", 0), ("-0", 0), ("0.0", 0), ("0e99999999999999999999", 0), ("1", 1), ("1.0", 1), ("1e2", 100),
        ("100e-2", 1), ("1.50e1", 15), ("-12.300e3", -12300), ("1E+2", 100),
        ("9223372036854775807", Int64.max),
        ("-9223372036854775808", Int64.min), ("9.223372036854775807e18", Int64.max),
        ("1e18", 1_000_000_000_000_000_000),
        ("0.00000000000000000000000001e26", 1), ("1e00000000000000000000000002", 100),
    ])
    func integralValue(_ text: String, _ value: Int64) throws {
        let number = try #require(JSONNumber(text: text))
        #expect(number.int64 == value)
        #expect(number.text == text)
        #expect(number == JSONNumber(value))
        #expect(number.hashValue == JSONNumber(value).hashValue)
        #expect(try RawJSON(validating: text).int64 == value)
        #expect(try RawJSON(validating: text).decode(Int64.self) == value)
    }

    @Test(arguments: [
        "1.5", "1e-1", "0.1", "9223372036854775808", "-9223372036854775809", "1e19", "1e400", "1e99999999999",
        "1e-99999999999", "1e99999999999999999999999", "123456789012345678901234567890",
    ])
    func noInt64(_ text: String) throws {
        #expect(try #require(JSONNumber(text: text)).int64 == nil)
        #expect(throws: JSONError.self) { try RawJSON(validating: text).decode(Int64.self) }
    }

    @Test(arguments: ["", " 1", "1 ", "+1", "01", "1.", ".5", "NaN", "0x1", "1e", "--1", "1,2", "१"])
    func noNumber(_ text: String) { #expect(JSONNumber(text: text) == nil) }

    @Test(arguments: [
        ("1", "1.0"), ("1e400", "10e399"), ("1e400", "0.01e402"), ("-1.50", "-15e-1"), ("0", "-0.000e5"),
        ("1e99999999999999999999", "10e99999999999999999998"),
        ("1e-99999999999999999999", "0.1e-99999999999999999998"),
        ("1e100000000000000000000", "10e99999999999999999999"),
        ("1e9999999999999999999", "100e9999999999999999997"),
        ("1e-100000000000000000000", "100e-100000000000000000002"),
        ("1e1000000000000000000", "10e999999999999999999"),
        ("1e-9223372036854775808", "0.1e-9223372036854775807"),
        ("1e9223372036854775808", "10e9223372036854775807"),
        ("1e100000000000000000", "10e99999999999999999"), ("0.1e-99999999999999999", "1e-100000000000000000"),
        ("0.1e-999999999999999999", "1e-1000000000000000000"),
        ("0.1e100000000000000000", "1e99999999999999999"),
        ("100e-1000000000000000001", "1e-999999999999999999"),
        ("0.01e1000000000000000001", "1e999999999999999999"),
        ("12.34e5", "0.001234e9"), ("0.1000", "1e-1"),
    ])
    func equalValues(_ a: String, _ b: String) throws {
        let x = try #require(JSONNumber(text: a))
        let y = try #require(JSONNumber(text: b))
        #expect(x == y)
        #expect(y == x)
        #expect(x.hashValue == y.hashValue)
    }

    @Test(arguments: [
        ("1", "-1"), ("1", "2"), ("1", "1.0000000000000000000000000001"), ("1e400", "1e401"),
        ("9007199254740993", "9007199254740992"),
        ("1e99999999999999999999", "1e-99999999999999999999"),
        ("1e99999999999999999999", "1e99999999999999999998"),
        ("12", "1.2"), ("101", "11"), ("0", "1e-999999999999999999999"),
    ])
    func differentValues(_ a: String, _ b: String) throws {
        #expect(try #require(JSONNumber(text: a)) != #require(JSONNumber(text: b)))
    }

    @Test(arguments: [
        ("0", 0.0), ("-0", -0.0), ("1", 1), ("0.1", 0.1), ("1e22", 1e22), ("1e23", 1e23),
        ("123456789012345678", 1.2345678901234568e17),
        ("5e-324", .leastNonzeroMagnitude), ("1.7976931348623157e308", .greatestFiniteMagnitude),
        ("1e400", .infinity),
        ("-1e400", -.infinity), ("1e-400", 0), ("9007199254740993", 9007199254740992),
        ("0.000001e-300", 1e-306),
        ("1e99999999999999999999", .infinity), ("1e-99999999999999999999", 0),
        ("2.2250738585072014e-308", 2.2250738585072014e-308),
        // Exponents at the bounds of Int64, and what their digits shift across.
        ("1e-9223372036854775808", 0), ("1e9223372036854775808", .infinity),
        ("1e9223372036854775807", .infinity),
        ("0.1e-9223372036854775807", 0), ("10e-9223372036854775808", 0),
        ("100e9223372036854775806", .infinity),
        ("1e-9223372036854775807", 0), ("1e999999999999999999", .infinity), ("1e-1000000000000000000", 0),
        ("1e-18446744073709551616", 0), ("-1e-9223372036854775808", -0.0),
    ])
    func nearestDouble(_ text: String, _ value: Double) throws {
        let double = try #require(JSONNumber(text: text)).double
        #expect(double == value)
        #expect(double.sign == value.sign)
    }

    @Test func doublesRoundTrip() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0 ..< 20_000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else {
                #expect(JSONNumber(value) == nil)
                continue
            }
            let number = try #require(JSONNumber(value))
            #expect(JSONNumber(text: number.text) != nil)
            #expect(number.double == value)
            let short = Double(Int64(truncatingIfNeeded: random.next() >> 44)) / 1000
            #expect(JSONNumber(short)?.double == short)
        }
    }

    @Test(arguments: [(3.0, "3"), (-0.0, "-0"), (0.5, "0.5"), (1e16, "1e+16"), (1e-7, "1e-07")])
    func shortestForm(_ value: Double, _ text: String) { #expect(JSONNumber(value)?.text == text) }

    /// Fault row 13.
    @Test func aMillionDigits() throws {
        let text = String(repeating: "7", count: 1_000_000)
        let value = try JSONValue(parsing: text)
        #expect(value.numberValue?.text == text)
        #expect(value.int64Value == nil)
        #expect(value.doubleValue == .infinity)
        #expect(value == .number(try #require(JSONNumber(text: text + ".0"))))
        let fraction = "0." + text
        #expect(try JSONValue(parsing: fraction).doubleValue == 0.7777777777777777777)
        let exponent = "1e" + text
        #expect(try JSONValue(parsing: exponent).numberValue?.int64 == nil)
        #expect(try JSONValue(parsing: exponent).doubleValue == .infinity)
    }
}
