import LimitPages
import Testing

@testable import MCPCore

extension LimitProofs {
    static let tasks: [LimitProof] = {
        let options = TaskOptions()
        let (least, most) = (TaskOptions.leastResultBytes, TaskOptions.mostResultBytes)
        return [
            LimitProof("tasks that are kept or worked on", LimitText.grouped(options.tasks)) {
                try TaskDeskTests().fullStore()
                try await TaskInteractionTests().fullStore(.inMemory())
            },
            LimitProof(
                "time a task is kept",
                "\(LimitText.seconds(options.ttl)) (\(LimitText.seconds(options.maxTTL)) at most)"
            ) {
                try TaskDeskTests().terms()
                try await TaskDeskTests().expiry()
            },
            LimitProof("work on a task", LimitText.seconds(options.deadline)) {
                try await TaskDeskTests().deadline()
            },
            LimitProof(
                "result of a task",
                "\(LimitText.bytes(options.resultBytes)) (\(LimitText.bytes(least)) to \(LimitText.bytes(most)))"
            ) {
                for (kilobytes, used) in [(0, 64), (100, 100), (1 << 20, 4096)] {
                    TaskDeskTests().rangeOfTheResultLimit(kilobytes, used)
                }
                try TaskDeskTests().resultsAreLimited()
            },
            LimitProof("results of all tasks", LimitText.bytes(options.totalBytes)) {
                try TaskDeskTests().resultsAreLimited()
            },
            LimitProof("questions of one task", LimitText.grouped(ServerTask.maximumQuestions)) {
                try await ServerTaskTests().questionsAreLimited()
            },
        ]
    }()
}
