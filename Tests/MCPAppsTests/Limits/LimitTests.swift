import TestSupport
import Testing

/// Every row of "Views" of docs/limits.md is what the code has, and every limit acts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LimitTests {
    @Test func thePageSaysWhatIsProven() throws {
        #expect(try LimitPage("limits").differences(in: "Views", LimitProofs.views) == [])
    }

    @Test(.ownThreads, arguments: LimitProofs.views) func acts(_ proof: LimitProof) async throws {
        try await proof.acts()
    }
}

/// What proves them.
enum LimitProofs {}
