/// The members of `_meta` that are this project's own.
///
/// A prefix of one label is allowed by the grammar of `_meta` keys and none of the reserved ones (basic
/// "_meta"). It stands here once, so that it can be replaced.
public enum VendorKey {
    static let prefix = "mcpcore/"
    /// The instructions of a tool.
    public static let instructions = prefix + "instructions"
    /// Whether people are shown that a tool uses sources outside the conversation.
    public static let externalSources = prefix + "showExternalSourcesIndicator"
    /// The program that offers a tool; in a call, the one that is to run it.
    public static let clientID = prefix + "clientId"
    /// How long a call of a tool may take, in milliseconds.
    public static let timeout = prefix + "timeoutMs"
    /// The message of a chat that a call belongs to.
    public static let messageID = prefix + "messageId"
    /// The channel that a call came through.
    public static let channelID = prefix + "channelId"
    /// The name of one call at the hub.
    public static let invocationID = prefix + "invocationId"
}
