/// What fuzzers and `make test` run on bytes: each target checks more than that nothing crashes.
enum FuzzTarget: String, CaseIterable, Sendable {
    case json, message, request, response, chunked, sse, schema, pattern, small, partial, jsonc, types
    case stream, endpoint, connection, tasks, bridge, config, client, facade, hub

    typealias Check = (_ input: [UInt8]) throws -> Void

    /// Returns the check of this target. It may keep state from one input to the next, and is used by one
    /// thread at a time.
    func makeCheck() -> Check {
        switch self {
        case .json: JSONTarget.check
        case .message: JSONTarget.checkMessage
        case .request: HTTPTarget.checkRequest
        case .response: HTTPTarget.checkResponse
        case .chunked: HTTPTarget.checkChunked
        case .sse: EventTarget.check
        case .schema: SchemaTarget.check
        case .pattern: SchemaTarget.checkPattern
        case .small: SmallTarget.check
        case .partial: AppsTarget.checkPartial
        case .jsonc: ConfigTarget.checkJSONC
        case .types: TypesTarget.check
        case .stream: ServerTarget().checkStream
        case .endpoint: ServerTarget().checkEndpoint
        case .connection: ConnectionTarget().check
        case .tasks: TaskTarget.check
        case .bridge: AppsTarget.checkBridge
        case .config: ConfigTarget.check
        case .client: ClientFuzz.check
        case .facade: HubTarget.checkFacade
        case .hub: HubTarget.check
        }
    }
}
