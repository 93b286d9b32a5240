/// A source of resources that are not known one by one: a directory, a database.
public protocol ResourceProvider: Sendable {
    /// One page of the list, in a stable order; `cursor` is what the page before returned as `next`.
    ///
    /// Throw `MCPError.invalidParams` for a cursor that is not yours or no longer good.
    func resources(
        after cursor: String?, limit: Int
    ) async throws -> (page: [Resource], next: String?)

    /// The templates that the list shows; none by default.
    func templates() -> [ResourceTemplate]

    /// The contents at `uri`, or nil when the address is not of this provider.
    ///
    /// Throw `MCPError.resourceNotFound` when it is of this provider and not there.
    func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]?

    /// Whether clients are told when the resource at `uri` changes, so that they may subscribe to it; it need
    /// not exist yet. By default every address that fits one of `templates()`, or any when there are none.
    ///
    /// Called for each address of a subscription, on the thread that serves it: it must not wait.
    func reportsChanges(of uri: String) -> Bool
}

extension ResourceProvider {
    /// None.
    public func templates() -> [ResourceTemplate] { [] }

    /// Every address that fits one of `templates()`, or any when there are none.
    public func reportsChanges(of uri: String) -> Bool {
        let templates = templates()
        // A form that is not supported here may fit anything.
        return templates.isEmpty
            || templates.contains { template in
                guard let pattern = try? URITemplate(template.uriTemplate) else { return true }
                return pattern.match(uri) != nil
            }
    }
}

/// Why something could not be registered.
public struct RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and with what.
    public let description: String
    /// What is wrong and with what.
    package init(_ text: String) { description = text }
}
