package import TernCore
import TernSync
import TernTransactions
import TernTreeReplica

/// Computes what a place is to become from what it is; `nil` gives up. Called any number of times.
package typealias TransactionUpdate = @Sendable (TreeNode) -> TreeNode?

/// One transaction that is not decided yet.
struct TreeTransaction: Sendable {
  let id: OperationID
  let path: TreePath
  let update: TransactionUpdate
  let appliesLocally: Bool
  /// Keeps the data of the place coming while the transaction lasts.
  let listener: RegistrationID
  let declared: DeclaredTransaction?
  var progress = Progress()
  /// Its place in the overlay.
  var write: WriteID
  /// The input of the computation.
  var input: TreeNode
  /// The output of the computation, with server values unresolved.
  var output: TreeNode
  /// Its row in the queue, once it has one.
  var row: UInt64?
  /// The number of its next attempt, if it is a declared one.
  var nextSequence: UInt64 = 1
  /// True when an attempt of an earlier run of the program may have been committed.
  var awaitsOutcome = false
  /// The transaction whose rest it shares before it is sent again.
  var rest: OperationID?
  /// True when it has paused for its next attempt.
  var hasRested = false
  /// True when other clients changed the path since the last attempt.
  var wasDisturbed = false

  /// True when it is not on its way and has nothing to wait for.
  var isRunnable: Bool {
    progress.phase == .runnable && progress.verdict == nil && !awaitsOutcome && rest == nil
  }
}

/// The transactions of a client, oldest first, and the contention at their places.
struct TransactionTable: Sendable {
  /// In the order of their ids, because each is added with a new one.
  var list: [TreeTransaction] = []

  /// The places where attempts came too late lately.
  private var contention: [TreePath: Contention] = [:]
  private static let contendedPlaces = 1_000

  var isEmpty: Bool { list.isEmpty }

  func contention(at path: TreePath) -> Contention { contention[path] ?? Contention() }

  mutating func note(at path: TreePath, _ change: (inout Contention) -> Void) {
    var here = contention(at: path)
    change(&here)
    if contention.count >= Self.contendedPlaces { contention.removeAll() }
    contention[path] = here.isNone ? nil : here
  }

  /// - Complexity: O(log *n*).
  func index(of id: OperationID) -> Int? {
    let index = list.sortedPrefixCount { $0.id < id }
    return index < list.count && list[index].id == id ? index : nil
  }

  /// The shortest path of a transaction that contains `path`, or else `path`.
  func root(above path: TreePath) -> TreePath {
    var root = path
    for transaction in list
    where transaction.path.count < root.count && transaction.path.contains(path) {
      root = transaction.path
    }
    return root
  }

  /// The transactions at and below `root`, oldest first.
  func group(at root: TreePath) -> [OperationID] {
    list.filter { root.contains($0.path) }.map(\.id)
  }

  /// The transactions at and below `root`, oldest first; `nil` if one of them is on its way or has
  /// something to wait for.
  func runnable(at root: TreePath) -> [TreeTransaction]? { list.runnable(at: root) }

  /// The transactions whose places overlap `path`, oldest first.
  func overlapping(_ path: TreePath) -> [OperationID] {
    list.filter { $0.path.contains(path) || path.contains($0.path) }.map(\.id)
  }

  /// The shortest paths above those transactions that are not on their way, in their order.
  ///
  /// - Complexity: O(*n*), and O(*n*) more for each of them: this is asked after every answer, and
  ///   thousands may be on their way then.
  var waitingRoots: [TreePath] {
    var roots: [TreePath] = []
    var known: Set<TreePath> = []
    for index in list.indices where !list[index].progress.isSent {
      let root = root(above: list[index].path)
      if known.insert(root).inserted { roots.append(root) }
    }
    return roots
  }

  /// Makes a batch, and marks its members as sent.
  mutating func send(
    _ members: [OperationID], at path: TreePath, _ node: TreeNode, hash: String,
    in batches: inout TransactionBatches
  ) -> UInt64 {
    let number: (stream: UInt128, sequence: UInt64)
    if members.count == 1, let index = index(of: members[0]),
      let declared = list[index].declared
    {
      number = (declared.stream, list[index].nextSequence)
      list[index].nextSequence += 1
    } else {
      number = batches.nextNumber()
    }
    let wasDisturbed = members.contains { member in
      index(of: member).map { list[$0].wasDisturbed } ?? false
    }
    for member in members {
      guard let index = index(of: member) else { continue }
      list[index].progress.send()
      list[index].hasRested = false
      list[index].wasDisturbed = false
    }
    return batches.add(
      TransactionBatch(
        path: path, node: node, hash: hash, members: members, stream: number.stream,
        sequence: number.sequence, wasDisturbed: wasDisturbed))
  }

  /// Takes back the batch of a transaction, if it has not been on any connection yet.
  mutating func withdraw(_ id: OperationID, from batches: inout TransactionBatches) {
    for member in batches.withdraw(id) {
      if let index = index(of: member) { list[index].progress.becameStale() }
    }
  }
}

extension Sequence<TreeTransaction> {
  /// Returns those at and below `root`, in order; `nil` at the first one that cannot be sent now.
  ///
  /// Every new transaction asks this, mostly behind an older one that is on its way.
  func runnable(at root: TreePath) -> [TreeTransaction]? {
    var members: [TreeTransaction] = []
    for transaction in self where root.contains(transaction.path) {
      guard transaction.isRunnable else { return nil }
      members.append(transaction)
    }
    return members
  }
}
