import MCPCore

/// Turns the end of a run into a tool's result.
struct CommandResult {
    /// The number of bytes of standard error that a failure shows.
    private static let errorTail = 2_048

    let definition: ToolDefinition
    /// The compiled schema of the structured result.
    let output: CompiledSchema?

    func result(of run: ProcessRunner.Result) -> CallToolResult {
        switch run.end {
        case .exited: break
        case .cancelled: return failure("cancelled", run)
        case .timedOut:
            return failure("stopped after its timeout of \(Units.describe(definition.timeout))", run)
        case .outputLimit:
            return failure(
                "stopped: it wrote more than \(Units.describe(bytes: definition.maxOutput))", run)
        case .errorLimit: return failure("stopped: it wrote too much to standard error", run)
        case .unreadable(let error):
            return failure("stopped: what it wrote could not be read (\(error.reason)); try again later", run)
        }
        switch run.status {
        case .exited(0): return success(run.output)
        case .exited(let code): return failure("exit status \(code)", run)
        case .signaled(let number): return failure("killed by signal \(number)", run)
        case .unknown: return failure("ended with an unknown status", run)
        }
    }

    private func success(_ bytes: [UInt8]) -> CallToolResult {
        switch definition.result {
        case .text: return .text(Self.text(bytes))
        case .json:
            do throws(JSONError) {
                return structured(try JSONValue(parsing: bytes))
            } catch {
                return .error("\(definition.name): its output is not JSON: \(error)")
            }
        case .jsonlines:
            var items: [JSONValue] = []
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where !line.allSatisfy(ASCII.isLineBlank) {
                do throws(JSONError) {
                    items.append(try JSONValue(parsing: Array(line)))
                } catch {
                    return .error("\(definition.name): line \(index + 1) of its output is not JSON: \(error)")
                }
            }
            return structured(["items": .array(items)])
        }
    }

    /// Returns a structured result: an object, because revisions before 2026-07-28 support nothing else
    /// (TOOL-13).
    private func structured(_ value: JSONValue) -> CallToolResult {
        let object: JSONValue = value.objectValue == nil ? ["value": value] : value
        if let violations = output?.validate(object), !violations.isEmpty {
            let text = violations.map(\.description).joined(separator: "; ")
            return .error("\(definition.name): its output does not match the output schema: \(text)")
        }
        return .structured(object)
    }

    /// Returns an error with the reason, the end of standard error, and the output before that.
    private func failure(_ reason: String, _ run: ProcessRunner.Result) -> CallToolResult {
        // The reader knows which tool was called.
        var text = reason
        var tail = run.errors.suffix(Self.errorTail)
        // The text must not begin in the middle of a character.
        while let first = tail.first, first & 0xC0 == 0x80 { tail.removeFirst() }
        let errors = Self.text(Array(tail)).trimmedOfNewlines
        if !errors.isEmpty {
            text += run.errors.count > tail.count ? "\nstderr (end): \(errors)" : "\nstderr: \(errors)"
        }
        var result = CallToolResult.error(text)
        if !run.output.isEmpty { result.content.append(.text(Self.text(run.output))) }
        return result
    }

    /// Returns a program's bytes as text: what is not UTF-8 is replaced, so that framing never breaks.
    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension String {
    /// The string without newlines and blanks at the end.
    var trimmedOfNewlines: String {
        var bytes = utf8[...]
        while let last = bytes.last, last == 0x0A || ASCII.isLineBlank(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
