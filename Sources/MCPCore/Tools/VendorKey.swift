/// The members of `_meta` that are specific to this project.
///
/// The grammar of `_meta` keys allows a prefix with a single label, and this one is not reserved (basic
/// "_meta"). It is defined once, here, so that it can be replaced.
public enum VendorKey {
    static let prefix = "mcpcore/"
    /// Usage instructions for a tool.
    public static let instructions = prefix + "instructions"
    /// Whether people are shown that a tool uses sources outside the conversation.
    public static let externalSources = prefix + "showExternalSourcesIndicator"
    /// The program that offers a tool; in a call, the program that should run it.
    public static let clientID = prefix + "clientId"
    /// The maximum duration of a tool call, in milliseconds.
    public static let timeout = prefix + "timeoutMs"
    /// The scopes that a tool needs, as an array of names: those of `PermissionScope`, or others.
    public static let scopes = prefix + "scopes"
    /// The chat message that a call belongs to.
    public static let messageID = prefix + "messageId"
    /// The channel through which a call arrived.
    public static let channelID = prefix + "channelId"
    /// The identifier of one call at the hub.
    public static let invocationID = prefix + "invocationId"
}
