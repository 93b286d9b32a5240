import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

// This comes before anything else takes the numbers of the standard streams. If /dev/null cannot be opened,
// the streams stay as they were.
try? StandardStreams.openMissing()
// A parent that ignores SIGCHLD passes that on to this process, and the system then keeps no status of our
// own children.
signal(SIGCHLD, SIG_DFL)
// Without them, a server with other settings than those that were asked for would start.
guard let arguments = ProgramArguments.withoutName else {
    Terminal.error(["mcp-server: cannot read its arguments: /proc/self/cmdline is not accessible"])
    exit(ExitCode.usage.rawValue)
}
if arguments == [Daemon.superviseCommand] { exit(SupervisorProgram.run() ? 0 : ExitCode.usage.rawValue) }
if arguments.first == RestrictedProgram.command {
    exit(RestrictedProgram.run(arguments.dropFirst()))
}
let daemon = Daemon(environment: Environment.all, started: ContinuousClock().now)
let code = await daemon.run(arguments)
exit(code == ExitCode.success.rawValue && Terminal.hasLostOutput ? ExitCode.failure.rawValue : code)
