import TernCore
import TernQuery

/// Reads documents and queries in the JSON spelling of the wire's messages.
///
/// Source: documents reference, sections 6.1 and 6.2.
struct BundleJSON {
  /// The database that names must be of.
  let database: DocumentDatabase

  func key(_ name: String) -> DocumentKey? {
    guard let name = try? DocumentName(resourceName: name), name.database == database else {
      return nil
    }
    return name.key
  }

  private var values: DocumentValueJSON { DocumentValueJSON(.typed, in: database) }

  func integer(_ value: JSONValue) -> Int64? { values.integer(value) }

  /// A time, as text or as `{seconds, nanos}`, as a version.
  func version(_ value: JSONValue) -> DocumentVersion? {
    timestamp(value).map { DocumentVersion(microseconds: $0.microseconds) }
  }

  func timestamp(_ value: JSONValue) -> DocumentTimestamp? { values.timestamp(value) }

  func document(_ value: JSONValue) -> Document? {
    guard let key = value["name"]?.text.flatMap(key),
      let updated = value["updateTime"].flatMap(version),
      let fields = try? values.fields(value["fields"] ?? .object([]))
    else { return nil }
    return Document(
      key, .found(DocumentFields(fields)), version: updated,
      created: value["createTime"].flatMap(version) ?? .none)
  }

  /// One value; `nil` when it is none of the kinds there are.
  func value(_ json: JSONValue) -> DocumentValue? { try? values.value(json) }
}
