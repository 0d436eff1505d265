import TernCore
import TernSecurity

/// One question to a set of rules, and the answer it should give.
///
/// As JSON: `{"name": …, "read": PATH}` or `{"write": PATH, "value": …}` or
/// `{"update": PATH, "values": {PATH: …}}`, with `auth`, `data` and `now` as wanted, and
/// `"allow": true` or `false`.
struct RulesCase {
  enum Request {
    case read(TreePath)
    case write([TreeMerge.Entry])
  }

  let name: String
  let request: Request
  let caller: RulesCaller
  let data: TreeNode
  let isAllowed: Bool?

  private static let members = [
    "name", "read", "write", "value", "update", "values", "auth", "data", "now", "allow",
  ]

  init(_ json: JSONValue, number: Int) throws {
    guard case .object(let members) = json else {
      throw Failure(.usage, "case \(number) is no object")
    }
    if let stranger = members.first(where: { !Self.members.contains($0.name) }) {
      throw Failure(
        .usage,
        "case \(number) has \"\(stranger.name)\"; known are \(Self.members.joined(separator: ", "))"
      )
    }
    name = json["name"]?.text ?? "case \(number)"
    caller = RulesCaller(auth: json["auth"] ?? .null, now: json["now"]?.integer ?? 0)
    data = try json["data"].map { try TreeNode(json: $0.bytes) } ?? .empty
    isAllowed =
      switch json["allow"] {
      case .bool(let flag): flag
      default: nil
      }
    request = try Self.request(json, name)
  }

  /// What the rules say, with their reasons.
  func explanation(by rules: TreeRules) throws -> RulesExplanation {
    let before = TreeNodeSnapshot(data)
    switch request {
    case .read(let path): return try rules.explainRead(path, by: caller, in: before)
    case .write(let entries):
      return try rules.explainWrite(
        entries.map(\.path), by: caller, from: before,
        to: ProposedSnapshot(entries, over: before))
    }
  }

  private static func request(_ json: JSONValue, _ name: String) throws -> Request {
    if let path = json["read"]?.text { return .read(try TreePath(path)) }
    if let path = json["write"]?.text {
      let node = try TreeNode(json: (json["value"] ?? .null).bytes)
      return .write([TreeMerge.Entry(path: try TreePath(writable: path), node: node)])
    }
    if let path = json["update"]?.text, case .object(let values)? = json["values"] {
      let base = try TreePath(path)
      let entries = try values.map { member in
        TreeMerge.Entry(
          path: try TreePath(writable: member.name), node: try TreeNode(json: member.value.bytes))
      }
      return .write(TreeWrite.merge(base, try TreeMerge(entries)).assignments)
    }
    throw Failure(.usage, "\(name): \"read\", \"write\" or \"update\" with \"values\" is missing")
  }
}
