extension FaultMatrix {
    private static let auth = "MCPCoreTests/Auth"
    private static let client = "ClientCLITests/Process"
    private static let platform = "MCPCoreTests/Platform"
    private static let tools = "DaemonTests/Tools/CommandToolTests"
    private static let files = "DaemonTests/Files/DirectoryResourcesTests"
    private static let upstreams = "DaemonTests/Upstreams/UpstreamProgramTests"

    /// The operating system, files and secrets: proven by tests of other targets, with real processes.
    static let system: [FaultRow] =
        [
            FaultRow(
                72, "EINTR, EAGAIN, short reads and writes",
                elsewhere: "\(platform)/SyscallsTests.swift: injectedFaultsAreRetriedReportedOrThrown",
                "\(platform)/ListingTortureTests.swift: aListIsNeverShortWithoutAWord",
                "MCPCoreTests/Events/WakeTortureTests.swift: aWakeUpIsNeverLost",
                "\(platform)/SyscallsTests.swift: fullPipeReportsWouldBlockAfterAShortWrite"),
            FaultRow(
                73, "EPIPE and SIGPIPE",
                elsewhere: "\(platform)/SyscallsTests.swift: brokenPipeIsAnErrorAndNoSignal",
                "DaemonTests/Lifecycle/ProgramTests.swift: outputThatCannotBeWritten",
                "DaemonTests/Lifecycle/UnpleasantLifeTests.swift: theReaderOfTheOutputGoesAway"),
            FaultRow(
                74, "no descriptors at accept",
                elsewhere: "FaultTests/HTTPReadingFaults.swift: fault75ForEver",
                "Soak/exhaust.py: descriptors"),
            FaultRow(
                75, "ECONNABORTED and EPROTO at accept",
                elsewhere: "FaultTests/HTTPReadingFaults.swift: fault75ForEver"),
            FaultRow(
                76, "EADDRINUSE and EACCES at bind",
                elsewhere:
                    "DaemonTests/Configuration/ConfigurationTests.swift: addressesThatCannotBeListenedOn",
                "DaemonTests/Lifecycle/ListeningProgramTests.swift: aFileAtThePathOfTheSocketStays",
                "MCPCoreTests/Transport/RunningServerTests.swift: aStartThatFailsServesNothing",
                "DaemonTests/Lifecycle/ProgramTests.swift: listensOnceAndEndsOnSIGTERM",
                except: "the exit code is 3, as docs/operations.md says"),
            FaultRow(
                77, "a full disk", elsewhere: "DaemonTests/Observe/AuditLogTests.swift: aFullDisk",
                "DaemonTests/Observe/AuditLogTests.swift: aWriteThatEndsInTheMiddle",
                "DaemonTests/Observe/DeadLogTests.swift: aDiskThatIsFull", "Soak/exhaust.py: disk"),
            FaultRow(
                78, "standard output and error closed or blocked",
                elsewhere: "\(platform)/LogTests.swift: blockedPipeDropsLinesAndCountsThem",
                "\(platform)/LogTests.swift: brokenSinkDropsLines",
                "DaemonTests/Observe/DeadLogTests.swift: standardErrorThatIsNotRead",
                "DaemonTests/Lifecycle/ProgramTests.swift: outputThatCannotBeWritten"),
            FaultRow(
                79, "a limit of memory",
                elsewhere: "FaultTests/ShortageFaults.swift: aLimitOfMemoryThatEndsTheProcess",
                "FaultTests/ShortageFaults.swift: aLimitOfMemoryAboveOurOwn", "Soak/exhaust.py: memory",
                except: "memory that is refused ends the process; limits keep the peak below"),
            FaultRow(
                80, "standard descriptors closed at the start",
                elsewhere: "DaemonTests/Lifecycle/ProgramTests.swift: streamsThatAreClosedAtTheStart",
                "\(platform)/SyscallsTests.swift: pipesAvoidTheStandardDescriptors"),
            FaultRow(
                81, "a child with our standard output",
                elsewhere: "\(platform)/ChildProcessTests.swift: childrenInheritOnlyTheStandardDescriptors",
                "\(tools).swift: standardOutputIsTheText"),
            FaultRow(
                82, "a program that does not start, or floods",
                elsewhere: "ClientCLITests/Process/BadServerTests.swift: aProgramThatDiesAtOnce",
                "\(upstreams).swift: aProgramThatEndsWhileItStarts",
                "\(upstreams).swift: aHostileProgramDoesNoHarm",
                "MCPCoreTests/Client/StdioClientTransportTests.swift: floodsStderrAndReadsLate"),
            FaultRow(
                83, "a program that ignores its end, and its grandchildren",
                elsewhere:
                    "ClientCLITests/Process/BadServerTests.swift: aServerThatWillNotEndIsKilled",
                "\(platform)/ChildProcessTests.swift: ladderKillsWhoIgnoresEverythingWithItsGrandchildren",
                "\(platform)/ProcessRunnerTests.swift: leftOverBackgroundProcessesAreKilledAndDoNotDelay",
                "DaemonTests/Lifecycle/ToolEndTests.swift: overHTTP"),
            FaultRow(
                84, "a program that is killed during a call",
                elsewhere: "ClientCLITests/Process/BadServerTests.swift: aServerKilledInTheMiddleOfACall",
                "\(upstreams).swift: aProgramThatIsKilledIsStartedAgain",
                "MCPCoreTests/Client/StdioClientTransportTests.swift: diesInTheMiddle"),
            FaultRow(
                85, "10,000 cycles of spawn and close",
                elsewhere: "\(platform)/ChildProcessTests.swift: manyCyclesLeaveNothingBehind",
                "Soak/cycles.py: program",
                except: "10,000 cycles by `make cycles COUNT=10000`; the tests make fewer"),
            FaultRow(
                86, "SIGTERM under load, twice, during the start",
                elsewhere: "DaemonTests/Lifecycle/ToolEndTests.swift: overHTTP",
                "DaemonTests/Lifecycle/ToolEndTests.swift: overStdio",
                "DaemonTests/Lifecycle/UnpleasantLifeTests.swift: callersAreToldThatTheServerStops",
                "DaemonTests/Lifecycle/UnpleasantLifeTests.swift: aSignalDuringTheStart",
                "MCPCoreTests/Transport/RunningServerTests.swift: aStopThatComesBeforeTheStartIsNotLost"),
            FaultRow(87, "SIGHUP", elsewhere: "DaemonTests/Watch/ReloadTests.swift: hangup"),
            FaultRow(
                88, "SIGKILL at any time",
                elsewhere: "DaemonTests/Observe/AuditLogTests.swift: anIncompleteLineStaysAlone",
                "DaemonTests/Lifecycle/UnpleasantLifeTests.swift: killedAtAnyTime",
                "DaemonTests/Lifecycle/ToolEndTests.swift: overHTTP", "Interop/instances.py: one_is_killed"),
            FaultRow(
                89, "a process that is stopped for a minute",
                elsewhere: "MCPCoreTests/Events/LoopTimerTests.swift: timersFireOnceAfterALongGap",
                "DaemonTests/Lifecycle/UnpleasantLifeTests.swift: aPauseOfTheProcess"),
            FaultRow(
                90, "a wall clock that jumps",
                elsewhere: "\(platform)/TimeTests.swift: wallClockJumpsDoNotMoveDeadlines",
                "MCPCoreTests/Server/Tasks/ServerTaskTests.swift: shape"),
            FaultRow(
                91, "a suspended machine",
                elsewhere: "MCPCoreTests/Events/LoopTimerTests.swift: timersFireOnceAfterALongGap"),
            FaultRow(
                92, "idle connections, one too many", "fault 92: one connection too many gets a head alone"),
            FaultRow(
                93, "overload", elsewhere: "FaultTests/ShortageFaults.swift: fiveTimesTheConnections",
                "DaemonTests/Tools/OverloadTests.swift: theExcessIsRefusedAtOnce",
                "DaemonTests/Tools/OverloadTests.swift: oneCallerLeavesPlacesToOthers",
                "\(tools).swift: turnsAwayWhatWouldWaitTooLong",
                "\(tools).swift: oneCallerCannotTakeAll",
                except: "times under load are measured by the benchmarks"),
            FaultRow(
                94, "a wrong configuration",
                elsewhere: "DaemonTests/Lifecycle/ProgramTests.swift: checkReportsEverythingWithExitCode8",
                "DaemonTests/Configuration/ConfigurationTests.swift: findsWhatAStartWouldRefuse"),
            FaultRow(
                95, "two servers at one address",
                elsewhere: "DaemonTests/Lifecycle/ProgramTests.swift: listensOnceAndEndsOnSIGTERM",
                "DaemonTests/Admin/AdminProgramTests.swift: theAddressIsThatOfOneServer"),
            FaultRow(
                96, "a directory whose name begins alike",
                elsewhere: "\(platform)/RootDirectoryTests.swift: pathsCannotLeave"),
            FaultRow(
                97, "links out of a directory, and swaps",
                elsewhere: "\(platform)/RootDirectoryTests.swift: symlinksThatLeadOutDoSoAtNoDepth",
                "\(platform)/RootDirectoryTests.swift: swappedNamesNeverLeadOut",
                "\(files).swift: neverLeavesTheRoot"),
            FaultRow(
                98, "what is not a regular file, and huge ones",
                elsewhere: "ClientCLITests/Process/HostileServerTests.swift: aTokenFromAPipe",
                "\(platform)/RootDirectoryTests.swift: onlyRegularFilesAreOpened",
                "\(platform)/RootDirectoryTests.swift: filesWithoutATrueSizeAreLimitedAllTheSame",
                "\(platform)/RootDirectoryTests.swift: hugeSparseFilesAreRefusedUnread"),
            FaultRow(
                99, "strange names of files",
                elsewhere: "\(platform)/RootDirectoryTests.swift: strangeNamesAreListedOrCounted",
                "DaemonTests/Files/FileURITemplateTests.swift: goesThereAndBack"),
            FaultRow(
                100, "binary files", elsewhere: "\(files).swift: readsTextAndBytes",
                "\(files).swift: refusesWhatIsTooLarge"),
        ] + secrets

    /// Secrets, and what a server may do to the person at the client.
    private static let secrets: [FaultRow] = [
        FaultRow(
            101, "bearer tokens", elsewhere: "\(auth)/StaticTokensTests.swift: verification",
            "\(auth)/StaticTokensTests.swift: revokedOverHTTP"),
        FaultRow(
            102, "times of refusals",
            elsewhere: "MCPCoreTests/Crypto/HMACSHA256Tests.swift: constantTimeComparisonIsRight",
            except: "that no byte ends the comparison; times are not measured"),
        FaultRow(
            103, "tokens that are forged", elsewhere: "\(auth)/JWTRefusalTests.swift: isRefused",
            "\(auth)/JWTRefusalTests.swift: noByteMayDiffer",
            "\(auth)/JWTMutationTests.swift: changedTokens"),
        FaultRow(
            104, "a token in the query",
            elsewhere: "MCPCoreTests/HTTPServer/AccessPolicyTests.swift: tokensInTheQuery"),
        FaultRow(
            105, "secrets in what is shown or kept",
            elsewhere: "\(client)/DefectTests.swift: secretsAreNotShown",
            "\(client)/FaultProcessTests.swift: aRecordingHasNoSecrets",
            "\(client)/HostileServerTests.swift: whatIsNoAnswerEndsWithALine",
            "\(auth)/JWTRefusalTests.swift: aRefusalSaysNothingAboutTheToken"),
        FaultRow(
            106, "hostile addresses of login pages",
            elsewhere: "\(client)/FaultProcessTests.swift: aHostileLoginPageIsNotOpened"),
        FaultRow(
            107, "discovery that leads to private addresses",
            elsewhere: "MCPCoreTests/OAuth/HTTPFetcherTests.swift: forbidden",
            "MCPCoreTests/OAuth/HTTPFetcherTests.swift: rule",
            "MCPCoreTests/OAuth/HTTPFetcherTests.swift: redirects"),
        FaultRow(
            108, "a server's text at a terminal",
            elsewhere: "\(client)/HostileServerTests.swift: textsOfAServerAreHarmlessAtATerminal",
            "\(client)/FaultProcessTests.swift: aLineOfTenMegabytes"),
        FaultRow(
            109, "a description that changes",
            elsewhere: "\(client)/HostileServerTests.swift: aChangedDescriptionIsRefused"),
        FaultRow(
            110, "line ends in names",
            elsewhere: "\(client)/HostileServerTests.swift: textsOfAServerAreHarmlessAtATerminal",
            "\(platform)/LogTests.swift: peerTextCannotEndOrDisguiseALine"),
    ]
}
