import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let authorization: [LimitProof] = {
        typealias Cache = TokenVerifications.Cache
        return [
            LimitProof(
                "verified tokens that are remembered",
                "\(LimitText.grouped(Cache.maxGood)), each for \(LimitText.seconds(Cache.goodTime)) or until it expires"
            ) {
                try TokenVerificationTests().numberOfTokens()
                try await TokenVerificationTests().goodTokens(false)
            },
            LimitProof(
                "`Authorization` that a connection compares with the one before",
                LimitText.bytes(KnownCaller.maxFieldBytes)
            ) { try await TokenVerificationTests().severalTokensOnOneConnection() },
            LimitProof(
                "refused tokens that are remembered",
                "\(LimitText.grouped(Cache.maxRefused)), each for \(LimitText.seconds(Cache.refusedTime))"
            ) {
                try TokenVerificationTests().numberOfTokens()
                try await TokenVerificationTests().refusedTokens(false)
            },
            LimitProof(
                "tokens that are being verified",
                "\(TokenVerifications.maxOpen) at a time, \(LimitText.seconds(TokenVerifications.time)) each"
            ) {
                try await TokenVerificationTests().manySlowVerifications()
                try await TokenVerificationTests().aVerifierThatNeverReturns()
            },
            LimitProof(
                "streams of an expired token", LimitText.seconds(.seconds(AccessGuard.skewSeconds))
            ) { try await TokenVerificationTests().streamsEndWithTheirToken() },
            LimitProof(
                "open streams while their token cannot be checked", LimitText.seconds(StreamWatch.patience)
            ) { try await StreamTokenTests().aTokenThatCannotBeChecked() },
            LimitProof("callers whose rate is counted", LimitText.grouped(TokenVerifications.maxMeters)) {
                try await PeerRuleTests.numberOfMeters()
            },
            LimitProof(
                "wrong tokens of one address",
                "\(FailedAttempts.maxFailures) in \(LimitText.seconds(FailedAttempts.period)), of the last \(LimitText.grouped(FailedAttempts.maxAddresses)) addresses"
            ) { try await AccessRulesTests.failedAttempts() },
            LimitProof("lists for callers with different rights", LimitText.grouped(Registry.maxViews)) {
                try AccessRulesTests.numberOfViews()
            },
            LimitProof("static tokens", LimitText.grouped(StaticTokens.maxTokens)) {
                try StaticTokensTests.numberOfTokens()
            },
        ]
    }()
}
