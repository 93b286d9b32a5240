import TestSupport
import Testing

@testable import MCPCore

@Suite struct ResponseWriterTests {
    private func text(_ write: (inout ByteBuffer) throws -> Void) rethrows -> String {
        var buffer = ByteBuffer()
        try write(&buffer)
        return String(buffer.slice(0 ..< buffer.count))
    }

    @Test func heads() throws {
        #expect(
            text { ResponseWriter.writeHead(status: 202, framing: .length(0), keepAlive: true, to: &$0) }
                == "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        let extra = try HeaderFields(["Allow": "POST", "X-Accel-Buffering": "no"])
        #expect(
            text {
                ResponseWriter.writeHead(
                    status: 405, contentType: "text/event-stream", framing: .chunked, keepAlive: false,
                    extra: extra,
                    to: &$0)
            }
                == "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/event-stream\r\n"
                + "Transfer-Encoding: chunked\r\nAllow: POST\r\nX-Accel-Buffering: no\r\n"
                + "Connection: close\r\n\r\n"
        )
        #expect(
            text { ResponseWriter.writeHead(status: 299, framing: .none, keepAlive: true, to: &$0) }
                == "HTTP/1.1 299 \r\n\r\n")
        #expect(text { ResponseWriter.writeContinue(to: &$0) } == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    @Test(arguments: [
        100, 200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 417, 421, 429,
        431,
        500, 501, 502, 503, 504, 505,
    ])
    func statusLines(status: Int) {
        let line = text { HTTPStatus.writeLine(status, to: &$0) }
        #expect(line.hasPrefix("HTTP/1.1 \(status) ") && line.hasSuffix("\r\n"))
        #expect(HTTPStatus.reason(status).utf8CodeUnitCount > 1)
        #expect(text { HTTPStatus.writeLine(12345, to: &$0) } == "HTTP/1.1 500 \r\n")
    }

    /// Every refusal of a parser can be written, closes the connection and says what is wrong.
    @Test(arguments: HTTPError.allCases)
    func refusals(error: HTTPError) throws {
        #expect(error.reason != "the message is malformed")
        let answer = text {
            ResponseWriter.writeText(
                status: error.status, error.reason, keepAlive: !error.closesConnection, to: &$0)
        }
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n\(error.reason)\n"))
        #expect(
            responseVerdict(Array(answer.utf8), cut: .bytes)
                == .head(
                    "\(error.status) http11 length(\(error.reason.utf8.count + 1)) keep=false "
                        + "\(answer.utf8.count - error.reason.utf8.count - 1)"))
    }

    @Test(.ownThreads, arguments: [0, 1, 9, 10, 155, 99_999, 100_000, 1_234_567])
    func lengthIsWrittenAfterTheBody(count: Int) throws {
        let body = String(repeating: "y", count: count)
        let extra = try HeaderFields(["Mcp-Session-Id": "s"])
        for (status, keepAlive, fields) in [
            (200, true, nil), (200, false, nil), (400, true, nil), (200, true, extra),
        ] {
            var buffer = ByteBuffer()
            buffer.append("earlier")
            let open = ResponseWriter.beginJSON(
                status: status, keepAlive: keepAlive, extra: fields, in: &buffer)
            buffer.append(utf8: body)
            ResponseWriter.finish(open, in: &buffer)
            #expect(open.start == 7)
            let answer = Array(buffer.slice(7 ..< buffer.count))
            let head = open.bodyStart - open.start
            #expect(answer.count == head + count)
            #expect(
                responseVerdict(Array(answer[..<head]), cut: .bytes, limits: HTTPLimits())
                    == .head("\(status) http11 length(\(count)) keep=\(keepAlive) \(head)"))
            let text = String(decoding: answer[..<head], as: UTF8.self)
            #expect(text.contains("\r\nContent-Type: application/json\r\nContent-Length: "))
            #expect(text.contains(" \(count)\r\n"))
            #expect(text.contains("Mcp-Session-Id: s\r\n") == (fields != nil))
        }
    }

    @Test func requestHeads() throws {
        let fields = try HeaderFields(["Accept": "a/b", "X": ""])
        let head = try text {
            try RequestWriter.writeHead(
                method: "POST", target: "/mcp?x", host: "a:80", fields: fields, contentLength: 3, to: &$0)
        }
        #expect(
            head == "POST /mcp?x HTTP/1.1\r\nHost: a:80\r\nAccept: a/b\r\nX: \r\nContent-Length: 3\r\n\r\n")
        #expect(settledRequest(head.utf8) == .head("post /mcp ?x length=3 \(head.utf8.count)"))
    }

    @Test(arguments: [
        ("/a b", "h"), ("/a\r\nX: y", "h"), ("/", "h\r\nX: y"), ("", "h"), ("/", ""), ("/\u{e9}", "h"),
    ])
    func requestHeadsAreNotInjected(target: String, host: String) {
        #expect(throws: HeaderFields.InvalidField.self) {
            var buffer = ByteBuffer()
            try RequestWriter.writeHead(
                method: "GET", target: target, host: host, fields: HeaderFields(), contentLength: nil,
                to: &buffer)
        }
    }
}
