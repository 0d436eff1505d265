/// Rules files with exactly 100 rules, of the kinds that apps write.
enum BenchRules {
  /// The number of rules.
  static let count = 100

  /// Counters and a chat, and the rest for a form; for those who are signed in.
  static var app: String { text(chat, fields: count - 13) }

  /// All for a form: a write of one meets every rule.
  static var form: String { text("", fields: count - 2) }

  private static let chat = #"""
    "members": {"$room": {"$uid": {".read": "auth != null", ".write": "auth.uid === $uid"}}},
    "counters": {
      "$counter": {
        ".write": "auth != null",
        ".validate": "newData.isNumber() && newData.val() === data.val() + 1"
      }
    },
    "rooms": {
      "$room": {
        ".read": "root.child('members/' + $room + '/' + auth.uid).exists()",
        "messages": {
          "$message": {
            ".write": "auth != null && !data.exists() && root.child('members/' + $room + '/' + auth.uid).exists()",
            ".validate": "newData.hasChildren(['text', 'by', 'at'])",
            "text": {".validate": "newData.isString() && newData.val().length > 0 && newData.val().length <= 500"},
            "by": {".validate": "newData.val() === auth.uid"},
            "at": {".validate": "newData.val() <= now"},
            "$other": {".validate": false}
          }
        }
      }
    },
    """#

  private static func text(_ others: String, fields: Int) -> String {
    let fields = (0..<fields).map { "\"f\($0)\": {\".validate\": \"\(kinds[$0 % kinds.count])\"}" }
    return """
      {"rules": {\(others)
        "forms": {
          "$form": {
            ".write": "auth != null && (!data.exists() || root.child('owners/' + $form).val() === auth.uid)",
            ".validate": "newData.hasChildren(['f0', 'f1', 'f2'])", \(fields.joined(separator: ", "))
          }
        }
      }}
      """
  }

  private static let kinds = [
    "newData.isString() && newData.val().length > 0 && newData.val().length <= 40",
    "newData.isNumber() && newData.val() >= 0 && newData.val() <= 1000",
    "newData.isBoolean()",
    "newData.isNumber() && newData.val() <= now",
    "newData.isString() && newData.val().matches(/^[a-z0-9.-]+@[a-z0-9.-]+$/)",
    "newData.val() === 'red' || newData.val() === 'green' || newData.val() === 'blue'",
    "newData.val() === auth.uid || auth.token.role === 'editor'",
    "newData.isString() && newData.val().beginsWith('id-')",
  ]

  /// A form with 98 fields that are all as the rules want them.
  static func form(_ number: Int, by user: String) -> String {
    let values = [
      "\"text number \(number)\"", "\(number % 1_000)", "true", "1000",
      "\"quay.\(number)@example.org\"",
      "\"blue\"", "\"\(user)\"", "\"id-\(number)\"",
    ]
    let members = (0..<count - 2).map { "\"f\($0)\": \(values[$0 % values.count])" }
    return "{" + members.joined(separator: ", ") + "}"
  }

  static func message(_ number: Int, by user: String) -> String {
    #"{"text": "message \#(number)", "by": "\#(user)", "at": 1000}"#
  }
}
