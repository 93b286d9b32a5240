import TestSupport
import Testing

@testable import MCPCore

@Suite struct RequestHeadTests {
    private static let names: [(RequestHead.Field, String)] = [
        (.host, "Host"), (.origin, "Origin"), (.contentType, "Content-Type"), (.accept, "Accept"),
        (.authorization, "Authorization"), (.mcpProtocolVersion, "MCP-Protocol-Version"),
        (.mcpMethod, "Mcp-Method"), (.mcpName, "Mcp-Name"), (.mcpSessionID, "Mcp-Session-Id"),
        (.lastEventID, "Last-Event-ID"), (.traceparent, "Traceparent"),
        (.contentEncoding, "Content-Encoding"),
    ]

    /// HDR-06: names compare without regard to case. HDR-07: whitespace around values is dropped.
    @Test func everyKnownFieldIsFoundInAnyCase() throws {
        #expect(Self.names.count == RequestHead.Field.allCases.count)
        for spelling in [{ $0 }, { $0.lowercased() }, { $0.uppercased() }] as [(String) -> String] {
            let lines = Self.names.map { "\(spelling($1)): \t v-\($1) \t\r\n" }.joined()
            let (head, bytes) = try parsedRequest("POST /mcp HTTP/1.1\r\n\(lines)\r\n")
            for (field, name) in Self.names {
                #expect(head.value(field, in: bytes).map { String($0) } == "v-\(name)")
                #expect(!head.isRepeated(field))
            }
        }
    }

    /// Names that differ from a known one in one bit or one letter are other fields.
    @Test func nearlyKnownNamesAreOthers() throws {
        for (field, name) in Self.names where field != .host {
            let letters = Array(name.utf8)
            for index in letters.indices {
                for bit in 0 ..< 7 {
                    var changed = letters
                    changed[index] ^= 1 << bit
                    let spelled = String(decoding: changed, as: UTF8.self)
                    guard changed.allSatisfy(ASCII.isToken), spelled.lowercased() != name.lowercased() else {
                        continue
                    }
                    let (head, _) = try parsedRequest("GET / HTTP/1.1\r\nHost: a\r\n\(spelled): x\r\n\r\n")
                    #expect(head.range(field) == nil, "\(spelled)")
                }
            }
        }
    }

    @Test func absentEmptyAndRepeatedAreToldApart() throws {
        let (head, bytes) = try parsedRequest(
            "POST / HTTP/1.1\r\nHost: a\r\nMcp-Name:\r\nAuthorization: one\r\nauthorization: two\r\n\r\n")
        #expect(head.range(.origin) == nil)
        #expect(head.value(.mcpName, in: bytes)?.isEmpty == true)
        #expect(head.value(.authorization, in: bytes).map { String($0) } == "one")
        #expect(head.isRepeated(.authorization))
        #expect(!head.isRepeated(.mcpName))
    }

    @Test func otherFieldsAreFoundByName() throws {
        let (head, bytes) = try parsedRequest(
            "\r\nPOST /mcp?x HTTP/1.1\r\nHost: a\r\nmcp-PARAM-Region: eu\r\nX: 1\r\nx:2\r\n\r\n")
        #expect(head.hasMCPParams)
        #expect(head.value(named: "Mcp-Param-Region", in: bytes).map { String($0) } == "eu")
        #expect(head.values(named: "X", in: bytes).map { String($0) } == ["1", "2"])
        #expect(head.value(named: "Y", in: bytes) == nil)
        #expect(head.headerFields(in: bytes).map(\.name) == ["Host", "mcp-PARAM-Region", "X", "x"])
        #expect(String(bytes[head.methodRange.range]) == "POST")
        #expect(String(bytes[head.target.range]) == "/mcp?x")
        let (plain, _) = try parsedRequest(
            "GET / HTTP/1.1\r\nHost: a\r\nmcp-params: x\r\nmcp-param: y\r\n\r\n")
        #expect(!plain.hasMCPParams)
    }

    @Test func theNextRequestIsParsedWithTheSameParser() {
        let text =
            "POST /a HTTP/1.1\r\nHost: a\r\nOrigin: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
        var buffer = ByteBuffer()
        for _ in 0 ..< 3 { buffer.append(utf8: text + "{}") }
        buffer.append(utf8: "GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
        var parser = RequestParser()
        for _ in 0 ..< 3 {
            guard case .head(let head) = unsafe buffer.withBytes({ unsafe parser.parse($0) }) else {
                Issue.record("no head")
                return
            }
            #expect(head.contentLength == 2 && !head.keepAlive && head.range(.origin) != nil)

            buffer.consume(head.byteCount + 2)
        }
        guard case .head(let last) = unsafe buffer.withBytes({ unsafe parser.parse($0) }) else {
            Issue.record("no head")
            return
        }
        #expect(
            last.method == .get && last.keepAlive && last.contentLength == nil && last.range(.origin) == nil)
    }
}
