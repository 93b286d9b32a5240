import Testing

@testable import MCPCore

/// Responses that are split by their brackets and quotes alone.
@Suite struct DamagedResponseTests {
    private func split(_ text: String, _ bytes: [UInt8] = []) -> DamagedResponse? {
        let parts = text.split(separator: "%", omittingEmptySubsequences: false)
        return DamagedResponse(ByteSlice(Array(parts.map { Array($0.utf8) }.joined(separator: bytes))))
    }

    @Test(arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]])
    func bytesThatAreNotUTF8(_ bytes: [UInt8]) throws {
        let text = #"{"jsonrpc":"2.0","id":3,"result":{"a":[1,"%",{"b":"%"},[2]],"t":[{"x":1}],"n":[]}}"#
        let response = try #require(split(text, bytes))
        #expect(response.id == RequestID(3))
        #expect(
            response.remainder?.bytes
                == ByteSlice(
                    #"{"jsonrpc":"2.0","id":3,"result":{"a":[1,[2]],"t":[{"x":1}],"n":[]}}"#))
        #expect(response.omitted.count == 2)
        #expect(response.omitted.first?.hasPrefix("the entry number 2 cannot be read: ") == true)
    }

    /// Damage outside of the entries of lists cannot be left out.
    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":3,"result":{"a":[1],"b":"%"}}"#, #"{"jsonrpc":"2.0","id":3,"result":"%"}"#,
        #"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"%"}}"#,
        #"{"jsonrpc":"2.0","id":3,"result":{"a":["%"]},"x":"%"}"#,
        #"{"jsonrpc":"2.0","id":3,"result":{"%":["%"]}}"#,
    ])
    func damageElsewhere(_ text: String) throws {
        let response = try #require(split(text, [0xFF]))
        #expect(response.id == RequestID(3))
        #expect(response.remainder == nil)
    }

    @Test func manyEntries() throws {
        let entries = Array(repeating: #"{"name":"a","b":"%"}"#, count: 50).joined(separator: ",")
        let response = try #require(split(#"{"jsonrpc":"2.0","id":3,"result":{"a":[\#(entries)]}}"#, [0xFF]))
        #expect(response.omitted.count == DamagedResponse.maxDescribed + 1)
        #expect(response.omitted.last == "30 more entries cannot be read")
        #expect(response.remainder != nil)
        for (count, isRead) in [(DamagedResponse.maxParts - 1, true), (DamagedResponse.maxParts, false)] {
            let more = Array(repeating: "1", count: count).joined(separator: ",")
            let long = split(#"{"jsonrpc":"2.0","id":3,"result":{"a":[\#(more),"%"]}}"#, [0xFF])
            #expect((long?.remainder != nil) == isRead)
        }
    }

    /// No text makes it read beyond the end, and what remains is a response.
    @Test func anyCutAndAnyByte() {
        let text = Array(#" { "jsonrpc" : "2.0", "id":3,"result":{"a":[1,"\ud800",{"n":[]}],"c":""} } "#.utf8)
        for cut in text.indices.dropLast(2) {
            #expect(DamagedResponse(ByteSlice(text[..<cut]))?.remainder == nil)
        }
        for place in text.indices {
            for byte in Array(#"{}[]",:\0 "#.utf8) {
                var changed = text
                changed[place] = byte
                if let rest = DamagedResponse(ByteSlice(changed))?.remainder {
                    #expect(rest.head.kind == .response)
                }
            }
        }
    }
}
