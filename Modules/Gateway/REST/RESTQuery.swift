import TernCore
import TernQuery

/// Reads a query from parameters: `orderBy`, `startAt` and the others, each a JSON literal.
///
/// Source: realtime reference, section 3.5.
enum RESTQuery {
  /// The parameters that bound the result by value, each a JSON literal, with a key behind a
  /// comma or without.
  static let bounds = ["startAt", "startAfter", "endAt", "endBefore", "equalTo"]
  /// The parameters that bound the number of results; one at most.
  static let limits = ["limitToFirst", "limitToLast"]

  /// The query that parameters describe; everything when they describe none.
  ///
  /// - Throws: 400 in the service's words for a parameter without `orderBy`, a literal that is
  ///   none, or bounds that exclude each other.
  static func query(_ target: RequestTarget) throws(RESTError) -> TreeQuery {
    guard let order = target["orderBy"] else {
      guard (bounds + limits).allSatisfy({ target[$0] == nil }) else {
        throw .invalid("orderBy must be defined when other query parameters are defined")
      }
      return .all
    }
    var query = try ordered(by: order)
    for name in bounds {
      if let text = target[name] { query = try bounded(query, name, text) }
    }
    return try limited(query, target)
  }

  /// Reads `orderBy`: a path of a child, or one of the words that begin with a dollar sign, in
  /// quotation marks.
  private static func ordered(by text: String) throws(RESTError) -> TreeQuery {
    guard let path = literal(text)?.text else {
      throw .invalid("orderBy must be a valid JSON encoded path")
    }
    do throws(TreeQueryError) {
      switch path {
      case "$key": return try TreeQuery.all.ordered(by: .key)
      case "$value": return try TreeQuery.all.ordered(by: .value)
      case "$priority": return try TreeQuery.all.ordered(by: .priority)
      default: return try TreeQuery.all.ordered(byChild: path)
      }
    } catch {
      throw .invalid("orderBy must be a valid JSON encoded path")
    }
  }

  private static func bounded(
    _ query: TreeQuery, _ name: String, _ text: String
  ) throws(RESTError) -> TreeQuery {
    let (value, key) = try bound(name, text)
    do throws(TreeQueryError) {
      switch name {
      case "startAt": return try query.starting(at: value, key: key)
      case "startAfter": return try query.starting(after: value, key: key)
      case "endAt": return try query.ending(at: value, key: key)
      case "endBefore": return try query.ending(before: value, key: key)
      default: return try query.equal(to: value, key: key)
      }
    } catch {
      throw .invalid(sentence(error, name))
    }
  }

  /// Reads a value, and the key behind its comma.
  private static func bound(
    _ name: String, _ text: String
  ) throws(RESTError) -> (TreeScalar?, TreeKey?) {
    // A value and a key are two JSON literals with a comma between them: the inside of an array.
    guard case .array(let parts) = literal("[" + text + "]"), (1...2).contains(parts.count),
      let value = scalar(parts[0])
    else { throw .invalid("Constraint index field must be a JSON primitive") }
    if parts.count == 1 { return (value.scalar, nil) }
    guard let text = parts[1].text, let key = try? TreeKey(text) else {
      throw .invalid("Constraint key field must be a valid key name")
    }
    return (value.scalar, key)
  }

  private static func limited(
    _ query: TreeQuery, _ target: RequestTarget
  ) throws(RESTError) -> TreeQuery {
    if target["limitToFirst"] != nil, target["limitToLast"] != nil {
      throw .invalid("Only one of limitToFirst and limitToLast can be defined")
    }
    for name in limits {
      guard let text = target[name] else { continue }
      let count = try limit(name, text)
      do throws(TreeQueryError) {
        return try name == "limitToFirst" ? query.first(count) : query.last(count)
      } catch {
        throw .invalid(sentence(error, name))
      }
    }
    return query
  }

  /// Reads a limit: digits, 1 and up.
  static func limit(_ name: String, _ text: String) throws(RESTError) -> Int {
    guard let count = Int(text), count > 0, count < 1 << 31 else {
      throw .invalid("\(name) must be a positive integer")
    }
    return count
  }

  /// A value of a bound; its scalar is `nil` for JSON's `null`, which is a value here.
  private struct Bound { let scalar: TreeScalar? }

  /// Returns the scalar of a literal; `nil` for arrays and objects, which bound nothing.
  private static func scalar(_ value: JSONValue) -> Bound? {
    switch value {
    case .null: Bound(scalar: nil)
    case .bool(let value): Bound(scalar: .bool(value))
    case .integer(let value): Bound(scalar: .integer(value))
    case .double(let value): Bound(scalar: .double(value))
    case .string(let text): Bound(scalar: .string(text))
    case .array, .object: nil
    }
  }

  private static func literal(_ text: String) -> JSONValue? { try? JSONValue(parsing: text) }

  /// Returns the sentence for an error of a query, in the service's words where they are known.
  private static func sentence(_ error: TreeQueryError, _ name: String) -> String {
    switch error {
    case .startAlreadySet: "Only one of startAt, startAfter and equalTo can be defined"
    case .endAlreadySet: "Only one of endAt, endBefore and equalTo can be defined"
    case .keyBoundNotString: "Provided key index type is invalid, must be string"
    case .keyBoundWithKey: "\(name) takes no key when orderBy is \"$key\""
    case .invalidPriorityBound: "\(name) must be a string, a number or null here"
    case .orderAlreadySet, .limitAlreadySet, .limitOutOfRange, .invalidBound,
      .reservedChildPath, .emptyChildPath, .tree:
      "\(name) is not valid here"
    }
  }
}
