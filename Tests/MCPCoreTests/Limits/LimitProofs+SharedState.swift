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
            "time a used `requestState` is remembered, by an instance and in a store",
            LimitText.seconds(RequestState.memory(lifetime: ServerOptions().stateLifetime))
        ) {
            for setting in Setting.modern { try await SharedStateTests().anAnswerCountsOnce(setting) }
        },
        LimitProof(
            "lines about a store that fails", "1 in \(LimitText.seconds(SharedState.logInterval))"
        ) { try await SharedStateTests().sessionsWithoutTheStore() },
        LimitProof("a task in a store", "\(LimitText.bytes(SharedTasks.maxBytes)) of JSON") {
            try await SharedTasksTests().aLargeResult()
        },
        LimitProof(
            "the last events of a stream in a store",
            "\(SharedStreams.maxEvents) events, \(LimitText.bytes(SharedStreams.maxBytes))"
        ) { try await SharedStreamsTests().limits() },
        LimitProof(
            "a stream in a store",
            "\(LimitText.seconds(ResumableStream.age)) after its last event, "
                + "\(LimitText.seconds(SharedStreams.openAge)) while its call runs"
        ) { try await SharedStreamsTests().theRestOfACall("2025-11-25") },
        LimitProof(
            "pause of a client that asks another instance for the rest of a call",
            LimitText.seconds(SharedStreams.pause)
        ) { try await SharedStreamsTests().whileTheCallRuns() },
        LimitProof(
            "claims of unknown outcome that an instance remembers",
            LimitText.grouped(SharedState.maxDoubtful)
        ) {
            for setting in Setting.modern { try await SharedStateTests().aClaimWithALostReply(setting) }
        },
        LimitProof(
            "a look into the store for tasks of an instance",
            "every \(LimitText.seconds(SharedTasks.interval)) while one is unfinished or not stored"
        ) {
            try await SharedTasksTests().aCancellationAtTheOther()
            try await SharedTasksTests().manyTasksWithoutTheStore()
        },
        LimitProof(
            "time after a failure of a store in which a task that is not in it is not unknown",
            LimitText.seconds(SharedTasks.doubt)
        ) { await SharedTasksTests().aTaskIsUnknownOnceTheStoreIsWell() },
        LimitProof(
            "life of an instance without such a look", LimitText.seconds(InstanceLease.lifetime)
        ) { try await SharedTasksTests().anInstanceThatHasEnded() },
        LimitProof(
            "a cancellation, or answers, for a task of another instance",
            LimitText.seconds(SharedTasks.patience)
        ) { try await SharedTasksTests().aCancellationAtTheOther() },
    ]
}
