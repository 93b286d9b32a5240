#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

exit(ClientProgram.main(Array(CommandLine.arguments.dropFirst())))
