/// What a subscription is told of (basic/patterns/subscriptions "Notification Filter").
public struct SubscriptionFilter: WireType {
    /// The list of tools changed.
    public var toolsListChanged: Bool
    /// The list of prompts changed.
    public var promptsListChanged: Bool
    /// The list of resources changed.
    public var resourcesListChanged: Bool
    /// Resources whose contents are watched.
    public var resourceURIs: [String]
    /// Tasks whose status is watched (`io.modelcontextprotocol/tasks`).
    public var taskIDs: [String]

    /// Asks for what is named here and nothing else.
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

    /// All three lists.
    public static let lists = SubscriptionFilter(
        toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true)

    /// Whether it asks for nothing.
    public var isEmpty: Bool {
        !toolsListChanged && !promptsListChanged && !resourcesListChanged && resourceURIs.isEmpty
            && taskIDs.isEmpty
    }

    /// Reads the member `notifications`; selectors of extensions that are not known are ignored.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "notifications")
        toolsListChanged = try members.optionalBool("toolsListChanged") ?? false
        promptsListChanged = try members.optionalBool("promptsListChanged") ?? false
        resourcesListChanged = try members.optionalBool("resourcesListChanged") ?? false
        resourceURIs = try members.strings("resourceSubscriptions")
        taskIDs = try members.strings("taskIds")
    }

    /// The member `notifications`: only what is asked for.
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
