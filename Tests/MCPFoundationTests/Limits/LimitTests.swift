import Foundation
import MCPCore
import TestSupport
import Testing

@testable import MCPFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Every row of "Foundation" of docs/limits.md is what the code has, and every limit acts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LimitTests {
    @Test func thePageSaysWhatIsProven() throws {
        #expect(try LimitPage("limits").differences(in: "Foundation", LimitProofs.foundation) == [])
    }

    @Test(arguments: LimitProofs.foundation) func acts(_ proof: LimitProof) async throws {
        try await proof.acts()
    }
}

/// What proves them.
enum LimitProofs {
    static let foundation: [LimitProof] = [
        LimitProof("connections to one server by `URLSession`", "\(URLSessionCarrier.connectionsPerHost)") {
            let prepared = URLSessionCarrier.prepared(.default)
            #expect(prepared.httpMaximumConnectionsPerHost == URLSessionCarrier.connectionsPerHost)
        },
        LimitProof(
            "one request of a login by `URLSession`", LimitText.seconds(URLSessionOAuth.timeout), silence),
        LimitProof(
            "body of its response by `URLSession`", LimitText.bytes(URLSessionOAuth.maxBodyBytes)
        ) { try await URLSessionOAuthTests().aBodyHasALimit() },
    ]

    /// A server that never answers, with a limit of a tenth of a second.
    @Sendable private static func silence() async throws {
        let peer = try HTTPPeer { _ in .raw(then: .hang) }
        defer { peer.stop() }
        let request = OAuthHTTPRequest(get: "http://\(peer.endpoint)/x")
        let error = await #expect(throws: AuthorizationError.self) {
            _ = try await URLSessionOAuth(.ephemeral, timeout: .milliseconds(100)).send(request)
        }
        #expect(error?.kind == .unreachable)
    }
}
