/// The changes that a subscription is notified about (basic/patterns/subscriptions "Notification Filter").
public struct SubscriptionFilter: WireType {
    /// Whether to send a notification when the list of tools changes.
    public var toolsListChanged: Bool
    /// Whether to send a notification when the list of prompts changes.
    public var promptsListChanged: Bool
    /// Whether to send a notification when the list of resources changes.
    public var resourcesListChanged: Bool
    /// The URIs of resources whose contents are watched.
    public var resourceURIs: [String]
    /// The IDs of tasks whose status is watched (`io.modelcontextprotocol/tasks`).
    public var taskIDs: [String]

    /// Creates a filter that requests only what is given here.
    public init(
        toolsListChanged: Bool = false, promptsListChanged: Bool = false, resourcesListChanged: Bool = false,
        resourceURIs: [String] = [], taskIDs: [String] = []
    ) {
        self.toolsListChanged = toolsListChanged
        self.promptsListChanged = promptsListChanged
        self.resourcesListChanged = resourcesListChanged
        self.resourceURIs = resourceURIs
        self.taskIDs = taskIDs
    }

    /// A filter that requests changes of all three lists.
    public static let lists = SubscriptionFilter(
        toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true)

    /// Whether the filter requests nothing.
    public var isEmpty: Bool {
        !toolsListChanged && !promptsListChanged && !resourcesListChanged && resourceURIs.isEmpty
            && taskIDs.isEmpty
    }

    /// Reads the member `notifications`; unknown selectors of extensions are ignored.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "notifications")
        toolsListChanged = try members.optionalBool("toolsListChanged") ?? false
        promptsListChanged = try members.optionalBool("promptsListChanged") ?? false
        resourcesListChanged = try members.optionalBool("resourcesListChanged") ?? false
        resourceURIs = try members.strings("resourceSubscriptions")
        taskIDs = try members.strings("taskIds")
    }

    /// The member `notifications`, which contains only what is requested.
    public var json: JSONValue {
        var object = JSONObject()
        if toolsListChanged { object["toolsListChanged"] = true }
        if promptsListChanged { object["promptsListChanged"] = true }
        if resourcesListChanged { object["resourcesListChanged"] = true }
        if !resourceURIs.isEmpty {
            object["resourceSubscriptions"] = .array(resourceURIs.map(JSONValue.string))
        }
        if !taskIDs.isEmpty { object["taskIds"] = .array(taskIDs.map(JSONValue.string)) }
        return .object(object)
    }
}
