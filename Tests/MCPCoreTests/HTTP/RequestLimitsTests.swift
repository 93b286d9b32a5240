import TestSupport
import Testing

@testable import MCPCore

/// Fault row 52, and the body limit of row 53. CVE-2026-28980 of SwiftNIO: count and total are bounded.
@Suite struct RequestLimitsTests {
    private let small = HTTPLimits(
        maxRequestLineBytes: 40, maxHeaderBytes: 60, maxFields: 4, maxBodyBytes: 100)

    private func request(path count: Int, fields: String) -> String {
        "GET /\(String(repeating: "a", count: count)) HTTP/1.1\r\n\(fields)\r\n"
    }

    @Test func requestLineUpToTheLimit() {
        // "GET /" and " HTTP/1.1" are 14 bytes.
        let longest = request(path: 26, fields: "Host: a\r\n")
        #expect(
            settledRequest(longest.utf8, limits: small)
                == .head("get /\(String(repeating: "a", count: 26)) 53"))
        let tooLong = request(path: 27, fields: "Host: a\r\n")
        #expect(settledRequest(tooLong.utf8, limits: small) == .failed(.requestLineTooLong))
    }

    @Test func headerBytesUpToTheLimit() {
        // "Host: a" and "X: " with their line ends, and the empty line, are 16 bytes.
        let longest = request(path: 0, fields: "Host: a\r\nX: \(String(repeating: "b", count: 44))\r\n")
        #expect(settledRequest(longest.utf8, limits: small) == .head("get / 76"))
        let tooLong = request(path: 0, fields: "Host: a\r\nX: \(String(repeating: "b", count: 45))\r\n")
        #expect(settledRequest(tooLong.utf8, limits: small) == .failed(.headersTooLarge))
    }

    @Test func fieldsUpToTheLimit() {
        let four = request(path: 0, fields: "Host: a\r\nB: \r\nC: \r\nD: \r\n")
        #expect(settledRequest(four.utf8, limits: small) == .head("get / 42"))
        let five = request(path: 0, fields: "Host: a\r\nB: \r\nC: \r\nD: \r\nE: \r\n")
        #expect(settledRequest(five.utf8, limits: small) == .failed(.tooManyFields))
    }

    // Row 53: refused by the announced length, before a byte of the body is read.
    @Test(arguments: [(100, true), (101, false)])
    func announcedBody(length: Int, isServed: Bool) {
        let input = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
        let verdict = settledRequest(input.utf8, limits: small)
        #expect(isServed ? verdict == .head("post / length=\(length) 49") : verdict == .failed(.bodyTooLarge))
    }

    static let endless: [RequestCase] = {
        let start = "GET / HTTP/1.1\r\nHost: a\r\n"
        let letters = String(repeating: "a", count: 1 << 20)
        return [
            RequestCase("request line of 1 MiB", "GET /\(letters)", .requestLineTooLong),
            RequestCase("value of 1 MiB", "\(start)X: \(letters)", .headersTooLarge),
            RequestCase("name of 1 MiB", "\(start)\(letters)", .headersTooLarge),
            RequestCase(
                "100,000 fields", start + String(repeating: "a:b\r\n", count: 100_000), .tooManyFields),
        ]
    }()

    @Test(arguments: endless)
    func row52EndlessHeads(_ row: RequestCase) throws {
        let wanted = try #require(row.error)
        #expect(requestVerdict(row.input, cut: .whole) == .failed(wanted))
        var parser = RequestParser()
        var found: HTTPError?
        for count in stride(from: 1, through: 200_000, by: 61) where found == nil {
            let outcome = unsafe row.input.withUnsafeBufferPointer {
                unsafe parser.parse(UnsafeBufferPointer(rebasing: $0[..<count]))
            }
            if case .failed(let failure) = outcome { found = failure }
        }
        #expect(found == wanted)
    }

    /// What lies beyond a limit is not looked at: a fault there does not change the verdict.
    @Test func faultsBeyondTheLimitDoNotCount() {
        let line = "GET /\(String(repeating: "a", count: 40))\n\n"
        #expect(settledRequest(line.utf8, limits: small) == .failed(.requestLineTooLong))
        let field = request(path: 0, fields: "Host: a\r\nX: \(String(repeating: "b", count: 60))\0\r\n")
        #expect(settledRequest(field.utf8, limits: small) == .failed(.headersTooLarge))
        let early = request(path: 0, fields: "Host: a\r\nX: \0\(String(repeating: "b", count: 60))\r\n")
        #expect(settledRequest(early.utf8, limits: small) == .failed(.controlCharacter))
    }

    @Test func aFaultIsFinal() {
        let bytes = Array("GET * HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        var parser = RequestParser()
        for _ in 0 ..< 3 {
            guard
                case .failed(.malformedTarget) = unsafe bytes.withUnsafeBufferPointer({
                    unsafe parser.parse($0)
                })
            else {
                Issue.record("the fault was forgotten")
                return
            }
        }
        parser.reset()
        let good = Array("GET / HTTP/1.0\r\n\r\n".utf8)
        guard case .head = unsafe good.withUnsafeBufferPointer({ unsafe parser.parse($0) }) else {
            Issue.record("the parser was not reset")
            return
        }
    }
}
