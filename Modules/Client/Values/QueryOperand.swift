public import TernCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A Swift value that queries of both models compare with, so that a variable can stand where a
/// literal does: `cities.where("country", .equals, country)`.
public protocol QueryOperand: Sendable {
  /// The value in the tree.
  var treeOperand: TreeScalar { get }
  /// The value in documents.
  var documentOperand: DocumentValue { get }
}

extension String: QueryOperand {
  public var treeOperand: TreeScalar { .string(self) }
  public var documentOperand: DocumentValue { .string(self) }
}

extension Bool: QueryOperand {
  public var treeOperand: TreeScalar { .bool(self) }
  public var documentOperand: DocumentValue { .boolean(self) }
}

extension Double: QueryOperand {
  public var treeOperand: TreeScalar { .double(self) }
  public var documentOperand: DocumentValue { .double(self) }
}

extension Int: QueryOperand {
  public var treeOperand: TreeScalar { .integer(Int64(self)) }
  public var documentOperand: DocumentValue { .integer(Int64(self)) }
}

extension Int32: QueryOperand {
  public var treeOperand: TreeScalar { .integer(Int64(self)) }
  public var documentOperand: DocumentValue { .integer(Int64(self)) }
}

extension Int64: QueryOperand {
  public var treeOperand: TreeScalar { .integer(self) }
  public var documentOperand: DocumentValue { .integer(self) }
}

/// A time: milliseconds since 1970 in the tree, a timestamp in documents, as `Codable` writes it.
/// One outside the years 1 to 9999 compares as the nearest time inside them.
extension Date: QueryOperand {
  public var treeOperand: TreeScalar { inRange.treeScalar() ?? .integer(0) }

  public var documentOperand: DocumentValue {
    guard case .value(let value) = inRange.documentInput() else { return .null }
    return value
  }

  /// The nearest time that a timestamp of documents can hold.
  private var inRange: Date {
    let seconds = timeIntervalSince1970
    guard !seconds.isNaN else { return Date(timeIntervalSince1970: 0) }
    return Date(timeIntervalSince1970: min(max(seconds, -62_135_596_800), 253_402_300_799))
  }
}
