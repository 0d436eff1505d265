import TernCore

/// The writes of one client to documents, each of which leaves its own number.
///
/// The sister of ``Workload``. All documents are in one collection, so that one listener hears of
/// everything, and are named `KIND-NAME-N`.
struct DocumentWorkload: Sendable {
  /// The kind of a write.
  enum Kind: String, CaseIterable, Sendable {
    /// `increment-NAME-N`: `count` += 1
    case increment = "document-increment"
    /// `set-NAME-N`: `number` = N, and a text
    case set = "document-set"
    /// `union-NAME`: N joins `numbers`, and `count` += 1
    case union = "document-union"
    /// At once: `batch-NAME-N` is made, `sum-NAME` and `sum-all` `count` += 1, `sum-NAME` `last` =
    /// N, and `newest-NAME-N` takes the place of the one before
    case batch = "document-batch"
  }

  /// One write.
  struct Item: Sendable {
    let number: Int
    let kind: Kind
    let mutations: [DocumentMutation]
    /// The name in the output.
    var label: String { "\(kind.rawValue) \(number)" }
  }

  /// The collection of all documents.
  static let collection = "things"

  /// The middle of all names.
  let name: String
  private(set) var next: Int
  private var newest: Int?
  private var dice: Dice

  init(name: String, next: Int, seed: UInt64) {
    self.name = name
    self.next = next
    // Another sequence than that of the tree's workload.
    dice = Dice(state: ~seed)
  }

  /// Makes the next write.
  mutating func make() throws(DocumentError) -> Item {
    let number = next
    next += 1
    let kind = Kind.allCases[Int.random(in: 0..<Kind.allCases.count, using: &dice)]
    return Item(number: number, kind: kind, mutations: try mutations(kind, number))
  }

  private mutating func mutations(
    _ kind: Kind, _ number: Int
  ) throws(DocumentError) -> [DocumentMutation] {
    let value = DocumentValue.integer(Int64(number))
    switch kind {
    case .increment:
      return [try .merge(key("increment-\(name)-\(number)"), with: [Self.one])]
    case .set:
      let text = String(repeating: "x", count: Int.random(in: 0..<300, using: &dice))
      return [
        try .set(
          key("set-\(name)-\(number)"),
          to: [.init("number", .value(value)), .init("text", .value(.string(text)))])
      ]
    case .union:
      return [
        try .merge(
          key("union-\(name)"),
          with: [.init("numbers", .transform(.arrayUnion([value]))), Self.one])
      ]
    case .batch:
      let field = DocumentInput.Field("number", .value(value))
      var mutations = [
        try DocumentMutation.set(key("batch-\(name)-\(number)"), to: [field]),
        try .merge(key("sum-\(name)"), with: [Self.one, .init("last", .value(value))]),
        try .merge(key("sum-all"), with: [Self.one]),
        try .set(key("newest-\(name)-\(number)"), to: [field]),
      ]
      if let newest { mutations.append(.delete(try key("newest-\(name)-\(newest)"))) }
      newest = number
      return mutations
    }
  }

  private func key(_ id: String) throws(DocumentError) -> DocumentKey {
    try DocumentKey("\(Self.collection)/\(id)")
  }

  static let one = DocumentInput.Field("count", .transform(.increment(.integer(1))))
}

// MARK: - Transactions

extension DocumentWorkload {
  /// The documents that all clients run transactions on.
  static let rooms = ["room-one", "room-two", "room-three"]

  /// Counts a transaction of a name twice: in all, and by its own name.
  static func count(_ name: String, in room: DocumentMap) -> DocumentInput {
    let all = DocumentNumber(room["count"])?.double ?? 0
    var seen = DocumentMap()
    if case .map(let map) = room["seen"] { seen = map }
    let own = DocumentNumber(seen[name])?.double ?? 0
    return [
      "count": .value(.integer(Int64(all) + 1)),
      "seen": .map([.init(name, .value(.integer(Int64(own) + 1)))]),
    ]
  }
}
