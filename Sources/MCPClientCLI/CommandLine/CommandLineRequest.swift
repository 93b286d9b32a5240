/// The request that a command line makes.
enum CommandLineRequest: Sendable {
    case help(Command?)
    case run(Invocation)
}
