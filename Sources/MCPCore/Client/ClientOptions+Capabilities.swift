extension ClientOptions {
    /// The identifier of the extension for tasks.
    package static let tasksExtension = "io.modelcontextprotocol/tasks"

    /// The capabilities of the handlers: nothing is declared that has no handler.
    var capabilities: ClientCapabilities {
        var extensions = extensions
        if followsTasks { extensions[Self.tasksExtension] = [:] }
        if let declared { return declared.adding(extensions) }
        return ClientCapabilities(
            roots: onRoots != nil, sampling: onSample != nil,
            samplingTools: onSample != nil && supportsSamplingTools, elicitation: onElicit != nil,
            elicitationURL: onElicit != nil && supportsElicitationURL, extensions: extensions)
    }
}

extension ClientCapabilities {
    /// Returns the capabilities with these extensions added.
    func adding(_ extensions: JSONObject) -> ClientCapabilities {
        guard !extensions.isEmpty, case .object(var members) = json else { return self }
        var all = self.extensions
        for (key, value) in extensions { all[key] = value }
        members["extensions"] = .object(all)
        var copy = self
        copy.json = .object(members)
        return copy
    }

    /// Returns the capabilities in the form of a handshake revision: only those that it knows (Table 3), and
    /// extensions that do not depend on the revision. Tasks do (TASK-25); views do not.
    func json(for revision: Revision) -> JSONValue {
        if revision.isModern { return json }
        var object = JSONObject()
        if hasRoots { object["roots"] = ["listChanged": true] }
        if hasSampling {
            object["sampling"] = revision.has(.samplingTools) && hasSamplingTools ? ["tools": [:]] : [:]
        }
        if revision.has(.elicitation), hasElicitation || hasElicitationURL {
            object["elicitation"] = revision.has(.elicitationModes) ? json["elicitation"] : [:]
        }
        let others = extensions.filter { $0.key != ClientOptions.tasksExtension }
        if !others.isEmpty { object["extensions"] = .object(JSONObject(others)) }
        return .object(object)
    }
}
