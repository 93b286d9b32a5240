public import MCPCore

/// The surroundings of a view (MCP Apps 2026-01-26 "Host Context"). What is nil is not told.
public struct HostContext: Sendable, Hashable {
    /// The call that the view shows.
    public struct ToolInfo: Sendable, Hashable {
        /// The id of the call.
        public var id: JSONValue?
        /// The tool.
        public var tool: Tool

        /// Names a call.
        public init(id: JSONValue? = nil, tool: Tool) {
            self.id = id
            self.tool = tool
        }
    }

    /// What the device can do.
    public struct Device: Sendable, Hashable {
        /// A finger can touch it.
        public var touch: Bool?
        /// A pointer can hover over it.
        public var hover: Bool?

        /// Describes a device.
        public init(touch: Bool? = nil, hover: Bool? = nil) {
            self.touch = touch
            self.hover = hover
        }
    }

    /// Who decides about one side of the view, in CSS pixels.
    public enum Extent: Sendable, Hashable {
        /// The host does; the view fills it.
        case fixed(Double)
        /// The view does, up to this.
        case flexible(Double)
    }

    /// The room that the view has; nil is room without bounds.
    public struct Dimensions: Sendable, Hashable {
        /// Across.
        public var width: Extent?
        /// Down.
        public var height: Extent?

        /// Describes room.
        public init(width: Extent? = nil, height: Extent? = nil) {
            self.width = width
            self.height = height
        }
    }

    /// Room at the edges that something else covers, in CSS pixels.
    public struct Insets: Sendable, Hashable {
        /// Each edge.
        public var top, right, bottom, left: Double

        /// Describes the edges.
        public init(top: Double = 0, right: Double = 0, bottom: Double = 0, left: Double = 0) {
            (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
        }
    }

    /// The call that the view shows.
    public var toolInfo: ToolInfo?
    /// `light` or `dark`.
    public var theme: String?
    /// How the host looks.
    public var styles: HostStyles?
    /// How the view is shown.
    public var displayMode: DisplayMode?
    /// How the host can show views.
    public var availableDisplayModes: [DisplayMode]?
    /// The room that the view has.
    public var containerDimensions: Dimensions?
    /// The user's language (BCP 47).
    public var locale: String?
    /// The user's time zone (IANA).
    public var timeZone: String?
    /// The host's program.
    public var userAgent: String?
    /// `web`, `desktop` or `mobile`.
    public var platform: String?
    /// What the device can do.
    public var deviceCapabilities: Device?
    /// Room at the edges that something else covers.
    public var safeAreaInsets: Insets?

    /// Tells nothing.
    public init() {}
}

/// On the wire.
extension HostContext {
    /// `hostContext` of the answer to `ui/initialize`.
    public var json: JSONObject {
        var object = JSONObject()
        if let toolInfo {
            var info = JSONObject()
            info["id"] = toolInfo.id
            info["tool"] = toolInfo.tool.json
            object["toolInfo"] = .object(info)
        }
        object["theme"] = theme.map(JSONValue.string)
        object["styles"] = styles.map { .object($0.json) }
        object["displayMode"] = displayMode.map { .string($0.rawValue) }
        object["availableDisplayModes"] = availableDisplayModes.map {
            .array($0.map { .string($0.rawValue) })
        }
        object["containerDimensions"] = containerDimensions.map { .object($0.json) }
        object["locale"] = locale.map(JSONValue.string)
        object["timeZone"] = timeZone.map(JSONValue.string)
        object["userAgent"] = userAgent.map(JSONValue.string)
        object["platform"] = platform.map(JSONValue.string)
        if let device = deviceCapabilities {
            var members = JSONObject()
            members["touch"] = device.touch.map(JSONValue.bool)
            members["hover"] = device.hover.map(JSONValue.bool)
            object["deviceCapabilities"] = .object(members)
        }
        if let insets = safeAreaInsets {
            object["safeAreaInsets"] = [
                "top": JSONValue(finite: insets.top) ?? 0, "right": JSONValue(finite: insets.right) ?? 0,
                "bottom": JSONValue(finite: insets.bottom) ?? 0,
                "left": JSONValue(finite: insets.left) ?? 0,
            ]
        }
        return object
    }

    /// The members that are not as they were: the params of `ui/notifications/host-context-changed`. A field
    /// that is nil now is not among them, since the protocol has no word for that.
    public func difference(from old: HostContext) -> JSONObject {
        guard self != old else { return [:] }
        let before = old.json
        return JSONObject(json.filter { before[$0.key] != $0.value })
    }
}

extension HostContext.Dimensions {
    var json: JSONObject {
        var object = JSONObject()
        switch width {
        case .fixed(let value): object["width"] = JSONValue(finite: value)
        case .flexible(let most): object["maxWidth"] = JSONValue(finite: most)
        case nil: break
        }
        switch height {
        case .fixed(let value): object["height"] = JSONValue(finite: value)
        case .flexible(let most): object["maxHeight"] = JSONValue(finite: most)
        case nil: break
        }
        return object
    }
}
