import TernCore

/// Compares an answer with what was recorded.
struct RESTJudge {
  let expectation: RESTProgram.Expectation
  /// The name of the root, with a slash.
  let documents: String
  let expanded: (JSONValue) -> JSONValue

  /// Returns the first difference; `nil` when there is none.
  ///
  /// - Parameter json: The body; `nil` when it is no JSON.
  func failure(_ status: Int, _ json: JSONValue?) -> String? {
    if status != expectation.status { return "expected status \(expectation.status)" }
    if expectation.code == "not JSON" { return json == nil ? nil : "expected no JSON" }
    guard let json else { return "expected JSON" }
    let error = (elements(json).first ?? json)["error"] ?? json["error"]
    let code = error?["status"]?.text ?? "OK"
    if code != expectation.code { return "expected code \(expectation.code)" }
    if let message = expectation.message {
      guard case .string(let message) = expanded(.string(message)),
        error?["message"]?.text == message
      else { return "expected message \(message)" }
    }
    if let order = expectation.documents {
      let found = elements(json).compactMap { $0["document"]?["name"]?.text }.map(relative)
      if found != order { return "expected documents \(order), found \(found)" }
    }
    return expectation.members.lazy.compactMap { difference($0, json) }.first
  }

  private func difference(_ member: JSONValue.Member, _ json: JSONValue) -> String? {
    let wanted = expanded(member.value)
    let found: JSONValue?
    switch member.name {
    case "note": return nil
    case "skippedResults":
      found = elements(json).lazy.compactMap { $0["skippedResults"] }.first
    case "aggregateFields": found = elements(json).first?["result"]?["aggregateFields"]
    case "documentCount": found = .integer(Int64(elements(json["documents"]).count))
    case "collectionIds": found = json["collectionIds"]
    case "found", "missing":
      found = .integer(Int64(elements(json).count { $0[member.name] != nil }))
    case "fields":
      if case .array = wanted {
        found = .array(elements(json).compactMap { $0["document"]?["fields"] })
      } else {
        found = json["fields"]
      }
    case "fieldsInclude":
      guard case .object(let members) = wanted else { return "fieldsInclude is no object" }
      let missing = members.first { !isEqual(json["fields"]?[$0.name], $0.value) }
      return missing.map { "expected \($0.name) = \($0.value.json)" }
    case "updateTimeEquals": found = json["updateTime"]
    case "transformResults": found = elements(json["writeResults"]).first?["transformResults"]
    default: return "unknown expectation \(member.name)"
    }
    return isEqual(found, wanted) ? nil : "expected \(member.name) = \(wanted.json)"
  }

  private func elements(_ json: JSONValue?) -> [JSONValue] {
    if case .array(let elements)? = json { return elements }
    return []
  }

  private func relative(_ name: String) -> String {
    name.hasPrefix(documents) ? String(name.dropFirst(documents.count)) : name
  }

  /// Compares values; members in any order, numbers by value.
  private func isEqual(_ left: JSONValue?, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.integer(let left)?, .double(let right)): return Double(left) == right
    case (.double(let left)?, .integer(let right)): return left == Double(right)
    case (.array(let left)?, .array(let right)):
      return left.count == right.count && zip(left, right).allSatisfy { isEqual($0, $1) }
    case (.object(let left)?, .object(let right)):
      return left.count == right.count
        && right.allSatisfy { member in
          left.contains { $0.name == member.name && isEqual($0.value, member.value) }
        }
    default: return left == right
    }
  }
}
