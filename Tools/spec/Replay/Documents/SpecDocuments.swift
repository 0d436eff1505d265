import TernCore
import TernQuery

// How recordings spell documents, queries and values. Source: documents reference, section 10.3.

extension JSONValue {
  /// The elements of a list; of nothing none.
  var list: [JSONValue] {
    get throws {
      switch self {
      case .array(let elements): return elements
      case .null: return []
      case .bool, .integer, .double, .string, .object: throw SpecError("not a list: \(json)")
      }
    }
  }

  /// A whole number, however it was spelled.
  var number: Int64 {
    get throws {
      guard let number = integer ?? text.flatMap({ Int64($0) }) else {
        throw SpecError("not a number: \(json)")
      }
      return number
    }
  }

  /// The value of a field.
  var documentValue: DocumentValue {
    switch self {
    case .null: .null
    case .bool(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .array(let elements): .array(elements.map(\.documentValue))
    case .object: .map(documentMap)
    }
  }

  /// The fields of a document.
  var documentMap: DocumentMap {
    guard case .object(let members) = self else { return DocumentMap() }
    return DocumentMap(members.map { ($0.name, $0.value.documentValue) })
  }

  /// The fields of a document, to be written.
  var documentInput: [DocumentInput.Field] {
    guard case .object(let members) = self else { return [] }
    return members.map { DocumentInput.Field($0.name, .value($0.value.documentValue)) }
  }

  /// A status `{code, message}`.
  var status: DocumentStatus {
    get throws {
      let number = try self["code"]?.number ?? 2
      guard let code = DocumentStatus.Code(rawValue: Int(number)) else {
        throw SpecError("no status has the number \(number)")
      }
      return DocumentStatus(code, self["message"]?.text ?? "")
    }
  }

  /// A version in microseconds.
  var version: DocumentVersion {
    get throws { DocumentVersion(microseconds: try number) }
  }
}

extension Document {
  /// A document as a recording has it: a value of null is none at all.
  init(recorded: JSONValue) throws {
    let key = try DocumentKey(recorded["key"]?.text ?? "")
    let value = recorded["value"] ?? .null
    let state: State =
      value == .null ? .missing : .found(DocumentFields(value.documentMap))
    var localWrites = LocalWrites.none
    if recorded["options"]?["hasLocalMutations"] == .bool(true) { localWrites = .pending }
    if recorded["options"]?["hasCommittedMutations"] == .bool(true) { localWrites = .committed }
    self.init(
      key, state, version: try recorded["version"]?.version ?? .none, localWrites: localWrites)
  }

  /// The form of a document in recordings.
  ///
  /// They give no version to what has pending writes.
  var spelled: String {
    let version = localWrites == .pending ? 0 : self.version.microseconds
    let fields = fields.map { DocumentValue.map($0.map).spelled } ?? "none"
    return "\(key.text)@\(version) \(fields) \(localWrites)"
  }
}

extension DocumentValue {
  var spelled: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): "\"\(text)\""
    case .array(let values): "[" + values.map(\.spelled).joined(separator: ", ") + "]"
    case .map(let map):
      "{" + map.entries.map { "\($0.name): \($0.value.spelled)" }.joined(separator: ", ") + "}"
    case .timestamp, .bytes, .reference, .geoPoint, .vector, .pendingTimestamp: "\(self)"
    }
  }
}

extension DocumentQuery {
  /// A query as a recording has it: a path, or an object.
  init(recorded: JSONValue) throws {
    let path = recorded.text ?? recorded["path"]?.text ?? ""
    var query: DocumentQuery
    if let group = recorded["collectionGroup"]?.text {
      query = try .group(group)
    } else if let key = try? DocumentKey(path) {
      query = .document(key)
    } else {
      query = .collection(try CollectionPath(path))
    }
    for filter in try recorded["filters"]?.list ?? [] {
      let parts = try filter.list
      guard parts.count == 3, let name = parts[0].text, let word = parts[1].text,
        let comparison = DocumentOperator(
          rawValue: word == "array-contains" ? "array_contains" : word)
      else { throw SpecError("not a filter: \(filter.json)") }
      query = try query.where(
        DocumentFieldPath(dotted: name), comparison, parts[2].documentValue)
    }
    for order in try recorded["orderBys"]?.list ?? [] {
      let parts = try order.list
      guard parts.count == 2, let name = parts[0].text else {
        throw SpecError("not an order: \(order.json)")
      }
      query = try query.ordered(
        by: DocumentFieldPath(dotted: name), isDescending: parts[1].text == "desc")
    }
    if let limit = try recorded["limit"]?.number {
      let isLast = recorded["limitType"]?.text == "LimitToLast"
      query = isLast ? try query.last(Int(limit)) : try query.first(Int(limit))
    }
    self = query
  }
}
