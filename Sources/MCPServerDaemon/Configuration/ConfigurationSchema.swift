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
            "auth": {
              "description": "The access tokens that callers over HTTP need. Without it, all are accepted.",
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
                }
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
