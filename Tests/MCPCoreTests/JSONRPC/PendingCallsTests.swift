import Testing

@testable import MCPCore

@Suite struct PendingCallsTests {
    @Test func idsAreNeverUsedTwice() {  // JRPC-03, JRPC-04
        let calls = PendingCalls<Int64>()
        #expect(calls.open { $0 } == 1)
        calls.remove(1)
        #expect(calls.open { $0 } == 2)
        #expect(calls.only == 2)
        #expect(calls.open { $0 } == 3)
        #expect(calls.only == nil)
        #expect(calls.count == 2)
    }

    @Test func idsMatchByTypeAndValue() throws {  // JRPC-05
        let calls = PendingCalls<Int64>()
        _ = calls.open { $0 }
        let spelled = try #require(RequestID(RawJSON(validating: "1.0")))
        #expect(calls.call(spelled) == 1)
        #expect(calls.call(RequestID("1")) == nil)
        #expect(calls.call(RequestID(2)) == nil)
    }

    @Test func aClosedTableRefuses() {
        let calls = PendingCalls<Int64>()
        _ = calls.open { $0 }
        #expect(calls.close() == [1])
        #expect(calls.open { $0 } == nil)
        #expect(calls.count == 1)
    }
}
