import TernCore
import TernDocumentWire
import TernQuery

extension DocumentLocation: CustomStringConvertible {
  /// The path of the document, or what is wrong with it.
  public var description: String {
    switch key {
    case .success(let key): key.text
    case .failure(let error): "(\(error.text))"
    }
  }
}

extension DocumentCollection: CustomStringConvertible {
  /// The path of the collection, or what is wrong with it.
  public var description: String {
    switch path {
    case .success(let path): path.text
    case .failure(let error): "(\(error.text))"
    }
  }
}

extension SingleDocumentSnapshot: CustomStringConvertible {
  /// The path and the fields.
  public var description: String { "\(reference): \(json())" }

  /// The fields as JSON text, as ``TernCore/DocumentValue/json()`` writes them; `null` when the
  /// document does not exist.
  public func json() -> String { data()?.json() ?? "null" }
}

extension DocumentQuerySnapshot: CustomStringConvertible {
  /// The documents, one a line.
  public var description: String { documents.map(\.description).joined(separator: "\n") }

  /// The documents as a JSON array of their fields, in the query's order.
  public func json() -> String { "[" + documents.map { $0.json() }.joined(separator: ",") + "]" }
}
