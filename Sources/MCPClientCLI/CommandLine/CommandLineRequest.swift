/// The request that a command line makes.
enum CommandLineRequest: Sendable {
    case help(Command?)
    case run(Invocation)
    /// Proposals for a shell; nil when the shell is not known.
    case complete(CompletionRequest?)
}
