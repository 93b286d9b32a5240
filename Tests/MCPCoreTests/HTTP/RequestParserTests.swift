import TestSupport
import Testing

@testable import MCPCore

/// One row of a table: what is sent, and the status of the refusal, or nil if it is served.
struct RequestCase: Sendable, CustomTestStringConvertible {
    let name: String
    let input: [UInt8]
    let error: HTTPError?

    init(_ name: String, _ input: String, _ error: HTTPError?) {
        self.init(name, Array(input.utf8), error)
    }

    init(_ name: String, _ input: [UInt8], _ error: HTTPError?) {
        self.name = name
        self.input = input
        self.error = error
    }

    /// A request for /mcp with the given lines behind its Host.
    static func fields(_ name: String, _ lines: String, _ error: HTTPError?) -> RequestCase {
        RequestCase(name, "POST /mcp HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n", error)
    }

    var testDescription: String { name }

    func check() {
        switch (settledRequest(input), error) {
        case (.failed(let found), let wanted?): #expect(found == wanted, "\(name)")
        case (.head, nil): break
        case (let found, _): Issue.record("\(name): \(found)")
        }
    }
}

@Suite struct RequestParserTests {
    static let served: [(String, String)] = [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "get / 27"),
        ("POST /mcp HTTP/1.1\r\nHost: a:8080\r\nContent-Length: 12\r\n\r\n{}", "post /mcp length=12 56"),
        ("POST /mcp?a=b?c HTTP/1.1\r\nHost: a\r\n\r\n", "post /mcp ?a=b?c 37"),
        ("POST /mcp? HTTP/1.1\r\nHost: a\r\n\r\n", "post /mcp ? 32"),
        ("\r\nPUT /x HTTP/1.1\r\nHost: a\r\n\r\n", "put /x 30"),
        ("DELETE /x HTTP/1.1\r\nhOST:a\r\n\r\n", "delete /x 30"),
        ("HEAD /x HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n", "head /x 33"),
        ("PATCH /x HTTP/1.1\r\nHost: a\r\nX: \t a\tb \t\r\n\r\n", "patch /x 42"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "options  31"),
        ("TRACE /x HTTP/1.1\r\nHost: a\r\n\r\n", "trace /x 30"),
        ("CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n", "connect  35"),
        ("get /x HTTP/1.1\r\nHost: a\r\n\r\n", "other /x 28"),
        ("M-SEARCH /x HTTP/1.1\r\nHost: a\r\n\r\n", "other /x 33"),
        ("GET http://a:80/x?y HTTP/1.1\r\nHost: A:80\r\n\r\n", "get /x ?y 44"),
        ("GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", "get  34"),
        ("GET http://a?q HTTP/1.1\r\nHost: a\r\n\r\n", "get  ?q 36"),
        ("POST /x HTTP/1.1\r\nHost: a\r\ntransfer-encoding: Chunked\r\n\r\n", "post /x chunked 57"),
        ("POST /x HTTP/1.1\r\nHost: a\r\nConnection: foo, Close\r\n\r\n", "post /x close 53"),
        ("POST /x HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", "post /x 53"),
        ("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "post /x length=0 48"),
        ("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 007\r\n\r\n", "post /x length=7 50"),
        ("POST /x HTTP/1.1\r\nHost: a\r\nX: caf\u{e9}\r\n\r\n", "post /x 39"),
    ]

    @Test(arguments: served)
    func isServed(input: String, verdict: String) {
        #expect(settledRequest(input.utf8) == .head(verdict))
    }

    // RFC 9112, section 2.2: the empty line before a request is no part of it. One alone is gone at once, and
    // what follows is read as if it had arrived with it.
    @Test func anEmptyLineAlone() throws {
        func parse(_ parser: inout RequestParser, _ text: String) -> RequestParser.Outcome {
            unsafe ByteSlice(text).withBytes { unsafe parser.parse($0) }
        }
        for count in [0, 1, 3] {
            var parser = RequestParser()
            guard case .needMore = parse(&parser, String("\r\nP".prefix(count))) else {
                Issue.record("\(count)")
                continue
            }
            let isForgotten = parser.forgetEmptyLine(count)
            #expect(!isForgotten)
        }
        var parser = RequestParser()
        for _ in 0 ..< 2 {
            _ = parse(&parser, "\r")
            _ = parse(&parser, "\r\n")
            let isForgotten = (parser.forgetEmptyLine(2), parser.forgetEmptyLine(0))
            #expect(isForgotten == (true, false))
            guard case .head(let head) = parse(&parser, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") else {
                Issue.record("no head")
                return
            }
            #expect(head.byteCount == 27)
        }
        // A second one is as wrong as with the first.
        _ = parse(&parser, "\r\n")
        let isForgotten = parser.forgetEmptyLine(2)
        #expect(isForgotten)
        guard case .failed(.notHTTP) = parse(&parser, "\r\nGET / HTTP/1.1\r\n\r\n") else {
            Issue.record("a second empty line")
            return
        }
    }

    @Test(arguments: [
        "", "\r", "\r\n", "P", "POST", "POST ", "POST /mcp", "POST /mcp HTTP/1.", "POST /mcp HTTP/1.1\r",
        "POST /mcp HTTP/1.1\r\n", "POST /mcp HTTP/1.1\r\nHo", "POST /mcp HTTP/1.1\r\nHost: a\r\n",
        "POST /mcp HTTP/1.1\r\nHost: a\r\n\r",
    ])
    func isIncomplete(input: String) {
        #expect(settledRequest(input.utf8) == .needMore)
    }

    // Fault row 48
    @Test(arguments: [
        RequestCase.fields(
            "both framings", "Transfer-Encoding: chunked\r\nContent-Length: 5",
            .transferEncodingWithContentLength),
        .fields(
            "both framings, other order", "Content-Length: 5\r\nTransfer-Encoding: chunked",
            .transferEncodingWithContentLength),
        .fields("chunked is not last", "Transfer-Encoding: chunked, gzip", .malformedTransferEncoding),
        .fields(
            "chunked twice in one list", "Transfer-Encoding: chunked,chunked", .malformedTransferEncoding),
        .fields(
            "chunked twice in two fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            .repeatedTransferEncoding),
        .fields("unknown alone", "Transfer-Encoding: xchunked", .unknownTransferCoding),
        .fields("identity", "Transfer-Encoding: identity", .unknownTransferCoding),
        .fields("a coding before chunked", "Transfer-Encoding: gzip, chunked", .unknownTransferCoding),
        .fields("empty", "Transfer-Encoding:", .malformedTransferEncoding),
        .fields("empty element", "Transfer-Encoding: chunked,", .malformedTransferEncoding),
        .fields("parameter", "Transfer-Encoding: chunked;a=b", .malformedTransferEncoding),
        .fields("no comma", "Transfer-Encoding: gzip chunked", .malformedTransferEncoding),
        .fields("quoted", "Transfer-Encoding: \"chunked\"", .malformedTransferEncoding),
        .fields("quote is not closed", "Transfer-Encoding: \"x, chunked", .malformedTransferEncoding),
        .fields("vertical tab", "Transfer-Encoding: \u{b}chunked", .controlCharacter),
        RequestCase(
            "HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInHTTP10),
        // GHSA-mgc4-wqv7-4pxm of SwiftNIO: a name that only looks like Transfer-Encoding.
        .fields("space in the name", "Transfer-Encoding : chunked", .spaceBeforeColon),
        .fields("no-break space", "Transfer-Encoding: chunked\u{a0}", .malformedTransferEncoding),
    ])
    func row48TransferEncoding(_ row: RequestCase) { row.check() }

    // Fault row 49
    @Test(arguments: [
        RequestCase.fields("two values", "Content-Length: 5\r\nContent-Length: 6", .repeatedContentLength),
        .fields("the same value twice", "Content-Length: 5\r\nContent-Length: 5", .repeatedContentLength),
        .fields("a list", "Content-Length: 5,5", .malformedContentLength),
        .fields("a list with a space", "Content-Length: 5, 5", .malformedContentLength),
        .fields("sign", "Content-Length: +5", .malformedContentLength),
        .fields("negative", "Content-Length: -5", .malformedContentLength),
        .fields("hexadecimal", "Content-Length: 0x5", .malformedContentLength),
        .fields("inner space", "Content-Length: 5 5", .malformedContentLength),
        .fields("empty", "Content-Length:", .malformedContentLength),
        .fields("fraction", "Content-Length: 5.0", .malformedContentLength),
        .fields("2^63", "Content-Length: 9223372036854775808", .malformedContentLength),
        .fields("2^64", "Content-Length: 18446744073709551616", .malformedContentLength),
        .fields("2^64 + 5", "Content-Length: 18446744073709551621", .malformedContentLength),
        .fields("other digits", "Content-Length: \u{0665}", .malformedContentLength),
        .fields("2^63 - 1", "Content-Length: 9223372036854775807", .bodyTooLarge),
    ])
    func row49ContentLength(_ row: RequestCase) { row.check() }

    // Fault row 50
    @Test(arguments: [
        RequestCase.fields("space before the colon", "Origin : x", .spaceBeforeColon),
        .fields("tab before the colon", "X-Y\t: x", .spaceBeforeColon),
        .fields("folded", "X: a\r\n b", .lineFolding),
        .fields("folded by a tab", "X: a\r\n\tb", .lineFolding),
        .fields("folded colon", "X: a\r\n b: c", .lineFolding),
        .fields("bare CR in a value", "X: a\rb", .bareCarriageReturn),
        .fields("CR CR LF", "X: a\r\r\nY: b", .bareCarriageReturn),
        .fields("bare LF in a value", "X: a\nY: b", .bareLineFeed),
        .fields("bare LF in a name", "X\nY: b", .bareLineFeed),
        .fields("NUL in a value", "X: a\0b", .controlCharacter),
        .fields("NUL in a name", "X\0: b", .malformedFieldName),
        .fields("DEL", "X: a\u{7f}b", .controlCharacter),
        .fields("no colon", "X", .malformedFieldName),
        .fields("no name", ": x", .malformedFieldName),
        .fields("brackets in the name", "X(y): b", .malformedFieldName),
        .fields("letters outside ASCII in the name", "Ho\u{17f}t: b", .malformedFieldName),
        .fields("bare LF at the end", "X: a\r\n\n", .bareLineFeed),
        .fields("bare CR at the end", "X: a\r\n\rx", .bareCarriageReturn),
        RequestCase(
            "bare LF behind the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", .malformedRequestLine),
        RequestCase("fold at once", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", .lineFolding),
        RequestCase(
            "bare CR behind the request line", "GET / HTTP/1.1\rHost: a\r\n\r\n", .bareCarriageReturn),
    ])
    func row50FieldLines(_ row: RequestCase) { row.check() }

    // Fault row 54
    @Test(arguments: [
        RequestCase("no Host", "GET / HTTP/1.1\r\n\r\n", .missingHost),
        RequestCase("two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .repeatedHost),
        RequestCase("two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", .repeatedHost),
        RequestCase("no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", nil),
        RequestCase("user", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .malformedHost),
        RequestCase("another authority", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", .hostMismatch),
        RequestCase("another port", "GET http://a:1/ HTTP/1.1\r\nHost: a\r\n\r\n", .hostMismatch),
        RequestCase("user in the target", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        RequestCase(
            "no authority in the target", "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
    ])
    func row54Host(_ row: RequestCase) { row.check() }

    @Test(arguments: [
        "a", "a.b-c", "a:1", "a:65535", "a:", "127.0.0.1:80", "[::1]", "[::1]:8080", "[::ffff:1.2.3.4]",
        "a%20b", "_x", "*",
    ])
    func row54GoodHost(host: String) {
        RequestCase(host, "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n", nil).check()
    }

    @Test(arguments: [
        "", " ", "a b", "a:b", "a:65536", "a:99999999999999999999999", "a:1:2", ":80", "[::1", "::1", "[]",
        "[:", "[g::]",
        "[::1]x", "[::1]:x", "a/b", "a?b", "a#b", "a%2", "a%zz", "a,b@c", "\u{e9}", "http://a", "a\\b",
        "[[::1]]",
    ])
    func row54BadHost(host: String) {
        RequestCase(host, "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n", .malformedHost).check()
    }

    // Fault rows 59 and 61
    @Test(arguments: [
        RequestCase("HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", nil),
        RequestCase("HTTP/0.9", "GET /\r\n", .missingVersion),
        RequestCase("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .malformedTarget),
        RequestCase("HTTP/2 version", "GET / HTTP/2.0\r\n\r\n", .unsupportedVersion),
        RequestCase("HTTP/1.2", "GET / HTTP/1.2\r\n\r\n", .unsupportedVersion),
        RequestCase("HTTP/0.9 by name", "GET / HTTP/0.9\r\n\r\n", .unsupportedVersion),
        RequestCase(
            "TLS", [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + [UInt8](repeating: 7, count: 40), .notHTTP),
        RequestCase("NUL", [0], .notHTTP),
        RequestCase("text outside ASCII", [0xC3, 0xA9], .notHTTP),
        RequestCase("lower case version", "GET / http/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("version of three digits", "GET / HTTP/1.10\r\n\r\n", .malformedRequestLine),
        RequestCase("short version", "GET / HTTP/1\r\nHost: a\r\n\r\n", .malformedRequestLine),
        RequestCase("other protocol", "GET / RTSP/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("two spaces", "GET  / HTTP/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("two spaces before the version", "GET /  HTTP/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("space at the end", "GET / HTTP/1.1 \r\n\r\n", .malformedRequestLine),
        RequestCase("space at the start", " GET / HTTP/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("tab", "GET\t/\tHTTP/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("no target", "GET HTTP/1.1\r\n\r\n", .missingVersion),
        RequestCase("method alone", "GET\r\n\r\n", .malformedRequestLine),
        RequestCase("two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\n\r\n", .notHTTP),
        RequestCase("LF first", "\nGET / HTTP/1.1\r\n\r\n", .notHTTP),
        RequestCase("CR first", "\rGET / HTTP/1.1\r\n\r\n", .bareCarriageReturn),
        RequestCase("fragment", "GET /a#b HTTP/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("control in the target", "GET /a\u{1}b HTTP/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("target outside ASCII", "GET /\u{e9} HTTP/1.1\r\n\r\n", .malformedRequestLine),
        RequestCase("relative target", "GET mcp HTTP/1.1\r\n\r\n", .malformedTarget),
        RequestCase("star for GET", "GET * HTTP/1.1\r\n\r\n", .malformedTarget),
        RequestCase("authority for GET", "GET a:443 HTTP/1.1\r\n\r\n", .malformedTarget),
        RequestCase("path for CONNECT", "CONNECT /x HTTP/1.1\r\n\r\n", .malformedTarget),
        RequestCase("method of 32 letters", String(repeating: "A", count: 32) + " / HTTP/1.0\r\n\r\n", nil),
        RequestCase(
            "method of 33 letters", String(repeating: "A", count: 33) + " / HTTP/1.0\r\n\r\n",
            .methodTooLong),
        RequestCase(
            "method of 1 KiB", String(repeating: "A", count: 1024) + " / HTTP/1.0\r\n\r\n", .methodTooLong),
        RequestCase("brackets in the method", "G(T / HTTP/1.1\r\n\r\n", .malformedRequestLine),
    ])
    func row61StartLines(_ row: RequestCase) { row.check() }

    // Fault row 67
    @Test(arguments: [
        ("Expect: 100-continue\r\nContent-Length: 3", "post /mcp length=3 continue 72"),
        ("Expect: 100-Continue\r\nTransfer-Encoding: chunked", "post /mcp chunked continue 81"),
        ("Expect: 100-continue", "post /mcp 53"),
    ])
    func row67Expect(lines: String, verdict: String) {
        #expect(settledRequest("POST /mcp HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n".utf8) == .head(verdict))
    }

    @Test(arguments: [
        RequestCase.fields("another", "Expect: 200-ok", .unsupportedExpectation),
        .fields("empty", "Expect:", .unsupportedExpectation),
        .fields("twice", "Expect: 100-continue\r\nExpect: 100-continue", .unsupportedExpectation),
        .fields("list", "Expect: 100-continue, x", .unsupportedExpectation),
    ])
    func row67OtherExpectations(_ row: RequestCase) { row.check() }

    @Test func http10IgnoresExpectAndCloses() {
        let input =
            "POST / HTTP/1.0\r\nExpect: 100-continue\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n"
        #expect(settledRequest(input.utf8) == .head("post / 1.0 length=1 close 84"))
    }
}
