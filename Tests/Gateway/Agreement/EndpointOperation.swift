import TernCore

/// One thing that can be asked of a tree over any caller.
enum EndpointOperation: Sendable {
  case read(String)
  /// A value as JSON text, good or bad.
  case set(String, String)
  case delete(String)
  case priority(String, String)
  case update(String, [(path: String, json: String)])

  /// The outcome at one endpoint.
  enum Verdict: Equatable, Sendable {
    /// Done; what was read, in export form.
    case done(String)
    case denied
    case invalid
    /// Something that no operation should come to.
    case other(String)
  }

  var path: String {
    switch self {
    case .read(let path), .set(let path, _), .delete(let path), .priority(let path, _),
      .update(let path, _):
      path
    }
  }
}

/// Draws operations from a seed: most of them sensible, some of them not, all over a small tree
/// with rules of many kinds.
struct OperationDice {
  static let rules = #"""
    {
      "rules": {
        "open": {".read": true, ".write": true},
        "readonly": {".read": true},
        "writeonly": {".write": true},
        "shut": {},
        "numbers": {
          ".read": true, ".write": true,
          "$k": {".validate": "newData.isNumber() && newData.val() < 100"}
        },
        "once": {
          ".read": true,
          "$id": {
            ".write": "!data.exists() || !newData.exists()",
            ".validate": "newData.hasChildren(['a']) || newData.isString()"
          }
        },
        "rising": {
          ".read": "data.exists()", ".write": "newData.val() > data.val() || !data.exists()"
        },
        "ranked": {".read": true, ".write": "newData.getPriority() === 1 || !newData.exists()"},
        "gate": {
          ".read": "root.child('open/a').exists()",
          ".write": "root.child('open/a').val() !== newData.val()"
        },
        "own": {"$uid": {".read": "auth.uid === $uid", ".write": "auth != null"}},
        "broken": {".read": "auth.uid.length > 1 / 0", ".write": "newData.val() + 1 > now"}
      }
    }
    """#

  private static let tops = [
    "open", "open", "open", "readonly", "writeonly", "shut", "numbers", "numbers", "once", "once",
    "rising", "ranked", "gate", "own", "broken",
  ]
  private static let names = ["a", "b", "c", "0", "1", "2", "10", "é", "x y", "a+b", "%41", "'"]
  private static let badNames = [
    ".", "a.b", "#", "$x", "[", "]", "\u{1}", "\u{7F}", ".info", "a\n",
  ]
  private static let badValues = [
    #"{"a.b":1}"#, #"{"":1}"#, #"{"$":1}"#, #"{".value":1,"x":2}"#, #"{".sv":"nope"}"#,
    #"{".value":{"x":1}}"#, #"{"a":{"b/c":1}}"#, #"{".priority":true,".value":1}"#,
    #"{".priority":{"x":1},"a":1}"#, #"{".sv":{"increment":"1"}}"#, #"{"a":{".x":1}}"#,
  ]
  private static let scalars = [
    "0", "1", "-1", "99", "100", "2.5", "1e20", "true", "false", "\"\"", "\"text\"", "\"é\\n😀\"",
    "null", "9007199254740993",
  ]

  private var state: UInt64

  init(seed: UInt64) { state = seed }

  private mutating func roll(_ count: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(count))
  }

  private mutating func one(of texts: [String]) -> String { texts[roll(texts.count)] }

  /// The next one.
  mutating func operation() -> EndpointOperation {
    switch roll(10) {
    case 0, 1: .read(path())
    case 2, 3, 4, 5: .set(path(), value())
    case 6: .delete(path())
    case 7: .priority(path(), one(of: ["1", "2", "\"p\"", "null", "true", #"{"a":1}"#]))
    default: .update(roll(3) == 0 ? "" : path(), entries())
    }
  }

  private mutating func path() -> String {
    if roll(40) == 0 { return "" }
    var segments = [one(of: Self.tops)]
    for _ in 0..<roll(4) {
      segments.append(roll(60) == 0 ? one(of: Self.badNames) : one(of: Self.names))
    }
    return segments.joined(separator: "/")
  }

  private mutating func value() -> String {
    if roll(15) == 0 { return one(of: Self.badValues) }
    return good(depth: 2)
  }

  private mutating func good(depth: Int) -> String {
    switch roll(depth == 0 ? 6 : 10) {
    case 0: return #"{".sv":{"increment":\#(one(of: ["1", "-2", "0.5"]))}}"#
    case 1:
      return #"{".value":\#(one(of: ["1", "\"x\""])),".priority":\#(one(of: ["1", "\"p\""]))}"#
    case 2...5: return one(of: Self.scalars)
    case 6:
      return "[" + (0...roll(3)).map { _ in good(depth: depth - 1) }.joined(separator: ",") + "]"
    default:
      var members: [String] = []
      for name in Self.names.prefix(6) where roll(3) == 0 {
        members.append("\"\(name)\":\(good(depth: depth - 1))")
      }
      if roll(5) == 0, !members.isEmpty { members.append(#"".priority":1"#) }
      return "{" + members.joined(separator: ",") + "}"
    }
  }

  private mutating func entries() -> [(path: String, json: String)] {
    var entries: [(path: String, json: String)] = []
    for _ in 0..<roll(4) {
      let isDeep = roll(3) == 0
      let name = roll(25) == 0 ? one(of: Self.badNames) : one(of: Self.names + Self.tops)
      let path = isDeep ? name + "/" + one(of: Self.names) : name
      if entries.contains(where: { $0.path == path }) { continue }
      entries.append((path, value()))
    }
    return entries
  }
}
