import MCPCore

/// A reader that turns words into arguments: it builds the object, checks it, and refuses to send one that
/// does not fit.
struct ArgumentReader {
    let invocation: Invocation
    let console: Console

    func read(
        _ words: [String], name: String, schema: JSONValue, input: ArgumentInput
    ) throws(Failure) -> JSONObject {
        var builder = ArgumentBuilder(
            name: name, schema: schema, input: input, acceptsUnknown: invocation.options.noValidate)
        let object = try builder.build(words)
        let check = ArgumentCheck(name: name, schema: schema)
        let problems: [ArgumentProblem]
        if invocation.options.noValidate {
            problems = builder.problems
        } else {
            do throws(SchemaError) {
                problems = try check.problems(object, words: builder.problems, order: builder.order)
            } catch {
                let reason = TerminalText.inline("\(error)", limit: 200)
                console.note(
                    "note: the arguments are not checked, because the schema of \(inlineText(name)) "
                        + "cannot be used: \(reason)")
                problems = builder.problems
            }
        }
        if problems.isEmpty { return object }
        let usage = invocation.line(
            invocation.command.name, [ShellWord.quote(name)] + check.usageWords())
        var failure = check.failure(problems, usage: usage)
        if invocation.options.noValidate {
            failure.hint = "write a value of another type as JSON: NAME:='\"text\"'"
        }
        throw failure
    }
}
