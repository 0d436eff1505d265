/// One place of a store whose bytes fail their check.
public struct StoreCorruption: Hashable, Sendable, CustomStringConvertible {
  /// The place: a page of a file, a row, or the structure as a whole.
  public enum Place: Hashable, Sendable {
    /// Page `number` of the store's file.
    case page(Int)
    /// The row under this key.
    case row([UInt8])
    /// The structure that holds pages and rows together.
    case structure
  }

  /// The place.
  public var place: Place
  /// The failed check, in one sentence.
  public var reason: String

  /// A failed check at a place.
  public init(_ place: Place, _ reason: String) {
    self.place = place
    self.reason = reason
  }

  /// One line for operators: the place, then the reason.
  public var description: String {
    switch place {
    case .page(let number): "page \(number): \(reason)"
    case .row(let key): "row \(key.hexText): \(reason)"
    case .structure: "structure: \(reason)"
    }
  }
}

/// The progress and the findings of one examination of a store, made in slices.
///
/// Begin with a new value, and hand it to ``OrderedStore/inspect(_:bytes:)`` until it
/// ``isComplete``. Files come first, then rows in key order.
public struct StoreInspection: Sendable {
  /// The part of the store to examine next.
  public enum Stage: Hashable, Sendable {
    /// The files below the rows; the backend says with `next` where to go on.
    case files(next: Int)
    /// The rows behind a key; `nil` for all.
    case rows(after: [UInt8]?)
    /// Nothing is left.
    case complete
  }

  /// The most findings kept; ``foundCount`` counts all.
  public static let findingsLimit = 1_000

  /// The part to examine next. Backends move it on.
  public var stage = Stage.files(next: 0)
  /// The bytes examined, in files and in rows.
  public var bytes = 0
  /// The rows examined.
  public var rows = 0
  /// The first findings, at most ``findingsLimit``.
  public private(set) var found: [StoreCorruption] = []
  /// The number of findings.
  public private(set) var foundCount = 0
  /// True when checks that cannot be sliced are made too; they take time in proportion to the size
  /// of the store.
  public let isThorough: Bool

  /// An examination that has not begun.
  public init(isThorough: Bool = false) { self.isThorough = isThorough }

  /// True when nothing is left to examine.
  public var isComplete: Bool { stage == .complete }

  /// True when everything examined so far passed its checks.
  public var isWell: Bool { foundCount == 0 }

  /// Records a finding. For backends.
  public mutating func report(_ place: StoreCorruption.Place, _ reason: String) {
    foundCount += 1
    if found.count < Self.findingsLimit { found.append(StoreCorruption(place, reason)) }
  }
}
