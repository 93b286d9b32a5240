import MCPCore
import Testing

/// RFC 9110 5.6.7: a recipient accepts three forms.
struct HTTPDateTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
            ("Friday, 01-Jan-27 00:00:00 GMT", 1_798_761_600),
            ("", nil), ("120", nil), ("-5", nil), ("soon", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
            ("Sun, 06 Nov 1994 24:00:00 GMT", nil), ("Sun, 32 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Now 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 99999 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49 GMT", nil), ("a b c d e f g", nil),
        ] as [(String, Int64?)])
    func seconds(text: String, seconds: Int64?) {
        let now = WallTime(secondsSinceEpoch: 1_795_392_000)  // 2026-11-23
        #expect(WallTime(httpDate: text, now: now)?.secondsSinceEpoch == seconds)
    }
}
