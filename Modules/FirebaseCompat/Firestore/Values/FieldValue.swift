import TernCore

/// A sentinel: the effect on a field when a write commits, in place of a value.
public final class FieldValue: Sendable {
  enum Kind: Sendable {
    case delete
    case transform(DocumentTransform)
    case invalid(FirestoreArgumentError)
  }

  let kind: Kind

  private init(_ kind: Kind) { self.kind = kind }

  convenience init(_ transform: DocumentTransform) { self.init(.transform(transform)) }

  /// The field goes. Only in `updateData`, and in `setData` that merges.
  public static func delete() -> FieldValue { FieldValue(.delete) }

  /// The time of the commit, by the server's clock.
  public static func serverTimestamp() -> FieldValue { FieldValue(.transform(.serverTimestamp)) }

  /// The number that is there plus a whole one; this one where no number is.
  public static func increment(_ amount: Int64) -> FieldValue {
    FieldValue(.transform(.increment(.integer(amount))))
  }

  /// The number that is there plus this one; this one where no number is.
  public static func increment(_ amount: Double) -> FieldValue {
    FieldValue(.transform(.increment(.double(amount))))
  }

  /// The number that is there or this one, whichever is smaller; this one where no number is.
  public static func minimum(_ value: Int64) -> FieldValue {
    FieldValue(.transform(.minimum(.integer(value))))
  }

  /// The number that is there or this one, whichever is smaller; this one where no number is.
  public static func minimum(_ value: Double) -> FieldValue {
    FieldValue(.transform(.minimum(.double(value))))
  }

  /// The number that is there or this one, whichever is larger; this one where no number is.
  public static func maximum(_ value: Int64) -> FieldValue {
    FieldValue(.transform(.maximum(.integer(value))))
  }

  /// The number that is there or this one, whichever is larger; this one where no number is.
  public static func maximum(_ value: Double) -> FieldValue {
    FieldValue(.transform(.maximum(.double(value))))
  }

  /// The array that is there, and those of the elements it does not hold yet.
  public static func arrayUnion(_ elements: [Any]) -> FieldValue {
    FieldValue(elements, DocumentTransform.arrayUnion)
  }

  /// The array that is there without these elements.
  public static func arrayRemove(_ elements: [Any]) -> FieldValue {
    FieldValue(elements, DocumentTransform.arrayRemove)
  }

  /// A vector, for search by likeness.
  public static func vector(_ array: [Double]) -> VectorValue { VectorValue(array) }

  /// A vector, for search by likeness.
  public static func vector(_ array: [Float]) -> VectorValue { VectorValue(array.map(Double.init)) }

  private convenience init(
    _ elements: [Any], _ transform: ([DocumentValue]) -> DocumentTransform
  ) {
    do throws(FirestoreArgumentError) {
      var values: [DocumentValue] = []
      for element in elements {
        values.append(try DocumentValue(foundation: element, in: nil))
      }
      self.init(.transform(transform(values)))
    } catch {
      self.init(.invalid(error))
    }
  }
}
