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
exit(ClientProgram.main(Array(ProgramArguments.all.dropFirst())))
