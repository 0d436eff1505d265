import TernCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Foundation's values, each in the one form that Firebase's clients write as well. Source:
// Docs/Guides/app.md, section "Codable".

/// A type whose values are single values of the tree, not what they would encode themselves as.
protocol TreeCoded {
  /// The scalar for it; `nil` when none stands for it exactly.
  func treeScalar() -> TreeScalar?

  /// The value that a scalar stands for; `nil` when it is none of this type.
  static func decoded(from scalar: TreeScalar) -> Self?
}

/// A time: milliseconds since 1970 in the tree, a timestamp in documents.
extension Date: TreeCoded, DocumentCoded {
  func treeScalar() -> TreeScalar? {
    Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()).map { .integer($0) }
  }

  static func decoded(from scalar: TreeScalar) -> Date? {
    scalar.number.map { Date(timeIntervalSince1970: $0 / 1_000) }
  }

  func documentInput() -> DocumentInput? {
    let whole = timeIntervalSince1970.rounded(.down)
    guard let seconds = Int64(exactly: whole) else { return nil }
    let rest = Int32(((timeIntervalSince1970 - whole) * 1e9).rounded(.down))
    let time = try? DocumentTimestamp(
      seconds: seconds, nanoseconds: min(max(rest, 0), 999_999_999))
    return time.map { .value(.timestamp($0)) }
  }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> Date? {
    guard case .timestamp(let time) = value else { return nil }
    return Date(
      timeIntervalSince1970: Double(time.seconds) + Double(time.nanoseconds) / 1e9)
  }
}

/// Bytes: base64 in the tree, bytes in documents.
extension Data: TreeCoded, DocumentCoded {
  func treeScalar() -> TreeScalar? { .string(base64EncodedString()) }

  static func decoded(from scalar: TreeScalar) -> Data? {
    if case .string(let text) = scalar { Data(base64Encoded: text) } else { nil }
  }

  func documentInput() -> DocumentInput? { .value(.bytes(Array(self))) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> Data? {
    if case .bytes(let bytes) = value { Data(bytes) } else { nil }
  }
}

/// An address: its text.
extension URL: TreeCoded, DocumentCoded {
  func treeScalar() -> TreeScalar? { .string(absoluteString) }

  static func decoded(from scalar: TreeScalar) -> URL? {
    if case .string(let text) = scalar { URL(string: text) } else { nil }
  }

  func documentInput() -> DocumentInput? { .value(.string(absoluteString)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> URL? {
    if case .string(let text) = value { URL(string: text) } else { nil }
  }
}

/// A decimal number: the double that has it as its shortest text. One with more digits than a
/// double tells apart is an error.
extension Decimal: TreeCoded, DocumentCoded {
  private var exactDouble: Double? {
    guard let double = Double(description), double.isFinite, Decimal(shortest: double) == self
    else { return nil }
    return double
  }

  private init?(shortest double: Double) {
    guard let decimal = Decimal(string: double.description) else { return nil }
    self = decimal
  }

  func treeScalar() -> TreeScalar? { exactDouble.map { .double($0) } }

  static func decoded(from scalar: TreeScalar) -> Decimal? {
    switch scalar {
    case .integer(let number): Decimal(number)
    case .double(let number): Decimal(shortest: number)
    case .bool, .string, .serverValue: nil
    }
  }

  func documentInput() -> DocumentInput? { exactDouble.map { .value(.double($0)) } }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> Decimal? {
    switch value {
    case .integer(let number): Decimal(number)
    case .double(let number) where number.isFinite: Decimal(shortest: number)
    default: nil
    }
  }
}

/// The time of the commit, which only servers know: encoders of this library write it.
struct CommitTime: Encodable, DocumentCoded, TreeCoded {
  func treeScalar() -> TreeScalar? { .serverValue(.timestamp) }
  static func decoded(from scalar: TreeScalar) -> CommitTime? { nil }

  func documentInput() -> DocumentInput? { .serverTimestamp }
  static func decoded(from value: DocumentValue, in documents: Documents?) -> CommitTime? { nil }

  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self,
      .init(
        codingPath: encoder.codingPath,
        debugDescription: "only a TreeEncoder or a DocumentEncoder writes a server's time"))
  }
}
