import Foundation
import Synchronization
import TernClient
import TernCore

extension Firestore {
  /// Turns `Encodable` values into the fields of documents.
  ///
  /// `Date`, `Data`, ``Timestamp``, ``GeoPoint``, ``VectorValue``, ``DocumentReference`` and
  /// ``FieldValue`` stay what they are; `URL` becomes a string. A member that is `nil` is left out
  /// unless it is an ``ExplicitNull``.
  public struct Encoder: Sendable {
    /// An encoder; there is nothing to choose.
    public init() {}

    /// The fields, as they can be given to ``DocumentReference/setData(_:)``.
    ///
    /// - Throws: `EncodingError`, or what a value throws that encodes itself.
    public func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
      let references = References()
      let fields = try fields(of: value, noting: references)
      return references.foundation(fields)
    }

    /// The fields, for a write.
    func fields(of value: some Encodable) throws -> [DocumentInput.Field] {
      try fields(of: value, noting: nil)
    }

    private func fields(
      of value: some Encodable, noting references: References?
    ) throws -> [DocumentInput.Field] {
      var encoder = DocumentEncoder()
      encoder.conversion = { value in
        if let reference = value as? DocumentReference { references?.note(reference) }
        return try (value as? any FirestoreEncodable)?.documentInput(encoder: self)
      }
      guard case .map(let fields) = try encoder.encodeValue(value) else {
        throw EncodingError.invalidValue(
          value, .init(codingPath: [], debugDescription: "a document is a map"))
      }
      return fields
    }
  }
}

/// A type that is one value of a document, and not what it would encode itself as.
protocol FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput
}

/// The references that were met, so that they come out as they went in.
private final class References: Sendable {
  private let known = Mutex<[DocumentName: DocumentReference]>([:])

  func note(_ reference: DocumentReference) {
    guard let name = try? reference.name() else { return }
    known.withLock { $0[name] = reference }
  }

  func foundation(_ fields: [DocumentInput.Field]) -> [String: Any] {
    var members: [String: Any] = [:]
    for field in fields { members[field.name] = foundation(field.input) }
    return members
  }

  private func foundation(_ input: DocumentInput) -> Any {
    switch input {
    case .map(let fields): foundation(fields)
    case .array(let elements): elements.map { foundation($0) }
    case .delete: FieldValue.delete()
    case .transform(let transform): FieldValue(transform)
    case .value(let value): foundation(value)
    }
  }

  private func foundation(_ value: DocumentValue) -> Any {
    switch value {
    case .reference(let name): known.withLock { $0[name] } ?? NSNull()
    case .array(let elements): elements.map { foundation($0) }
    case .map(let map):
      Dictionary(uniqueKeysWithValues: map.entries.map { ($0.name, foundation($0.value)) })
    default: value.foundation(nil, .none)
    }
  }
}

extension Date: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput {
    try DocumentInput(foundation: self, in: nil)
  }
}

extension Data: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput {
    .value(.bytes(Array(self)))
  }
}

extension URL: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput {
    .value(.string(absoluteString))
  }
}

extension Decimal: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput {
    .value(.double(NSDecimalNumber(decimal: self).doubleValue))
  }
}

extension Timestamp: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput {
    .value(.timestamp(kept))
  }
}

extension GeoPoint: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput { .value(.geoPoint(kept)) }
}

extension VectorValue: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput { .value(.vector(array)) }
}

extension DocumentReference: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput {
    .value(.reference(try name()))
  }
}

extension FieldValue: FirestoreEncodable {
  func documentInput(encoder: Firestore.Encoder) throws -> DocumentInput {
    try DocumentInput(foundation: self, in: nil)
  }
}
