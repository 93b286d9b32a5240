import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let tasks: [LimitProof] = {
        let options = TaskOptions()
        let (least, most) = (TaskOptions.leastResultBytes, TaskOptions.mostResultBytes)
        return [
            LimitProof("tasks that are kept or worked on", LimitText.grouped(options.maxTasks)) {
                try TaskManagerTests().fullStore()
                try await TaskInteractionTests().fullStore(.inMemory())
            },
            LimitProof(
                "those of one principal, and its part of the results",
                TaskOptions.share(of: 100, for: "p") == 50 ? "half" : ""
            ) {
                try TaskManagerTests().shares()
                try TaskManagerTests().resultsAreLimited()
            },
            LimitProof(
                "time a task is kept",
                "\(LimitText.seconds(options.ttl)) (\(LimitText.seconds(options.maxTTL)) at most)"
            ) {
                try TaskManagerTests().terms()
                try await TaskManagerTests().expiry()
            },
            LimitProof("work on a task", LimitText.seconds(options.deadline)) {
                try await TaskManagerTests().deadline()
            },
            LimitProof(
                "result of a task",
                "\(LimitText.bytes(options.maxResultBytes)) (\(LimitText.bytes(least)) to \(LimitText.bytes(most)))"
            ) {
                for (kilobytes, used) in [(0, 64), (100, 100), (1 << 20, 4096)] {
                    TaskManagerTests().rangeOfTheResultLimit(kilobytes, used)
                }
                try TaskManagerTests().resultsAreLimited()
            },
            LimitProof("results of all tasks", LimitText.bytes(options.maxTotalBytes)) {
                try TaskManagerTests().resultsAreLimited()
            },
            LimitProof("questions of one task", LimitText.grouped(ServerTask.maxQuestions)) {
                try await ServerTaskTests().questionsAreLimited()
            },
        ]
    }()
}
