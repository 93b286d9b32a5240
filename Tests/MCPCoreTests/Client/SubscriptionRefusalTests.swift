import MCPCore
import Testing

/// The refusals of a subscription after which it is tried again.
@Suite struct SubscriptionRefusalTests {
    @Test(
        arguments: [
            (ClientError.Kind.connectionClosed, nil), (.timeout, nil), (.httpStatus, 503), (.httpStatus, 429),
            (.httpStatus, 500),
        ] as [(ClientError.Kind, Int?)])
    func passes(_ kind: ClientError.Kind, _ status: Int?) {
        #expect(SubscriptionRefusal.mayPass(ClientError(kind, "no", httpStatus: status)))
    }

    @Test(
        arguments: [
            (ClientError.Kind.cannotConnect, nil), (.protocolViolation, nil), (.httpStatus, 405),
            (.httpStatus, 501),
            (.httpStatus, nil),
        ] as [(ClientError.Kind, Int?)])
    func stays(_ kind: ClientError.Kind, _ status: Int?) {
        #expect(!SubscriptionRefusal.mayPass(ClientError(kind, "no", httpStatus: status)))
    }

    @Test func errorsOfTheServer() {
        #expect(SubscriptionRefusal.mayPass(MCPError(code: MCPError.interruptedCode, message: "stopping")))
        #expect(!SubscriptionRefusal.mayPass(MCPError(code: -32601, message: "no such method")))
    }
}
