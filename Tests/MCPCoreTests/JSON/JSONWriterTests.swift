import Testing

@testable import MCPCore

@Suite struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(writer.finish())
    }

    @Test func commasAndNames() {
        let text = written { writer in
            writer.beginObject()
            writer.member("jsonrpc", "2.0")
            writer.key("a key with \"quotes\"" as String)
            writer.beginArray()
            writer.number(1)
            writer.number(-2.5)
            writer.null()
            writer.bool(true)
            writer.bool(false)
            writer.string("x" as StaticString)
            writer.beginObject()
            writer.endObject()
            writer.beginArray()
            writer.endArray()
            writer.endArray()
            writer.member("none", nil as String?)
            writer.member("int", Int.min)
            writer.member("int?", 5 as Int?)
            writer.member("bool", true)
            writer.member("double", 3.0)
            writer.member("nan", Double.nan)
            writer.member("tree", ["k": 1])
            writer.member("raw", RawJSON.null)
            writer.endObject()
        }
        #expect(
            text == #"{"jsonrpc":"2.0","a key with \"quotes\"":[1,-2.5,null,true,false,"x",{},[]],"#
                + #""int":-9223372036854775808,"int?":5,"bool":true,"double":3,"nan":null,"tree":{"k":1},"#
                + #""raw":null}"#
        )
    }

    /// Each character that needs an escape, at every place, across the borders of the vectors.
    @Test(arguments: Array("\"\\\u{0}\u{1}\u{8}\t\n\u{c}\r\u{1f}é😀".unicodeScalars))
    func escapesAtEveryPlace(_ scalar: Unicode.Scalar) throws {
        for length in 0 ..< 50 {
            for place in 0 ... length {
                let text =
                    String(repeating: "x", count: place) + String(scalar)
                    + String(repeating: "y", count: length - place)
                let json = written { $0.string(text) }
                #expect(try RawJSON(validating: json).string == text)
                #expect(!json.utf8.contains { $0 < 0x20 })
            }
        }
    }

    @Test func everyScalarBelow300RoundTrips() throws {
        let text = String(String.UnicodeScalarView((0 ..< 300).compactMap(Unicode.Scalar.init)))
        #expect(try JSONValue(parsing: written { $0.string(text) }).stringValue == text)
    }

    @Test func failureSticksUntilTheNextMessage() {
        var writer = JSONWriter()
        writer.maxDepth = 2
        for _ in 0 ..< 3 { writer.beginArray() }
        for _ in 0 ..< 3 { writer.endArray() }
        #expect(writer.failure?.reason == .depthExceeded(2))
        writer.startMessage()
        #expect(writer.failure == nil)
        #expect(writer.depth == 0)
    }

    @Test func writesBehindWhatTheBufferHolds() {
        var buffer = ByteBuffer()
        buffer.append("data: ")
        var writer = JSONWriter(buffer: buffer)
        writer.number(1)
        writer.startMessage()
        writer.number(2)
        #expect(String(writer.finish()) == "data: 12")
    }
}
