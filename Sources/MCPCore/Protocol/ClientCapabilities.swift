/// What a client can do for a server (basic/index "Per-request protocol fields").
///
/// The object is open: unknown keys are kept in `json` (CAP-03).
public struct ClientCapabilities: WireType {
    /// The capabilities as they came.
    public var json: JSONValue

    /// Takes the object as it is.
    public init(json: JSONValue) throws(JSONError) {
        _ = try MemberReader(json, as: "ClientCapabilities")
        self.json = json
    }

    /// Can do what is named here.
    ///
    /// - Parameter extensions: settings by identifier; `{}` for an extension without settings.
    public init(
        roots: Bool = false, sampling: Bool = false, samplingTools: Bool = false,
        samplingContext: Bool = false, elicitation: Bool = false, elicitationURL: Bool = false,
        extensions: JSONObject = [:]
    ) {
        var object = JSONObject()
        if roots { object["roots"] = [:] }
        if sampling || samplingTools || samplingContext {
            var members = JSONObject()
            if samplingTools { members["tools"] = [:] }
            if samplingContext { members["context"] = [:] }
            object["sampling"] = .object(members)
        }
        if elicitation || elicitationURL {
            var members = JSONObject()
            if elicitation { members["form"] = [:] }
            if elicitationURL { members["url"] = [:] }
            object["elicitation"] = .object(members)
        }
        if !extensions.isEmpty { object["extensions"] = .object(extensions) }
        json = .object(object)
    }

    private func members(_ key: String) -> JSONObject? { json[key]?.objectValue }

    /// Tells its roots.
    public var hasRoots: Bool { members("roots") != nil }
    /// Asks its model.
    public var hasSampling: Bool { members("sampling") != nil }
    /// Asks its model with tools.
    public var hasSamplingTools: Bool { members("sampling")?["tools"] != nil }
    /// Adds the context of servers to what it asks its model.
    public var hasSamplingContext: Bool { members("sampling")?["context"] != nil }
    /// Shows forms to its user; `{}` means forms (ELIC-01).
    public var hasElicitation: Bool {
        guard let modes = members("elicitation") else { return false }
        return modes["form"] != nil || modes["url"] == nil
    }
    /// Opens web pages for its user.
    public var hasElicitationURL: Bool { members("elicitation")?["url"] != nil }
    /// The extensions declared, by identifier.
    public var extensions: JSONObject { members("extensions") ?? [:] }

    /// Whether an extension is declared.
    public func has(extension identifier: String) -> Bool { extensions[identifier] != nil }

    /// What of `wanted` is not declared, as `requiredCapabilities` of an error says it; nil when nothing is
    /// missing.
    public func missing(of wanted: ClientCapabilities) -> JSONObject? {
        var missing = JSONObject()
        if wanted.hasRoots, !hasRoots { missing["roots"] = [:] }
        if wanted.hasSampling {
            let needs = [
                ("tools", wanted.hasSamplingTools && !hasSamplingTools),
                ("context", wanted.hasSamplingContext && !hasSamplingContext),
            ].filter(\.1)
            if !hasSampling || !needs.isEmpty {
                missing["sampling"] = .object(JSONObject(needs.map { (key: $0.0, value: [:]) }))
            }
        }
        if let modes = wanted.members("elicitation") {
            var needs = JSONObject()
            if modes["form"] != nil || modes["url"] == nil, !hasElicitation { needs["form"] = [:] }
            if modes["url"] != nil, !hasElicitationURL { needs["url"] = [:] }
            if !needs.isEmpty { missing["elicitation"] = .object(needs) }
        }
        let lacking = wanted.extensions.filter { !has(extension: $0.key) }
        if !lacking.isEmpty { missing["extensions"] = .object(JSONObject(lacking)) }
        return missing.isEmpty ? nil : missing
    }

    /// What is missing to answer a request of a server; nil when nothing is.
    func missing(for request: InputRequest) -> JSONObject? { missing(of: request.needs) }
}
