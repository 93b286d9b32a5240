package import MCPCore

/// The messages of the tasks extension (2026-07-28), which has no schema of its own in the core's file:
/// written from its text (TASK-06, TASK-09, TASK-16, TASK-19).
package enum TaskSchema {
    private static let fields: JSONObject = [
        "taskId": ["type": "string", "minLength": 1],
        "status": ["enum": ["working", "input_required", "completed", "failed", "cancelled"]],
        "statusMessage": ["type": "string"],
        "createdAt": ["type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT.*Z$"],
        "lastUpdatedAt": ["type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT.*Z$"],
        "ttlMs": ["type": ["number", "null"], "minimum": 0],
        "pollIntervalMs": ["type": "number", "minimum": 0],
    ]

    private static let required: JSONValue = ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs"]

    /// What a task has beside its fields, by its state.
    private static let outcome: JSONValue = [
        "properties": [
            "inputRequests": ["$ref": "#/$defs/InputRequests"], "result": ["type": "object"],
            "error": ["$ref": "#/$defs/Error"],
        ],
        "allOf": [
            [
                "if": ["properties": ["status": ["const": "input_required"]]],
                "then": ["required": ["inputRequests"]],
            ],
            [
                "if": ["properties": ["status": ["const": "completed"]]], "then": ["required": ["result"]],
                "else": ["properties": ["result": false]],
            ],
            [
                "if": ["properties": ["status": ["const": "failed"]]], "then": ["required": ["error"]],
                "else": ["properties": ["error": false]],
            ],
        ],
    ]

    private static func request(_ method: String, _ more: JSONObject = [:]) -> JSONValue {
        var members: JSONObject = ["taskId": ["type": "string"]]
        var names: [JSONValue] = ["taskId"]
        for name in more.keys {
            members[name] = more[name]
            names.append(.string(name))
        }
        return [
            "type": "object", "required": ["jsonrpc", "id", "method", "params"],
            "properties": [
                "method": ["const": .string(method)],
                "params": [
                    "allOf": [["$ref": "#/$defs/RequestParams"]], "required": .array(names),
                    "properties": .object(members),
                ],
            ],
        ]
    }

    private static let empty: JSONValue = [
        "allOf": [["$ref": "#/$defs/Result"]], "properties": ["resultType": ["const": "complete"]],
    ]

    package static let definitions: [String: JSONValue] = [
        "TaskFields": ["type": "object", "required": required, "properties": .object(fields)],
        "TaskOutcome": outcome,
        "CreateTaskResult": [
            "allOf": [["$ref": "#/$defs/Result"], ["$ref": "#/$defs/TaskFields"]],
            "properties": ["resultType": ["const": "task"], "task": false],
        ],
        "GetTaskRequest": request("tasks/get"),
        "GetTaskResult": [
            "allOf": [
                ["$ref": "#/$defs/Result"], ["$ref": "#/$defs/TaskFields"], ["$ref": "#/$defs/TaskOutcome"],
            ],
            "properties": ["resultType": ["const": "complete"]],
        ],
        "UpdateTaskRequest": request("tasks/update", ["inputResponses": ["$ref": "#/$defs/InputResponses"]]),
        "UpdateTaskResult": empty,
        "CancelTaskRequest": request("tasks/cancel"),
        "CancelTaskResult": empty,
        "TasksNotification": [
            "type": "object", "required": ["jsonrpc", "method", "params"],
            "properties": [
                "method": ["const": "notifications/tasks"],
                "params": [
                    "allOf": [["$ref": "#/$defs/TaskFields"], ["$ref": "#/$defs/TaskOutcome"]],
                    "required": ["_meta"],
                    "properties": [
                        "_meta": [
                            "allOf": [["$ref": "#/$defs/NotificationMetaObject"]],
                            "required": ["io.modelcontextprotocol/subscriptionId"],
                        ]
                    ],
                ],
            ],
        ],
        "TaskExtensionClient": [
            "anyOf": [
                ["$ref": "#/$defs/GetTaskRequest"], ["$ref": "#/$defs/UpdateTaskRequest"],
                ["$ref": "#/$defs/CancelTaskRequest"],
            ]
        ],
        "TaskExtensionServer": ["anyOf": [["$ref": "#/$defs/TasksNotification"]]],
    ]
}
