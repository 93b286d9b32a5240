import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

// Before anything else takes their descriptor numbers. Where /dev/null cannot be opened, the streams stay as
// they were.
try? StandardStreams.openMissing()
// A parent that ignores this signal passes that on, and the system then keeps no status of our own children.
signal(SIGCHLD, SIG_DFL)
guard let arguments = ProgramArguments.withoutName else {
    DescriptorSink(2).write("error: cannot read the arguments: /proc/self/cmdline is not accessible\n")
    exit(ExitCode.usage.rawValue)
}
exit(ClientProgram.main(arguments))
