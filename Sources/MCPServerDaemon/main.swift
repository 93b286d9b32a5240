import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

// Before anything else takes their numbers. Where /dev/null cannot be opened the streams are what they were.
try? StandardStreams.openMissing()
// A parent that ignores it hands that on, and then the system keeps no status of our own children.
signal(SIGCHLD, SIG_DFL)
let arguments = Array(ProgramArguments.all.dropFirst())
if arguments == [Daemon.superviseCommand] { exit(SupervisorProgram.run() ? 0 : ExitCode.usage.rawValue) }
let daemon = Daemon(environment: Environment.all, started: ContinuousClock().now)
exit(await daemon.run(arguments))
