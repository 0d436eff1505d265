import TernCore

/// The writes of one client, each of which leaves its own number at a place of its own.
///
/// Who reads the tree can tell for every number whether its write was applied, and whether it was
/// applied twice: increments would be 2, pushed children would be there again, and the sums of all
/// updates would exceed their number.
struct Workload: Sendable {
  /// The kind of a write.
  enum Kind: String, CaseIterable, Sendable {
    /// `increments/NAME/N` += 1
    case increment
    /// `sets/NAME/N` = N and a text
    case set
    /// A child of `lists/NAME` = N
    case push
    /// At once: `updates/NAME/N` += 1, `sum/NAME` += 1, `sum/all` += 1, `last/NAME` = N, and
    /// `newest/NAME/N` in place of the one before
    case update
  }

  /// One write.
  struct Item: Sendable {
    let number: Int
    let kind: Kind
    let write: TreeWrite
  }

  /// The last segment of all places.
  let name: String
  private(set) var next: Int
  private var newest: Int?
  private var dice: Dice

  init(name: String, next: Int, seed: UInt64) {
    self.name = name
    self.next = next
    dice = Dice(state: seed)
  }

  /// Makes the next write.
  ///
  /// - Parameter pushKey: The name of the child, if the write is a push.
  mutating func make(pushKey: TreeKey) throws(TreeError) -> Item {
    let number = next
    next += 1
    let kind = Kind.allCases[Int.random(in: 0..<Kind.allCases.count, using: &dice)]
    return Item(number: number, kind: kind, write: try write(kind, number, pushKey))
  }

  private mutating func write(
    _ kind: Kind, _ number: Int, _ pushKey: TreeKey
  ) throws(TreeError) -> TreeWrite {
    let value = TreeNode(.integer(Int64(number)))
    let one = TreeNode(.serverValue(.increment(.integer(1))))
    switch kind {
    case .increment:
      return .set(try TreePath("increments/\(name)/\(number)"), one)
    case .set:
      let length = Int.random(in: 0..<300, using: &dice)
      let text = TreeNode(.string(String(repeating: "x", count: length)))
      return .set(
        try TreePath("sets/\(name)/\(number)"), ["number": value, "text": text])
    case .push:
      return .set(try TreePath("lists/\(name)").appending(pushKey), value)
    case .update:
      var entries = [
        ("updates/\(name)/\(number)", one), ("sum/\(name)", one), ("sum/all", one),
        ("last/\(name)", value), ("newest/\(name)/\(number)", true),
      ]
      if let newest { entries.append(("newest/\(name)/\(newest)", .empty)) }
      newest = number
      return .merge(.root, try merge(entries))
    }
  }

  private func merge(_ entries: [(String, TreeNode)]) throws(TreeError) -> TreeMerge {
    try TreeMerge(
      entries.map { entry throws(TreeError) in
        TreeMerge.Entry(path: try TreePath(entry.0), node: entry.1)
      })
  }
}

// MARK: - Transactions

extension Workload {
  /// The places where all clients run transactions.
  static let rooms = ["transactions/one", "transactions/two", "transactions/three"]

  /// Counts a transaction of `arguments` twice: in all, and by its own name.
  static func count(_ arguments: TreeNode, _ room: TreeNode) -> TreeNode? {
    guard case .string(let name) = arguments.scalar, let key = try? TreeKey(name) else {
      return nil
    }
    guard let places = try? (seen: TreeKey("seen"), count: TreeKey("count")) else { return nil }
    var room = room
    var seen = room.child(places.seen)
    seen.setChild(key, one(more: seen.child(key)))
    room.setChild(places.seen, seen)
    room.setChild(places.count, one(more: room.child(places.count)))
    return room
  }

  private static func one(more node: TreeNode) -> TreeNode {
    TreeNode(.integer(Int64(node.scalar?.number ?? 0) + 1))
  }
}

/// A generator that a seed decides: the finaliser of MurmurHash3 over a counter.
struct Dice: RandomNumberGenerator, Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
