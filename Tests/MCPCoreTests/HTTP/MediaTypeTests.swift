import TestSupport
import Testing

@testable import MCPCore

@Suite struct MediaTypeTests {
    @Test(arguments: [
        "application/json", "Application/JSON", "application/json;charset=utf-8",
        "application/json; charset=UTF-8",
        "application/json ; charset=\"utf-8\"", "application/json; profile=\"a;b\"", "application/json;",
        "application/json;x=y;charset=utf-8",
    ])
    func isJSON(value: String) {
        #expect(MediaType.isJSON(ByteSlice(value)))
    }

    @Test(arguments: [
        "", "text/plain", "application/jsonx", "application/json-rpc", "application/json; charset=latin1",
        "application/json; charset=utf-16", "application/json; charset=utf8",
        "application/json, text/plain", "text/plain; application/json",
        "application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset",
        "application/ json",
        "application/json; =x", "application/json; x=", "application/json;\"charset=latin1", "json",
        ";application/json",
    ])
    func row57OtherTypes(value: String) {
        #expect(!MediaType.isJSON(ByteSlice(value)))
    }

    @Test func eventStreams() {
        #expect(MediaType.isEventStream(ByteSlice("text/event-stream")))
        #expect(MediaType.isEventStream(ByteSlice("text/event-stream;charset=utf-8")))
        #expect(!MediaType.isEventStream(ByteSlice("text/plain")))
    }
}

/// Fault row 58
@Suite struct AcceptedTypesTests {
    @Test(arguments: [
        ("application/json, text/event-stream", true, true),
        ("text/event-stream,application/json", true, true),
        ("APPLICATION/JSON, Text/Event-Stream", true, true),
        ("application/json", true, false),
        ("text/event-stream", false, true),
        ("*/*", true, true),
        ("application/*", true, false),
        ("text/*", false, true),
        ("text/html, */*;q=0.1", true, true),
        ("*/*, text/event-stream;q=0", true, false),
        ("text/event-stream;q=0, */*", true, false),
        ("application/json;q=0, application/*", false, false),
        ("application/json;q=0.0, application/json", true, false),
        ("application/json;q=0.000", false, false),
        ("application/json;q=0.001", true, false),
        ("application/json;q=1.000", true, false),
        ("application/json;q=1.001", false, false),
        ("application/json;q=2", false, false),
        ("application/json;q=", false, false),
        ("application/json;q=abc", false, false),
        ("application/json;q=0.0000", false, false),
        ("application/json; Q=0", false, false),
        ("application/json;charset=utf-8;q=0.5", true, false),
        ("application/json;v=\"a,b;q=0\"", true, false),
        ("text/html", false, false),
        ("application/jsonp", false, false),
        ("*/json", false, false),
        ("application", false, false),
        ("", false, false),
        (",,;;,=", false, false),
        ("application/json;\"", false, false),
        ("\"application/json", false, false),
    ])
    func ranges(value: String, json: Bool, eventStream: Bool) {
        var types = AcceptedTypes()
        types.add(ByteSlice(value))
        #expect(types.json == json)
        #expect(types.eventStream == eventStream)
    }

    @Test func severalFieldsCountTogether() throws {
        let (head, bytes) = try parsedRequest(
            "POST / HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\naccept: text/event-stream\r\n\r\n")
        let types = AcceptedTypes(head, in: bytes)
        #expect(types.json && types.eventStream)
        let (bare, none) = try parsedRequest("POST / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(!AcceptedTypes(bare, in: none).json && bare.range(.accept) == nil)
    }
}
