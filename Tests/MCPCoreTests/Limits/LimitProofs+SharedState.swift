import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let sharedState: [LimitProof] = [
        LimitProof(
            "one command to a store, connecting included", LimitText.seconds(RedisStore.commandTimeout)
        ) { try await RedisStoreTests().aStoreThatComesBack() },
        LimitProof("commands that wait for a store", LimitText.grouped(RedisStore.maxPending)) {
            try await RedisStoreTests().tooManyCommands()
        },
        LimitProof(
            "pause before a store is tried again",
            "\(RedisLink.firstPause.milliseconds) ms to \(LimitText.seconds(RedisLink.longestPause)), "
                + "and up to a quarter more"
        ) { try await RedisStoreTests().pauses() },
        LimitProof(
            "what a store replies",
            "lines of \(LimitText.bytes(RESPReply.maxLineBytes)), "
                + "values of \(LimitText.bytes(RESPReply.maxValueBytes))"
        ) { RESPReplyTests().limits() },
        LimitProof(
            "time a used `requestState` is remembered in a store",
            LimitText.seconds(ServerOptions().stateLifetime + SharedState.skew)
        ) {
            for setting in Setting.modern { try await SharedStateTests().anAnswerCountsOnce(setting) }
        },
        LimitProof(
            "lines about a store that fails", "1 in \(LimitText.seconds(SharedState.logInterval))"
        ) { try await SharedStateTests().sessionsWithoutTheStore() },
    ]
}
