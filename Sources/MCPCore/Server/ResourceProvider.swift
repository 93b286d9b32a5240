/// A source of resources that are not known individually, such as a directory or a database.
public protocol ResourceProvider: Sendable {
    /// Returns one page of the list, in a stable order; `cursor` is the `next` value of the previous page.
    ///
    /// Throw `MCPError.invalidParams` for a cursor that this provider did not issue or that is
    /// no longer valid.
    func resources(
        after cursor: String?, limit: Int
    ) async throws -> (page: [Resource], next: String?)

    /// Returns the templates that the list shows; none by default.
    func templates() -> [ResourceTemplate]

    /// Returns the contents at `uri`, or nil when the URI does not belong to this provider.
    ///
    /// Throw `MCPError.resourceNotFound` when the URI belongs to this provider but the
    /// resource does not exist.
    func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]?

    /// Returns whether clients are notified when the resource at `uri` changes, so that they may subscribe to
    /// it; the resource need not exist yet. By default, this is true for every URI that matches one of
    /// `templates()`, or for any URI when there are no templates.
    ///
    /// Called for each URI of a subscription, on the thread that serves it; it must not block.
    func reportsChanges(of uri: String) -> Bool
}

extension ResourceProvider {
    /// Returns no templates.
    public func templates() -> [ResourceTemplate] { [] }

    /// Returns whether `uri` matches one of `templates()`; without templates, every URI does.
    public func reportsChanges(of uri: String) -> Bool {
        let templates = templates()
        // A form of template that is not supported here may match anything.
        return templates.isEmpty
            || templates.contains { template in
                guard let pattern = try? URITemplate(template.uriTemplate) else { return true }
                return pattern.match(uri) != nil
            }
    }
}

/// A provider of resources that another server has, and reports changes of while somebody watches them.
protocol ForwardedResources: ResourceProvider {
    /// Returns whether the other server lists a URI, or has a template that matches it.
    func isKnown(_ uri: String) -> Bool
    /// Begins to watch a resource for a principal; returns nil when its changes are not reported.
    func watch(_ uri: String, for principal: String) -> ResourceWatch?
}

/// A wish to hear of the changes of another server's resource, for as long as this object exists.
final class ResourceWatch: Sendable {
    /// The time that a caller waits for the server to say what it reports.
    static let longestAnswer = Duration.seconds(10)

    /// Returns whether the server reports no changes of it, once it has been asked.
    let isRefused: @Sendable () async -> Bool
    private let end: @Sendable () -> Void

    init(isRefused: @escaping @Sendable () async -> Bool, end: @escaping @Sendable () -> Void) {
        self.isRefused = isRefused
        self.end = end
    }

    deinit { end() }
}

/// The reason why something could not be registered.
public struct RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem, and what it concerns.
    public let description: String
    /// Creates an error that describes the problem, and what it concerns.
    package init(_ text: String) { description = text }
}
