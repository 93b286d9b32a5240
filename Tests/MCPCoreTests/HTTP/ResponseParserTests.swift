import TestSupport
import Testing

@testable import MCPCore

@Suite struct ResponseParserTests {
    private func settledResponse(_ input: String, isHEAD: Bool = false) -> Verdict {
        settled(input.utf8) { responseVerdict($0, cut: $1, isHEAD: isHEAD) }
    }

    static let served: [(String, String)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 http11 length(5) keep=true 38"),
        ("HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n", "200 http11 chunked keep=true 45"),
        ("HTTP/1.1 404\r\nContent-Length:    0\r\n\r\n", "404 http11 length(0) keep=true 38"),
        ("HTTP/1.1 200 OK\r\n\r\n", "200 http11 untilClose keep=false 19"),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", "200 http10 length(1) keep=false 38"),
        ("HTTP/1.1 204 No Content\r\n\r\n", "204 http11 none keep=true 27"),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "304 http11 none keep=true 48"),
        (
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n",
            "200 http11 length(1) keep=false 57"
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
            "202 http11 length(0) keep=true 69"
        ),
        (
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 \r\n\r\nHTTP/1.1 204 \r\n\r\n",
            "204 http11 none keep=true 65"
        ),
        ("HTTP/1.1 200 caf\u{e9} \t!\r\nContent-Length: 0\r\n\r\n", "200 http11 length(0) keep=true 44"),
    ]

    @Test(arguments: served)
    func isRead(input: String, verdict: String) {
        #expect(settledResponse(input) == .head(verdict))
    }

    @Test func anAnswerToHEADHasNoBody() {
        let input = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
        #expect(settledResponse(input, isHEAD: true) == .head("200 http11 none keep=true 48"))
        #expect(settledResponse(input) == .failed(.bodyTooLarge))
    }

    static let refused: [(String, HTTPError)] = [
        ("HTTP/2.0 200 OK\r\n\r\n", .unsupportedVersion),
        ("SSH-2.0-OpenSSH\r\n", .malformedStatusLine),
        ("HTTP/1.1  200 OK\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 20 OK\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 2000 OK\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 099 OK\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 600 OK\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 +20 OK\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 200 OK\n\r\n", .bareLineFeed),
        ("HTTP/1.1 200 O\0K\r\n\r\n", .controlCharacter),
        ("HTTP/1.1 200 OK\r\nA: b\n\r\n", .bareLineFeed),
        ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", .spaceBeforeColon),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            .transferEncodingWithContentLength
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", .repeatedContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .malformedContentLength),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", .unknownTransferCoding),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInHTTP10),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", .unexpectedSwitch),
    ]

    @Test(arguments: refused)
    func isRefused(input: String, error: HTTPError) {
        #expect(settledResponse(input) == .failed(error))
    }

    // Fault row 68
    @Test func row68EndlessHeads() {
        let interim = Array(String(repeating: "HTTP/1.1 100 \r\n\r\n", count: 9).utf8)
        #expect(responseVerdict(interim, cut: .whole) == .failed(.tooManyInterimAnswers))
        let fields = Array(("HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 101)).utf8)
        #expect(responseVerdict(fields, cut: .whole) == .failed(.tooManyFields))
        let long = Array(("HTTP/1.1 200 OK\r\na: " + String(repeating: "b", count: 40_000)).utf8)
        #expect(responseVerdict(long, cut: .whole) == .failed(.headersTooLarge))
        #expect(responseVerdict(long, cut: .bytes) == .failed(.headersTooLarge))
    }

    @Test func fieldsAreFound() throws {
        let bytes = ByteSlice(
            "HTTP/1.1 100 \r\nLocation: wrong\r\n\r\nHTTP/1.1 401 No\r\ncontent-TYPE: text/plain\r\n"
                + "Location: /x\r\n"
                + "WWW-Authenticate: Bearer a\r\nwww-authenticate: Basic\r\nRetry-After: 3\r\n"
                + "Mcp-Session-Id: s\r\n"
                + "Keep-Alive: timeout=5\r\nContent-Encoding: gzip\r\n\r\n")
        var parser = ResponseParser()
        guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else {
            Issue.record("no head")
            return
        }
        let wanted: [(ResponseHead.Field, String)] = [
            (.contentType, "text/plain"), (.location, "/x"), (.wwwAuthenticate, "Bearer a"),
            (.retryAfter, "3"),
            (.mcpSessionID, "s"), (.contentEncoding, "gzip"), (.keepAlive, "timeout=5"),
        ]
        #expect(wanted.count == ResponseHead.Field.allCases.count)
        for (field, value) in wanted { #expect(head.value(field, in: bytes).map { String($0) } == value) }
        #expect(
            head.values(named: "WWW-Authenticate", in: bytes).map { String($0) } == ["Bearer a", "Basic"])
        #expect(head.values(named: "location", in: bytes).count == 1)
    }
}
