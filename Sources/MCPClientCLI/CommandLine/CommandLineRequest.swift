/// What a command line asks for.
enum CommandLineRequest: Sendable {
    case help(Command?)
    case run(Invocation)
}
