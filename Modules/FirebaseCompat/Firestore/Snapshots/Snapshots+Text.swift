import TernCore

extension SnapshotMetadata: CustomStringConvertible {
  /// The origin of the data, in words.
  public var description: String {
    (isFromCache ? "from cache" : "from the server") + (hasPendingWrites ? ", pending" : "")
  }
}

extension DocumentSnapshot: CustomStringConvertible {
  /// The path and the fields; `null` for a document that does not exist.
  public var description: String {
    "\(reference.path): \(document.map { $0.json() } ?? "null")"
  }
}

extension QuerySnapshot: CustomStringConvertible {
  /// The documents, one a line.
  public var description: String { documents.map(\.description).joined(separator: "\n") }
}

extension DocumentChange: CustomStringConvertible {
  /// The kind of change and the document.
  public var description: String { "\(type) \(document)" }
}

extension GeoPoint: CustomStringConvertible {
  /// Degrees north and east.
  public var description: String { "GeoPoint(latitude: \(latitude), longitude: \(longitude))" }
}

extension VectorValue: CustomStringConvertible {
  /// The numbers.
  public var description: String { "\(array)" }
}
