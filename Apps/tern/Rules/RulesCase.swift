import TernCore
import TernQuery
import TernSecurity

/// One question to a set of rules, and the answer it should give.
///
/// As JSON: `{"name": …, "read": PATH}` with a `query` if wanted, or `{"write": PATH, "value": …}`
/// or `{"update": PATH, "values": {PATH: …}}`, with `auth`, `data` and `now` as wanted, and
/// `"allow": true` or `false`.
struct RulesCase {
  enum Request {
    case read(TreePath, RulesQuery)
    case write(TreeWrite)
  }

  let name: String
  let request: Request
  let caller: RulesCaller
  let data: TreeNode
  let isAllowed: Bool?

  private static let members = [
    "name", "read", "query", "write", "value", "update", "values", "auth", "data", "now", "allow",
  ]

  init(_ json: JSONValue, number: Int) throws(Failure) {
    guard case .object(let members) = json else {
      throw Failure(.usage, "case \(number) is no object")
    }
    if let unknown = members.first(where: { !Self.members.contains($0.name) }) {
      throw Failure(
        .usage,
        "case \(number) has \"\(unknown.name)\"; known are \(Self.members.joined(separator: ", "))"
      )
    }
    name = json["name"]?.text ?? "case \(number)"
    caller = RulesCaller(auth: json["auth"] ?? .null, now: json["now"]?.integer ?? 0)
    isAllowed =
      switch json["allow"] {
      case .bool(let flag): flag
      default: nil
      }
    let name = name
    data = try Self.checked(name, "data") { () throws(TreeError) in
      try json["data"].map { value throws(TreeError) in try TreeNode(json: value.bytes) } ?? .empty
    }
    request = try Self.request(json, name)
  }

  /// Returns the decision of the rules with its reasons. Server values are resolved first, as a
  /// server does.
  func explanation(by rules: TreeRules) throws(RulesDataError) -> RulesExplanation {
    let before = TreeNodeSnapshot(data)
    switch request {
    case .read(let path, let query):
      return try rules.explainRead(path, query: query, by: caller, in: before)
    case .write(let write):
      let entries = write.resolvingServerValues(now: caller.now) { data.node(at: $0) }.assignments
      return try rules.explainWrite(
        entries.map(\.path), by: caller, from: before,
        to: ProposedSnapshot(entries, over: before))
    }
  }

  private static func request(_ json: JSONValue, _ name: String) throws(Failure) -> Request {
    if let path = json["read"]?.text {
      let place = try checked(name, "read") { () throws(TreeError) in try TreePath(path) }
      return .read(place, RulesQuery(try query(json["query"] ?? .null, name)))
    }
    if let path = json["write"]?.text {
      return .write(
        try checked(name, "write") { () throws(TreeError) in
          .set(try TreePath(writable: path), try TreeNode(json: (json["value"] ?? .null).bytes))
        })
    }
    if let path = json["update"]?.text, case .object(let values)? = json["values"] {
      return .write(
        try checked(name, "update") { () throws(TreeError) in
          let entries = try values.map { member throws(TreeError) in
            TreeMerge.Entry(
              path: try TreePath(writable: member.name),
              node: try TreeNode(json: member.value.bytes))
          }
          return .merge(try TreePath(path), try TreeMerge(entries))
        })
    }
    throw Failure(.usage, "\(name): \"read\", \"write\" or \"update\" with \"values\" is missing")
  }

  /// A query with the parameters of REST: `{"orderBy": "score", "limitToLast": 5}`.
  private static func query(_ json: JSONValue, _ name: String) throws(Failure) -> TreeQuery {
    if json == .null { return .all }
    guard case .object(let members) = json else {
      throw Failure(.usage, "\(name): \"query\" is no object")
    }
    var query = TreeQuery.all
    // The order comes first, whatever comes first in the text.
    let sorted = members.filter { $0.name == "orderBy" } + members.filter { $0.name != "orderBy" }
    for member in sorted {
      let next: TreeQuery?
      do throws(TreeQueryError) { next = try refined(query, member) } catch {
        // Not in the words of the flags: here are none.
        throw Failure(.usage, "\(name): \(member.name): \(error)")
      }
      guard let next else {
        throw Failure(
          .usage,
          "\(name): \"query\" has \"\(member.name)\" of \(member.value.json); known are orderBy, "
            + "startAt, endAt, equalTo, limitToFirst, limitToLast")
      }
      query = next
    }
    return query
  }

  private static func refined(
    _ query: TreeQuery, _ member: JSONValue.Member
  ) throws(TreeQueryError) -> TreeQuery? {
    let bound = (try? TreeNode(json: member.value.bytes)).flatMap {
      $0.hasChildren ? nil : $0.scalar
    }
    switch (member.name, member.value) {
    case ("orderBy", .string("$key")): return try query.ordered(by: .key)
    case ("orderBy", .string("$value")): return try query.ordered(by: .value)
    case ("orderBy", .string("$priority")): return try query.ordered(by: .priority)
    case ("orderBy", .string(let path)): return try query.ordered(byChild: path)
    case ("startAt", _): return try query.starting(at: bound, key: nil)
    case ("endAt", _): return try query.ending(at: bound, key: nil)
    case ("equalTo", _): return try query.equal(to: bound, key: nil)
    case ("limitToFirst", .integer(let count)): return try query.first(Int(clamping: count))
    case ("limitToLast", .integer(let count)): return try query.last(Int(clamping: count))
    default: return nil
    }
  }

  /// Tells which case, and which member of it, breaks a rule of the tree.
  private static func checked<R>(
    _ name: String, _ member: String, _ body: () throws(TreeError) -> R
  ) throws(Failure) -> R {
    do throws(TreeError) { return try body() } catch {
      throw Failure(.usage, "\(name): \(member): \(error.rule)")
    }
  }
}
