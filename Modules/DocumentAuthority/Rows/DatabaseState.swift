import TernCore
import TernStorage

/// The persistent state of a database.
///
/// It has one row, of kind `00`, which every commit that changes a document writes. Layout: format
/// (1), epoch, last version (8 bytes each), next scope (4 bytes).
struct DatabaseState: Hashable {
  /// The version of its first commit. It identifies the database among those of the same name.
  ///
  /// Resume tokens name it, so that those of an erased or restored database are void.
  var epoch: DocumentVersion = .none
  /// The version of its last commit.
  ///
  /// Versions of commits ascend without exception, whatever the clock does.
  var last: DocumentVersion = .none
  /// The number that the next collection or group gets.
  ///
  /// Numbers are never given again, also not after all documents of a collection are gone.
  var nextScope: ScopeNumber = 1

  private static let format: UInt8 = 1

  /// Describes a database without a commit.
  init() {}

  /// Reads a state back; `nil` when the bytes are none.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.format, let epoch = reader.bigEndian(Int64.self),
      let last = reader.bigEndian(Int64.self), let scope = reader.bigEndian(ScopeNumber.self),
      reader.isAtEnd, scope < .max
    else { return nil }
    self.epoch = DocumentVersion(microseconds: epoch)
    self.last = DocumentVersion(microseconds: last)
    nextScope = scope
    if !self.last.isTime { return nil }
  }

  /// Returns the value of the row.
  func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(bigEndian: epoch.microseconds)
    writer.append(bigEndian: last.microseconds)
    writer.append(bigEndian: nextScope)
    return writer.bytes
  }

  /// The version of a commit that is made now: later than every other.
  ///
  /// A clock that was set back makes versions advance by a microsecond a commit until it has caught
  /// up.
  ///
  /// - Parameter now: Microseconds since 1970.
  func nextVersion(now: Int64) -> DocumentVersion {
    DocumentVersion(microseconds: max(now, last.microseconds + 1))
  }
}

/// A document as its row holds it.
///
/// Layout: the version that made it (8 bytes), its version (8 bytes), its packed fields. The key is
/// not in it: that of the row tells the scope and the document.
enum StoredDocument {
  /// `created`, `version`, then the packed fields.
  ///
  /// - Parameter document: For its versions; its own fields have no part.
  static func encode(_ fields: DocumentFields, _ document: Document) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(bigEndian: document.created.microseconds)
    writer.append(bigEndian: document.version.microseconds)
    writer.append(fields.bytes)
    return writer.bytes
  }

  /// The number of bytes before the fields.
  static let headBytes = 16

  /// Reads a row; `nil` when it is too short. Its fields are trusted: checksums vouch for them.
  static func decode(_ bytes: Span<UInt8>, _ key: DocumentKey) -> Document? {
    guard bytes.count > headBytes else { return nil }
    let created = Int64(bitPattern: number(bytes, from: 0))
    let version = Int64(bitPattern: number(bytes, from: 8))
    let fields = [UInt8](copying: bytes.extracting(headBytes..<bytes.count))
    return Document(
      key, .found(DocumentFields(unchecked: fields)),
      version: DocumentVersion(microseconds: version),
      created: DocumentVersion(microseconds: created))
  }

  /// Reads 8 bytes, the most significant first.
  private static func number(_ bytes: Span<UInt8>, from start: Int) -> UInt64 {
    var number: UInt64 = 0
    for index in start..<start + 8 { number = number << 8 | UInt64(bytes[index]) }
    return number
  }
}
