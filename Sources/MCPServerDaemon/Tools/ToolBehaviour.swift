import MCPCore

/// The settings of a tool that concern how its calls run, beside what they run.
struct ToolBehaviour {
    var progress: ToolDefinition.Progress?
    var successStatuses: Set<Int32> = []
    var confirmation: TemplateText?
    var overflow = ToolDefinition.Overflow.error
    var cacheTTL: Duration?
    var task = ToolDefinition.TaskUse.never
    var limits = ResourceLimits()
    var sandbox: SandboxDefinition?

    func applied(to definition: ToolDefinition) -> ToolDefinition {
        var definition = definition
        definition.progress = progress
        definition.successStatuses = successStatuses
        definition.confirmation = confirmation
        definition.overflow = overflow
        definition.cacheTTL = cacheTTL
        definition.task = task
        definition.limits = limits
        definition.sandbox = sandbox
        return definition
    }
}

/// Reads these settings and refuses those that contradict others.
struct ToolBehaviourReader {
    let context: ConfigContext

    func read(
        _ reader: inout ObjectReader, _ result: ToolDefinition.ResultKind, _ annotations: ToolAnnotations?
    ) -> ToolBehaviour {
        var behaviour = ToolBehaviour()
        behaviour.progress = progress(&reader)
        behaviour.successStatuses = statuses(&reader)
        behaviour.overflow =
            reader.word("overflow", as: ToolDefinition.Overflow.self) ?? behaviour.overflow
        behaviour.cacheTTL = reader.duration("cacheTtl")
        behaviour.task = reader.word("task", as: ToolDefinition.TaskUse.self) ?? behaviour.task
        behaviour.limits = reader.object("limits").map(ResourceLimits.init) ?? behaviour.limits
        if behaviour.overflow != .error, result != .text {
            context.diagnostics.error(
                "\(reader.pathOf("overflow")) needs \"result\": \"text\": a part of JSON is not JSON",
                at: reader.place(of: "overflow"))
        }
        if behaviour.cacheTTL != nil, annotations?.readOnlyHint != true {
            context.diagnostics.error(
                "\(reader.pathOf("cacheTtl")) needs \"annotations\": {\"readOnlyHint\": true}: "
                    + "a call that changes something must run each time", at: reader.place(of: "cacheTtl"))
        }
        if behaviour.cacheTTL != nil, reader.node("confirm") != nil {
            context.diagnostics.error(
                "\(reader.pathOf("cacheTtl")) and confirm cannot be combined: leave one out",
                at: reader.place(of: "cacheTtl"))
        }
        return behaviour
    }

    /// Reads `"lines"` or `{"format": "lines", "from": "stderr"}`.
    private func progress(_ reader: inout ObjectReader) -> ToolDefinition.Progress? {
        guard let node = reader.node("progress") else { return nil }
        if node.string != nil {
            return reader.word("progress", as: ToolDefinition.Progress.Format.self).map { .init(format: $0) }
        }
        guard node.members != nil, var object = reader.object("progress") else {
            reader.wrongType(
                "progress", node, expected: #""lines", "jsonlines" or {"format": "…", "from": "stderr"}"#)
            return nil
        }
        let format = object.word("format", as: ToolDefinition.Progress.Format.self)
        let source = object.word("from", as: ToolDefinition.Progress.Source.self)
        object.finish()
        if format == nil, !node.hasMember("format") {
            context.diagnostics.error(
                "\(reader.pathOf("progress")) has no \"format\": \"lines\" or \"jsonlines\"",
                at: node.position)
        }
        return format.map { .init(format: $0, source: source ?? .stdout) }
    }

    private func statuses(_ reader: inout ObjectReader) -> Set<Int32> {
        guard let node = reader.node("successExitStatus") else { return [] }
        guard let elements = node.elements else {
            reader.wrongType("successExitStatus", node, expected: "an array of exit statuses")
            return []
        }
        var statuses: Set<Int32> = []
        for element in elements {
            guard case .number(let number) = element.kind, let value = number.int64,
                (0 ... 255).contains(value)
            else {
                context.diagnostics.error(
                    "\(reader.pathOf("successExitStatus")) must contain whole numbers from 0 to 255",
                    at: element.position)
                continue
            }
            statuses.insert(Int32(value))
        }
        return statuses
    }
}
