import TernCore
import TernQuery

/// A target with listeners.
struct ActiveTarget: Sendable {
  var record: DocumentTargetRecord
  /// The record as it is stored; `nil` before the first time.
  var stored: DocumentTargetRecord?
  /// The documents that its listeners see.
  var view: Set<DocumentKey> = []
}

extension ActiveTarget {
  /// Creates a target from its stored record, or from a new one.
  init(found record: DocumentTargetRecord) {
    self.init(record: record, stored: record.sequence == 0 ? nil : record)
  }
}

/// The targets with listeners, and their records that are still to be stored.
struct TargetTable: Sendable {
  /// The most that a target's version may run ahead of its stored record: five minutes.
  static let storingLagMicroseconds: Int64 = 300 * 1_000_000

  private(set) var active: [Int32: ActiveTarget] = [:]
  /// The targets without listeners whose records are still to be stored.
  private(set) var released: [Int32: ActiveTarget] = [:]
  /// The targets with unstored records.
  private(set) var changed: Set<Int32> = []
  /// The targets with listeners whose results were lost through damage, until they are asked for.
  var lost: Set<Int32> = []

  subscript(id: Int32) -> ActiveTarget? { active[id] }

  /// Returns the target with listeners that watches a subject.
  func find(_ subject: WatchTarget.Subject) -> ActiveTarget? {
    active.values.first { $0.record.subject == subject }
  }

  /// Returns a target, with or without listeners, whose record the store may have in an older form.
  func known(_ id: Int32) -> ActiveTarget? { active[id] ?? released[id] }

  /// Returns the target without listeners that watched a subject and is still to be stored.
  func findReleased(_ subject: WatchTarget.Subject) -> ActiveTarget? {
    released.values.first { $0.record.subject == subject }
  }

  /// Returns `true` if the listeners of a target see a document.
  func shows(_ key: DocumentKey) -> Bool { active.values.contains { $0.view.contains(key) } }

  /// Puts a target in the place of its older self; its record is to be stored.
  mutating func put(_ target: ActiveTarget) {
    active[target.record.id] = target
    released[target.record.id] = nil
    changed.insert(target.record.id)
  }

  /// Removes a target whose last listener has gone. One that is not stored yet is kept until it is:
  /// what was gathered of its result is stored with it.
  ///
  /// - Parameter isDetached: Whether nothing is stored any more.
  mutating func remove(_ id: Int32, isDetached: Bool) {
    if isDetached { changed.remove(id) }
    guard var target = active.removeValue(forKey: id), changed.contains(id) else { return }
    target.view = []
    released[id] = target
  }

  /// Forgets a target that the store has forgotten.
  mutating func forget(_ id: Int32) {
    active[id] = nil
    released[id] = nil
    changed.remove(id)
  }

  /// Notes that all changed records are stored, with the numbers of documents they have now.
  mutating func noteStored(_ records: [DocumentTargetRecord]) {
    changed = []
    released = [:]
    for record in records {
      active[record.id]?.record.keyCount = record.keyCount
      active[record.id]?.stored = record
    }
  }

  /// Forgets that records are to be stored.
  mutating func forgetChanges() {
    changed = []
    released = [:]
  }

  /// Takes in what a server told about a target's result.
  ///
  /// - Parameter sequence: The number of the turn, which counts as a use.
  mutating func apply(
    _ delta: DocumentServerEvent.TargetDelta, to id: Int32, _ event: DocumentServerEvent,
    sequence: UInt64
  ) {
    guard var target = active[id] else { return }
    target.record.sequence = sequence
    if event.mismatched[id] != nil {
      target.record.forgetProgress()
    } else if !delta.resumeToken.isEmpty {
      target.record.resumeToken = delta.resumeToken
      target.record.snapshotVersion = event.version
    }
    active[id] = target
    if Self.mustStore(target, after: delta) { changed.insert(id) }
  }

  /// Tokens that only move on need not reach the disk each time.
  private static func mustStore(
    _ target: ActiveTarget, after delta: DocumentServerEvent.TargetDelta
  ) -> Bool {
    guard let stored = target.stored, !stored.resumeToken.isEmpty else { return true }
    if target.record.resumeToken.isEmpty || delta.changesKeys { return true }
    let lag = storingLagMicroseconds
    let (new, old) = (target.record, stored)
    return new.snapshotVersion.microseconds - old.snapshotVersion.microseconds >= lag
      || new.limboFreeVersion.microseconds - old.limboFreeVersion.microseconds >= lag
  }

  /// Notes which documents a view shows, and since when nothing in it is in doubt.
  ///
  /// - Returns: Whether the target has listeners.
  mutating func noteViewChanges(
    target id: Int32, added: Set<DocumentKey>, removed: Set<DocumentKey>, isFromCache: Bool
  ) -> Bool {
    guard var target = active.removeValue(forKey: id) else { return false }
    if target.view.isEmpty { target.view = added } else { target.view.formUnion(added) }
    target.view.subtract(removed)
    if !isFromCache, target.record.limboFreeVersion != target.record.snapshotVersion {
      target.record.limboFreeVersion = target.record.snapshotVersion
      let lag =
        target.record.limboFreeVersion.microseconds
        - (target.stored?.limboFreeVersion.microseconds ?? 0)
      if lag >= Self.storingLagMicroseconds { changed.insert(id) }
    }
    active[id] = target
    return true
  }

  /// Marks the result of a target with listeners as lost.
  mutating func loseResult(of id: Int32, keepingRecord: Bool = false) {
    released[id]?.record.forgetProgress()
    released[id]?.record.keyCount = 0
    guard var target = active[id] else { return }
    target.record.forgetProgress()
    target.record.keyCount = 0
    if keepingRecord {
      target.stored?.forgetProgress()
      target.stored?.keyCount = 0
    } else {
      target.stored = nil
    }
    put(target)
    lost.insert(id)
  }

  /// Marks all results as lost.
  mutating func loseResults() {
    for id in released.keys { changed.remove(id) }
    released = [:]
    for id in active.keys { loseResult(of: id) }
  }
}
