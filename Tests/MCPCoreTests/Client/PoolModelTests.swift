import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The connections of a client against a plain model, by random requests to a server that ends connections at
/// random moments: every call ends, with its own response or an error, and none is executed twice that must not be.
@Suite(.timeLimit(.minutes(5))) struct PoolModelTests {
    /// What the server does with a request when it reads it for the first time; later it responds.
    private enum Deed: String, CaseIterable {
        case respond, respondAndClose, close, reset, refuse, hang
    }

    private struct Call: Sendable {
        let word: String
        let deed: Deed
        let isRepeatable: Bool

        init(_ number: Int, _ random: inout SeededRandom) {
            deed = random.below(2) == 0 ? .respond : random.pick(Deed.allCases) ?? .respond
            isRepeatable = random.below(2) == 0
            word = "\(number)-\(deed.rawValue)"
        }

        var method: String { isRepeatable ? "resources/read" : "vendor/do" }
    }

    /// How often each word was read by the server.
    private final class Record: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func add(_ word: String) -> Int {
            counts.withLock { counts in
                counts[word, default: 0] += 1
                return counts[word] ?? 0
            }
        }

        subscript(word: String) -> Int { counts.withLock { $0[word] ?? 0 } }
    }

    private static func server(_ record: Record) throws -> HTTPPeer {
        try HTTPClientTransportTests.modern { heard in
            let word = heard.body?["params"]?["uri"]?.string ?? ""
            let isFirst = record.add(word) == 1
            let deed = word.split(separator: "-").last.flatMap { Deed(rawValue: String($0)) } ?? .respond
            var answer = HTTPPeer.Answer.result(
                heard, #"{"resultType":"complete","contents":[],"word":"\#(word)"}"#)
            guard isFirst else { return answer }
            switch deed {
            case .respond: break
            case .respondAndClose: answer.then = .close
            case .close: return .raw(then: .close)
            case .reset: return .raw(then: .reset)
            case .refuse: return .status(500)
            case .hang: return .raw(then: .hang)
            }
            return answer
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func everyCallEndsOnce(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let record = Record()
        let peer = try Self.server(record)
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        var number = 0
        for _ in 0 ..< 12 {
            // Sometimes more than there may be connections, so that some of them wait.
            let width = random.below(4) == 0 ? HTTPClientPool.maxConnections + 10 : 1 + random.below(12)
            let calls = (0 ..< width).map { place in Call(number + place, &random) }
            number += width
            await withTaskGroup(of: Void.self) { group in
                for call in calls {
                    group.addTask { await Self.make(call, client, record, seed) }
                }
            }
            #expect(client.connection.pending.count == 0, "seed \(seed)")
        }
        await client.close()
    }

    /// Makes a call and judges how it ended.
    private static func make(_ call: Call, _ client: MCPClient, _ record: Record, _ seed: UInt64) async {
        let hasEnded = Mutex(false)
        let task = Task {
            defer { hasEnded.withLock { $0 = true } }
            return try await client.request(call.method, ["uri": .string(call.word)])
        }
        if call.deed == .hang {
            await waitUntil { record[call.word] > 0 || hasEnded.withLock { $0 } }
            task.cancel()
        }
        let outcome = await task.result
        let times = record[call.word]
        let context = "seed \(seed): \(call.word) by \(call.method) was read \(times) times: \(outcome)"
        // What may be repeated is sent twice at most.
        #expect(times <= (call.isRepeatable ? 2 : 1), "\(context)")
        switch outcome {
        case .success(let result):
            #expect(result["word"]?.string == call.word, "\(context)")
            let mayRespond = [.respond, .respondAndClose].contains(call.deed)
            #expect(mayRespond || call.isRepeatable && [.close, .reset].contains(call.deed), "\(context)")
        case .failure(let error):
            let kind = (error as? ClientError)?.kind
            // Any request may lose its connection before it is read.
            if times == 0, kind == .connectionClosed { return }
            switch call.deed {
            case .respond, .respondAndClose: Issue.record("\(context)")
            case .close, .reset: #expect(kind == .connectionClosed, "\(context)")
            case .refuse: #expect(kind == .httpStatus || times == 0, "\(context)")
            case .hang: #expect(kind == .cancelled || error is CancellationError, "\(context)")
            }
        }
    }
}
