import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

let daemon = Daemon(environment: Environment.all, started: ContinuousClock().now)
exit(await daemon.run(Array(CommandLine.arguments.dropFirst())))
