import TestSupport
import Testing

@testable import MCPCore
@testable import MCPHarness

/// An event stream that answers a POST.
@Suite(.timeLimit(.minutes(5))) struct HTTPEventPostTests {
    // A server that sends faster than it is read waits for its reader, and nothing is lost of what it sends.
    @Test func aFastServerWaitsForItsReader() async throws {
        let count = 40_000
        let text = String(repeating: "x", count: 200)
        let events = (0 ..< count).map { "data: \($0) \(text)\n\n" }.joined()
        let peer = try HTTPPeer { _ in .events(events) }
        defer { peer.stop() }
        let (stream, waiting) = try HTTPEventPost.open(
            ByteSlice("{}"), to: "http://\(peer.endpoint)/v1", options: ClientOptions(), silence: .seconds(60)
        )
        #expect(await comesTrue { waiting.waitingSize > HTTPEventPost.maxWaitingBytes })
        var (next, most) = (0, 0)
        for try await event in stream {
            most = max(most, waiting.waitingSize)
            guard String(event.data).hasPrefix("\(next) ") else {
                Issue.record("\(String(event.data).prefix(10)) in place of \(next)")
                return
            }
            next += 1
        }
        #expect(next == count)
        // What one read brings comes on top.
        #expect(most < 2 * HTTPEventPost.maxWaitingBytes)
    }

    // Whoever stops reading leaves no connection behind, also while the server is held up.
    @Test func aReaderThatLeavesEndsTheConnection() async throws {
        let text = String(repeating: "x", count: 1_000)
        let events = String(repeating: "data: \(text)\n\n", count: 20_000)
        let peer = try HTTPPeer { _ in .events(events, end: false, then: .hang) }
        defer { peer.stop() }
        do {
            let (stream, waiting) = try HTTPEventPost.open(
                ByteSlice("{}"), to: "http://\(peer.endpoint)/v1", options: ClientOptions(),
                silence: .seconds(60))
            #expect(await comesTrue { waiting.waitingSize > HTTPEventPost.maxWaitingBytes })
            for try await _ in stream { break }
        }
        #expect(await comesTrue { peer.ended == 1 })
    }
}
