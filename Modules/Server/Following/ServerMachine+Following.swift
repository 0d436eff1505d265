import TernCore
import TernDocumentAuthority
import TernLedger
import TernStorage
import TernTreeAuthority

// A node that follows tells its clients what other nodes have committed.
extension ServerMachine {
  /// Tells listeners of the commits of other nodes, and takes up what administrators have decided.
  ///
  /// Records of the log carry what listeners have to be told; a commit without one, such as a
  /// stored outcome, only changes the copy. Changes of rules, settings and revocations are applied
  /// before anything is told by later commits, so that no listener gets what it may not read any
  /// more.
  mutating func follow(
    _ followed: FollowedBatches, _ batch: inout ServerBatch
  ) throws(StorageError) {
    var isOutdated = false
    for (_, next) in followed.batches {
      for commit in next.commits {
        let isAdministrative = commit.mutations.contains(where: \.isAdministrative)
        // Several changes of them are taken up together, and before anything is told by them.
        if isOutdated, !isAdministrative {
          try takeUp(&batch)
          isOutdated = false
        }
        if let record = DocumentRecord(commit.record) {
          try documents.follow(record, commit, &batch)
        } else if let record = TreeRecord(commit.record) {
          try tree.follow(record, commit, &batch)
        } else {
          batch.follow(commit)
        }
        isOutdated = isOutdated || isAdministrative
      }
    }
    if isOutdated { try takeUp(&batch) }
  }

  /// Takes up rules, settings and revocations that were changed at another node.
  ///
  /// Reads all rules, settings and revocations anew and judges every session. That costs much, and
  /// administrators change them rarely.
  private mutating func takeUp(_ batch: inout ServerBatch) throws(StorageError) {
    let reader = batch.reader
    let snapshot = LedgerSnapshot(reader, version: batch.version)
    try admin.restoreAnew(from: snapshot)
    try documents.restoreAnew(from: snapshot)
    try review({ _ in true }, &batch)
    try endCredentials(&batch)
  }
}

extension Mutation {
  /// True for a change of what administrators have decided.
  fileprivate var isAdministrative: Bool {
    let prefixes = [
      StoreLayout.rules, StoreLayout.revocations, StoreLayout.settings, StoreLayout.documentRules,
    ]
    return prefixes.contains { range.overlaps(KeyRange(prefix: $0)) }
  }
}

extension TreeService {
  /// Tells listeners of a write at another node.
  ///
  /// A database without sessions has no listeners; only the hashes that are kept for it lose their
  /// validity.
  func follow(
    _ record: TreeRecord, _ commit: Commit, _ batch: inout ServerBatch
  ) throws(StorageError) {
    batch.follow(commit)
    guard let name = StoreLayout.namespaceName(ofPrefix: record.prefix) else { return }
    let key = ExactText(name)
    guard let namespace = namespaces[key] else {
      if let known = hashes[key] {
        for entry in record.assignments { known.forget(entry.path) }
      }
      return
    }
    try FanOut.deliver(record.write, in: namespace, &batch)
  }
}

extension TreeRecord {
  /// A write that does what the record tells of: a merge at the deepest path above all entries.
  ///
  /// The base must lie strictly above every entry, because a merge cannot name its own path.
  fileprivate var write: TreeWrite {
    if assignments.count == 1 { return .set(assignments[0].path, assignments[0].node) }
    var base = assignments.first?.path.keys[...] ?? []
    for entry in assignments {
      let keys = entry.path.keys
      // Above the entry itself, so that each has a path of its own in the merge.
      let count = zip(base, keys.dropLast()).prefix { $0 == $1 }.count
      base = base.prefix(count)
    }
    let path = TreePath(unchecked: Array(base))
    let entries = assignments.map { entry in
      TreeMerge.Entry(path: entry.path.relative(to: path) ?? entry.path, node: entry.node)
    }
    return .merge(path, TreeMerge(unchecked: entries))
  }
}

extension DocumentService {
  /// Tells listeners of a commit at another node.
  func follow(
    _ record: DocumentRecord, _ commit: Commit, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let name = StoreLayout.documentDatabase(ofPrefix: record.prefix)
    guard let name, let database = registry.known(name) else { return batch.follow(commit) }
    let decision =
      database.isUsed ? try database.authority.decision(of: record, in: batch.reader) : nil
    batch.follow(commit)
    database.note(record.version)
    if let decision { try listens.fanOut(decision, in: database, &batch) }
  }
}

extension StoreLayout {
  /// The name of the tree whose rows begin with `prefix`; `nil` for other rows.
  static func namespaceName(ofPrefix prefix: [UInt8]) -> String? {
    name(in: prefix, behind: trees)
  }

  /// The database of documents whose rows begin with `prefix`; `nil` for other rows.
  static func documentDatabase(ofPrefix prefix: [UInt8]) -> DocumentDatabase? {
    name(in: prefix, behind: allDocuments).flatMap { DocumentDatabase(resourceName: $0) }
  }

  private static func name(in prefix: [UInt8], behind first: [UInt8]) -> String? {
    guard prefix.starts(with: first), prefix.last == 0 else { return nil }
    return String(decoding: prefix.dropFirst(first.count).dropLast(), as: UTF8.self)
  }
}
