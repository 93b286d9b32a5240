import Testing

@testable import MCPCore

@Suite struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func bothWays(seconds: Int, text: String) {
        #expect(HTTPDate.format(seconds) == text)
        #expect(HTTPDate.parse(text) == seconds)
    }

    @Test func everyDayComesBack() {
        for day in stride(from: 0, through: 60_000, by: 1) {
            let seconds = day * 86_400 + 12_345
            #expect(HTTPDate.parse(HTTPDate.format(seconds)) == seconds)
        }
    }

    @Test(arguments: [
        "", "Sun, 30 Feb 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:-7 GMT",
        "Sun, 06 Nov 1969 08:49:37 GMT",
    ])
    func otherFormsAreRefused(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test func retryAfter() {
        #expect(HTTPDate.delay(retryAfter: "120", now: 0) == 120)
        #expect(HTTPDate.delay(retryAfter: "99999999999999999999", now: 0) == .max)
        #expect(HTTPDate.delay(retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT", now: 784_111_770) == 7)
        #expect(HTTPDate.delay(retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT", now: 784_111_999) == 0)
        #expect(HTTPDate.delay(retryAfter: "-1", now: 0) == nil)
        #expect(HTTPDate.delay(retryAfter: "", now: 0) == nil)
    }
}
