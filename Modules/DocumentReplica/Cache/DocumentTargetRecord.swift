package import TernCore
package import TernQuery
import TernSync

/// The stored state of one target: its resume token and its versions.
///
/// Source: documents reference, section 5.5.
package struct DocumentTargetRecord: Hashable, Sendable {
  /// Its name for the server: even, from 2.
  package let id: Int32
  /// The watched subject.
  package let subject: WatchTarget.Subject
  /// The token from which a later listen resumes. If it is empty, the listen resumes from
  /// ``snapshotVersion`` if that is set, and otherwise starts anew.
  package var resumeToken: [UInt8] = []
  /// As of when its result is known.
  package var snapshotVersion = DocumentVersion.none
  /// As of when its result was known without anything in doubt.
  package var limboFreeVersion = DocumentVersion.none
  /// The time of its last use, in the cache's own count.
  package var sequence: UInt64 = 0
  /// The number of documents in its result, as the server last reported.
  package var keyCount = 0

  init(id: Int32, subject: WatchTarget.Subject) {
    self.id = id
    self.subject = subject
  }

  /// Forgets from where a listen may continue.
  mutating func forgetProgress() {
    resumeToken = []
    snapshotVersion = .none
    limboFreeVersion = .none
  }

  /// The stored form; the subject comes last.
  var record: [UInt8] {
    StoredTarget(self).record
  }
}

/// A target as it lies in the store: the subject only as bytes that can be compared.
///
/// Layout: sequence in 8 bytes, both versions in 8 bytes each, the number of documents in 4, the
/// resume token behind its count, then the subject up to the end.
struct StoredTarget: Hashable, Sendable {
  let id: Int32
  var resumeToken: [UInt8]
  var snapshotVersion: DocumentVersion
  var limboFreeVersion: DocumentVersion
  var sequence: UInt64
  var keyCount: Int
  let subject: [UInt8]

  init(_ target: DocumentTargetRecord) {
    id = target.id
    resumeToken = target.resumeToken
    snapshotVersion = target.snapshotVersion
    limboFreeVersion = target.limboFreeVersion
    sequence = target.sequence
    keyCount = target.keyCount
    subject = SubjectBytes.of(target.subject)
  }

  /// Reads a stored record; `nil` when it is none.
  init?(id: Int32, record: [UInt8]) {
    var reader = RecordReader(record)
    guard let sequence: UInt64 = reader.integer(), let snapshot: Int64 = reader.integer(),
      let limboFree: Int64 = reader.integer(), let keyCount: UInt32 = reader.integer(),
      let token = reader.counted()
    else { return nil }
    self.id = id
    self.sequence = sequence
    self.keyCount = Int(keyCount)
    snapshotVersion = DocumentVersion(microseconds: snapshot)
    limboFreeVersion = DocumentVersion(microseconds: limboFree)
    resumeToken = token
    subject = reader.rest()
    if !snapshotVersion.isTime || !limboFreeVersion.isTime { return nil }
  }

  /// The stored form.
  var record: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: sequence)
    bytes.append(integer: snapshotVersion.microseconds)
    bytes.append(integer: limboFreeVersion.microseconds)
    bytes.append(integer: UInt32(clamping: keyCount))
    bytes.append(counted: resumeToken)
    return bytes + subject
  }

  /// The whole record, its subject as it was asked for.
  func target(_ subject: WatchTarget.Subject) -> DocumentTargetRecord {
    var target = DocumentTargetRecord(id: id, subject: subject)
    target.resumeToken = resumeToken
    target.snapshotVersion = snapshotVersion
    target.limboFreeVersion = limboFreeVersion
    target.sequence = sequence
    target.keyCount = keyCount
    return target
  }

  /// The collection the target looks in; `nil` when it looks elsewhere.
  var collection: CollectionPath? {
    if case .collection(let path)? = SubjectBytes.source(of: subject) { return path }
    return nil
  }
}
