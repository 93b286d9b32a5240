import MCPCore

/// What a command learns about the call that it runs for, in its environment.
struct CallOrigin: Sendable, Hashable {
    /// The subject of the principal; `nil` without authorization.
    var caller: String?
    /// The trace that the call belongs to (W3C Trace Context), if its client sent a valid one.
    var traceParent: String?

    static let none = CallOrigin()

    private init() {}

    init(_ context: RequestContext) {
        caller = context.principal.flatMap { $0.kind == .anonymous ? nil : Self.usable($0.subject) }
        traceParent = context.traceContext?.traceparent
    }

    /// The longest subject, in bytes: it is shown in process lists of the user.
    private static let maxCallerBytes = 256

    /// Returns a subject that an environment can hold, or `nil`; part of a subject would be another's.
    private static func usable(_ subject: String) -> String? {
        let isUsable =
            (1 ... maxCallerBytes).contains(subject.utf8.count)
            && subject.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isUsable ? subject : nil
    }

    /// Adds the variables to a command's environment.
    func add(to environment: inout [String: String]) {
        if let caller { environment["MCP_CALLER"] = caller }
        if let traceParent { environment["TRACEPARENT"] = traceParent }
    }
}
