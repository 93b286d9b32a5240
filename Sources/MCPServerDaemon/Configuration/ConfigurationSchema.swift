/// The JSON Schema of the configuration, for editors and for `mcp-server schema`.
enum ConfigurationSchema {
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "Configuration of mcp-server",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "$schema": { "type": "string" },
            "include": {
              "description": "Further files that add keys and entries, such as conf.d/*.jsonc.",
              "$ref": "#/$defs/strings"
            },
            "server": {
              "description": "The server's description of itself.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": { "type": "string", "minLength": 1, "default": "mcp-server" },
                "title": { "type": "string" },
                "version": { "type": "string" },
                "instructions": { "$ref": "#/$defs/text", "description": "Usage instructions for models." }
              }
            },
            "listen": {
              "description": "Addresses: HOST:PORT, [IPV6]:PORT or unix:///PATH?mode=0660&group=NAME.",
              "type": "array",
              "minItems": 1,
              "items": { "type": "string" }
            },
            "hosts": {
              "description": "Names that requests may have in Host, beside those of this machine.",
              "$ref": "#/$defs/strings"
            },
            "origins": {
              "description": "Web pages that may call the server: https://HOST.", "$ref": "#/$defs/strings"
            },
            "trustedProxies": {
              "description": "Proxies that name their client: addresses, networks (10.0.0.0/8) or unix.",
              "$ref": "#/$defs/strings"
            },
            "auth": {
              "description": "What callers over HTTP need. Without it, those of the own user are served.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "resource": {
                  "description": "The address of the endpoint as clients know it: https://HOST/mcp.",
                  "type": "string"
                },
                "authorizationServers": {
                  "description": "The issuers of access tokens (OAuth).", "$ref": "#/$defs/strings"
                },
                "tokens": {
                  "description": "The file for tokens that mcp-server token new makes, mode 0600.",
                  "type": "string"
                },
                "required": {
                  "description": "The scopes that every request needs.", "$ref": "#/$defs/strings"
                },
                "scopes": {
                  "description": "By scope: the tools, prompts and URIs that it allows.",
                  "type": "object",
                  "additionalProperties": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                      "allow": { "description": "Patterns such as \"git_*\".", "$ref": "#/$defs/strings" },
                      "implies": {
                        "description": "Scopes that this one includes.", "$ref": "#/$defs/strings"
                      }
                    }
                  }
                },
                "anonymous": {
                  "description": "Patterns for what callers without a token may use.",
                  "$ref": "#/$defs/strings"
                },
                "jwt": {
                  "description": "By issuer: how its tokens are verified.",
                  "type": "object",
                  "additionalProperties": { "$ref": "#/$defs/issuer" }
                },
                "peers": {
                  "description": "Users of this machine that need no token; the first that fits counts.",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                      "user": { "description": "A name, or * for every user.", "type": "string" },
                      "group": { "type": "string" },
                      "uid": { "type": "integer", "minimum": 0, "maximum": 4294967294 },
                      "allow": { "description": "Patterns; default: everything.", "$ref": "#/$defs/strings" },
                      "scopes": { "$ref": "#/$defs/strings" },
                      "rate": { "$ref": "#/$defs/rate" }
                    },
                    "oneOf": [{ "required": ["user"] }, { "required": ["group"] }, { "required": ["uid"] }]
                  }
                },
                "rate": {
                  "description": "Requests of each caller without a rate of its own.",
                  "$ref": "#/$defs/rate"
                },
                "introspection": {
                  "description": "Asks the issuer about tokens that are not JWTs.",
                  "type": "object",
                  "additionalProperties": false,
                  "required": ["clientId", "clientSecret"],
                  "properties": {
                    "issuer": { "type": "string" },
                    "endpoint": { "description": "Default: from its metadata.", "type": "string" },
                    "clientId": { "type": "string" },
                    "clientSecret": { "type": "string" },
                    "audience": { "enum": ["server-scoped"] }
                  }
                }
              }
            },
            "coerce": {
              "description": "Arguments of other types: lenient converts \"20\" where a tool wants a number.",
              "enum": ["strict", "lenient"], "default": "strict"
            },
            "state": {
              "description": "What several instances of this server have in common.",
              "type": "object",
              "additionalProperties": false,
              "required": ["key"],
              "properties": {
                "key": {
                  "description": "Signs what clients carry: ${file:PATH}, 32 bytes or more; the first signs.",
                  "oneOf": [
                    { "type": "string" },
                    { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 4 }
                  ]
                },
                "store": {
                  "description": "Redis or Valkey: redis://[USER@]HOST:PORT/DATABASE or unix:///PATH?db=N.",
                  "type": "string"
                },
                "password": { "description": "Of the store: ${file:PATH}.", "type": "string" }
              }
            },
            "admin": {
              "description": "The address for operators: health, metrics, status, reload, drain.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "listen": {
                  "description": "unix:///PATH or 127.0.0.1:PORT; default: mcp-admin.sock at run time.",
                  "type": "string"
                }
              }
            },
            "observe": {
              "description": "What the server writes down about its work.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "log": {
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "level": { "enum": ["error", "warning", "info", "debug"], "default": "info" },
                    "format": { "enum": ["auto", "text", "json", "journal"], "default": "auto" },
                    "file": { "description": "In place of standard error.", "type": "string" },
                    "calls": {
                      "description": "The calls that are logged.",
                      "enum": ["none", "failed", "all"], "default": "none"
                    }
                  }
                },
                "audit": {
                  "description": "One line of JSON for each use of the server, and each refusal.",
                  "type": "object",
                  "additionalProperties": false,
                  "required": ["file"],
                  "properties": {
                    "file": { "type": "string" },
                    "arguments": { "enum": ["none", "redacted"], "default": "redacted" },
                    "redact": {
                      "description": "Keys that are left out, such as \"*pin*\", beside the usual ones.",
                      "$ref": "#/$defs/strings"
                    },
                    "chain": {
                      "description": "Whether each line carries the SHA-256 digest of the one before.",
                      "type": "boolean", "default": false
                    }
                  }
                },
                "recorder": {
                  "description": "Keeps the last exchanges, and writes them to a file when needed.",
                  "type": "object",
                  "additionalProperties": false,
                  "required": ["dir"],
                  "properties": {
                    "dir": { "type": "string" },
                    "keep": { "type": "integer", "minimum": 1, "maximum": 10000, "default": 256 },
                    "dumpOn": { "type": "array", "items": { "enum": ["error", "SIGUSR1"] } }
                  }
                }
              }
            },
            "limits": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "connections": {
                  "description": "The number of simultaneous connections.",
                  "type": "integer", "minimum": 1, "maximum": 1000000
                },
                "perConnection": {
                  "description": "Requests in flight on one connection.",
                  "type": "integer", "minimum": 1, "maximum": 10000
                },
                "body": { "$ref": "#/$defs/size", "description": "The largest message." },
                "memory": {
                  "$ref": "#/$defs/size", "description": "Memory for messages of all HTTP connections."
                },
                "drain": { "$ref": "#/$defs/duration", "description": "How long a stop waits for calls." }
              }
            },
            "sandboxes": {
              "description": "What programs may do, by the name that \"sandbox\" uses.",
              "type": "object",
              "propertyNames": { "pattern": "^[A-Za-z0-9_.-]{1,64}$" },
              "additionalProperties": { "$ref": "#/$defs/sandbox" }
            },
            "sandbox": {
              "description": "The sandbox of all programs without one of their own.",
              "$ref": "#/$defs/sandboxChoice"
            },
            "tools": {
              "description": "Commands as tools, by name.",
              "type": "object",
              "propertyNames": { "pattern": "^[A-Za-z0-9_.-]{1,64}$" },
              "additionalProperties": { "$ref": "#/$defs/tool" }
            },
            "files": {
              "description": "Directories whose files are resources, by name.",
              "type": "object",
              "additionalProperties": { "$ref": "#/$defs/files" }
            },
            "mcpServers": {
              "description": "Other MCP servers, as in the files of hosts. What they offer is offered here.",
              "type": "object",
              "additionalProperties": { "$ref": "#/$defs/mcpServer" }
            },
            "clientTools": {
              "description": "Lets other programs provide tools. An empty object enables this.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "auth": {
                  "description": "What registering over TCP requires.",
                  "enum": ["token", "none"], "default": "token"
                },
                "channel": { "type": "string", "description": "The channel that standard I/O serves." },
                "providersSocket": { "type": "string", "description": "The socket for the user's programs." },
                "tokenFile": { "type": "string", "description": "The file with the token, mode 0600." },
                "origins": {
                  "description": "The origins of web pages that may provide tools.",
                  "type": "array", "items": { "type": "string", "pattern": "^[A-Za-z0-9-]+://[^/]+$" }
                },
                "backend": {
                  "description": "The server that passes calls on to Stream Chat clients that do not listen.",
                  "type": "object", "additionalProperties": false, "required": ["url"],
                  "properties": {
                    "url": { "type": "string", "description": "https, or http on this machine." },
                    "token": { "type": "string", "description": "Sent as Authorization: Bearer." },
                    "timeout": { "$ref": "#/$defs/duration", "description": "At most 30s.", "default": "10s" }
                  }
                },
                "channelTokenFiles": {
                  "description": "By channel: the file with the token that its agents and programs need.",
                  "type": "object",
                  "propertyNames": { "pattern": "^[^:/ ]([^:/]*[^:/ ])?$" },
                  "additionalProperties": { "type": "string" }
                }
              }
            },
            "prompts": {
              "type": "object",
              "additionalProperties": false,
              "required": ["dir"],
              "properties": {
                "dir": { "type": "string", "description": "A directory of Markdown files." },
                "watch": {
                  "description": "Reloads them when they change.", "type": "boolean", "default": false
                }
              }
            }
          },
          "$defs": {
            "text": {
              "description": "A string, an array of lines, or the name of a file.",
              "oneOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
                {
                  "type": "object", "additionalProperties": false, "required": ["file"],
                  "properties": { "file": { "type": "string" } }
                }
              ]
            },
            "strings": { "type": "array", "items": { "type": "string" } },
            "issuer": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "audiences": {
                  "description": "Audiences that are accepted beside the resource.",
                  "$ref": "#/$defs/strings"
                },
                "algorithms": {
                  "type": "array", "minItems": 1,
                  "items": { "enum": ["RS256", "PS256", "ES256", "EdDSA"] }
                },
                "skew": { "$ref": "#/$defs/duration", "default": "30s" },
                "strictType": {
                  "description": "Accepts only tokens of the type at+jwt.",
                  "type": "boolean", "default": false
                },
                "jwks": {
                  "description": "A file or an https URL; default: from the issuer's metadata.",
                  "type": "string"
                }
              }
            },
            "rate": { "type": "string", "pattern": "^[0-9]{1,7}/(s|min|h)$" },
            "progressFormat": { "enum": ["lines", "jsonlines"] },
            "duration": { "type": "string", "pattern": "^[0-9]+ *(ms|s|m|min|h|d)$" },
            "size": { "type": "string", "pattern": "^[0-9]+ *(B|[kK]B|K|KiB|MB|M|MiB|GB|G|GiB)?$" },
            "tool": {
              "type": "object",
              "additionalProperties": false,
              "required": ["exec"],
              "properties": {
                "title": { "type": "string" },
                "description": { "$ref": "#/$defs/text" },
                "input": {
                  "description": "Parameters by name (\"?\": optional), or a JSON Schema of type object.",
                  "type": "object"
                },
                "exec": {
                  "description": "The program and its arguments; {name} inserts an argument of the call.",
                  "type": "array",
                  "minItems": 1,
                  "prefixItems": [{ "type": "string", "minLength": 1 }],
                  "items": {
                    "oneOf": [
                      { "type": "string" },
                      {
                        "description": "Omitted as a whole if one of its arguments is absent.",
                        "type": "array", "items": { "type": "string" }
                      },
                      {
                        "description": "Kept when the boolean parameter is true.",
                        "type": "object", "additionalProperties": false, "required": ["when", "args"],
                        "properties": {
                          "when": { "type": "string" },
                          "args": { "type": "array", "items": { "type": "string" } }
                        }
                      }
                    ]
                  }
                },
                "stdin": { "description": "Standard input, with {name} placeholders.", "type": "string" },
                "cwd": { "description": "A directory, or {name} of a path parameter.", "type": "string" },
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
                "timeout": { "$ref": "#/$defs/duration", "default": "30s" },
                "maxOutput": { "$ref": "#/$defs/size", "default": "256KiB" },
                "result": { "enum": ["text", "json", "jsonlines"], "default": "text" },
                "output": {
                  "description": "The JSON Schema of the structured result.",
                  "type": "object",
                  "required": ["type"],
                  "properties": { "type": { "const": "object" } }
                },
                "annotations": {
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "title": { "type": "string" },
                    "readOnlyHint": { "type": "boolean" },
                    "destructiveHint": { "type": "boolean" },
                    "idempotentHint": { "type": "boolean" },
                    "openWorldHint": { "type": "boolean" }
                  }
                },
                "concurrency": {
                  "description": "The number of calls that may run at the same time.",
                  "type": "integer", "minimum": 1, "maximum": 10000
                },
                "progress": {
                  "description": "Lines of output that become progress.",
                  "oneOf": [
                    { "$ref": "#/$defs/progressFormat" },
                    {
                      "type": "object", "additionalProperties": false, "required": ["format"],
                      "properties": {
                        "format": { "$ref": "#/$defs/progressFormat" },
                        "from": { "enum": ["stdout", "stderr"], "default": "stdout" }
                      }
                    }
                  ]
                },
                "successExitStatus": {
                  "description": "Exit statuses that mean success, besides 0.",
                  "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 255 }
                },
                "confirm": {
                  "description": "A question that the user must accept first, with {name} placeholders.",
                  "type": "string"
                },
                "overflow": {
                  "description": "What happens to output beyond maxOutput.",
                  "enum": ["error", "truncate", "resource"], "default": "error"
                },
                "cacheTtl": {
                  "description": "How long identical calls receive the same result; needs readOnlyHint.",
                  "$ref": "#/$defs/duration"
                },
                "task": {
                  "description": "Whether calls become tasks.",
                  "enum": ["never", "optional", "required"], "default": "never"
                },
                "limits": {
                  "description": "Limits that the system enforces on each process of the command.",
                  "$ref": "#/$defs/processLimits"
                },
                "sandbox": { "$ref": "#/$defs/sandboxChoice" }
              }
            },
            "processLimits": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "cpu": { "description": "Processor time.", "$ref": "#/$defs/duration" },
                "memory": { "description": "Address space.", "$ref": "#/$defs/size" },
                "fileSize": { "description": "The largest file written.", "$ref": "#/$defs/size" },
                "processes": {
                  "description": "Processes and threads of the user.",
                  "type": "integer", "minimum": 1, "maximum": 1000000
                },
                "openFiles": { "type": "integer", "minimum": 3, "maximum": 1000000 }
              }
            },
            "sandboxChoice": {
              "description": "The name of a sandbox, \"none\", or a sandbox of its own.",
              "oneOf": [{ "type": "string" }, { "$ref": "#/$defs/sandbox" }]
            },
            "paths": { "type": "array", "items": { "type": "string", "pattern": "^[/$]" } },
            "ports": {
              "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 65535 }
            },
            "sandbox": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "fs": {
                  "description": "The files that may be used, besides those of the system. Default: all.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "read": { "description": "Paths that may be read.", "$ref": "#/$defs/paths" },
                    "write": {
                      "description": "Paths that may be read and changed.", "$ref": "#/$defs/paths"
                    },
                    "exec": {
                      "description": "Programs that may be started.", "$ref": "#/$defs/paths"
                    }
                  }
                },
                "net": {
                  "description": "The sockets that may be used. Default: all.",
                  "oneOf": [
                    { "enum": ["none", "unix", "any"] },
                    {
                      "type": "object",
                      "additionalProperties": false,
                      "properties": {
                        "connect": { "description": "TCP ports.", "$ref": "#/$defs/ports" },
                        "bind": { "description": "TCP ports; 0: a free one.", "$ref": "#/$defs/ports" },
                        "udp": { "type": "boolean", "default": false },
                        "unix": { "type": "boolean", "default": false }
                      }
                    }
                  ]
                },
                "limits": { "$ref": "#/$defs/processLimits" },
                "env": {
                  "description": "Variables of its programs.",
                  "type": "object", "additionalProperties": { "type": "string" }
                },
                "user": {
                  "description": "The user that its programs run as, if the server is root's.",
                  "type": "string"
                },
                "onUnsupported": {
                  "description": "What happens if the system cannot enforce it.",
                  "enum": ["refuse", "warn"], "default": "refuse"
                }
              }
            },
            "mcpServer": {
              "type": "object",
              "additionalProperties": false,
              "oneOf": [{ "required": ["command"] }, { "required": ["url"] }],
              "properties": {
                "type": { "enum": ["stdio", "http", "sse", "streamable-http", "streamableHttp", "local"] },
                "command": { "description": "A program; no shell is involved.", "type": "string" },
                "args": { "type": "array", "items": { "type": "string" } },
                "env": {
                  "description": "Variables besides PATH, LANG and HOME.",
                  "type": "object", "additionalProperties": { "type": "string" }
                },
                "cwd": { "type": "string" },
                "url": { "description": "https://…, http://… or unix:///PATH#/mcp.", "type": "string" },
                "headers": { "type": "object", "additionalProperties": { "type": "string" } },
                "prefix": {
                  "description": "In front of all names. Without it, names that are not unique get NAME_.",
                  "type": "string", "maxLength": 32, "pattern": "^[A-Za-z0-9_.-]*$"
                },
                "tools": {
                  "description": "Patterns; with ! in front, what is left out.", "$ref": "#/$defs/strings"
                },
                "resources": { "description": "Patterns of URIs.", "$ref": "#/$defs/strings" },
                "prompts": { "description": "Patterns.", "$ref": "#/$defs/strings" },
                "rename": {
                  "description": "Other names for tools and prompts.",
                  "type": "object",
                  "additionalProperties": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$" }
                },
                "annotations": {
                  "description": "Hints in place of the server's own, by tool.",
                  "type": "object", "additionalProperties": { "type": "object" }
                },
                "required": {
                  "description": "Whether the server does not start without it.",
                  "type": "boolean", "default": false
                },
                "idle": {
                  "description": "Ends the connection after this time without calls.",
                  "$ref": "#/$defs/duration"
                },
                "restart": { "enum": ["backoff", "never"], "default": "backoff" },
                "sandbox": { "$ref": "#/$defs/sandboxChoice" },
                "timeout": { "$ref": "#/$defs/duration", "default": "60s" },
                "connectTimeout": { "$ref": "#/$defs/duration", "default": "60s" },
                "concurrency": { "type": "integer", "minimum": 1, "maximum": 10000, "default": 64 },
                "perPrincipal": {
                  "description": "A connection for each principal; its server may ask its caller.",
                  "type": "boolean", "default": false
                },
                "protocol": {
                  "description": "The revision of the protocol; default is the newest one that it supports.",
                  "enum": [
                    "auto", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"
                  ],
                  "default": "auto"
                },
                "lock": {
                  "description": "A lock file of mcp-client: what differs from it is not offered.",
                  "type": "string"
                },
                "disabled": { "description": "Leaves the server out.", "type": "boolean" },
                "enabled": { "type": "boolean" }
              }
            },
            "files": {
              "type": "object",
              "additionalProperties": false,
              "required": ["root"],
              "properties": {
                "root": { "type": "string" },
                "uri": { "description": "The addresses; default NAME:///{+path}.", "type": "string" },
                "include": { "type": "array", "items": { "type": "string" } },
                "exclude": { "type": "array", "items": { "type": "string" } },
                "maxBytes": { "$ref": "#/$defs/size", "default": "1MiB" },
                "watch": {
                  "description": "Notifies subscribers about changes.", "type": "boolean", "default": false
                }
              }
            }
          }
        }
        """#
}
