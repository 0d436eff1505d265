import TernCore
import TernLedger
import TernStorage

/// What a client keeps to be told later only what it missed: which database it saw, and as of when.
///
/// Source: Docs/Formats/document-rows.md, section 5.
struct WatchToken: Hashable {
  /// The first commit of the database; after a wipe another one.
  let epoch: DocumentVersion
  /// The last commit that was told.
  let version: DocumentVersion

  private static let format: UInt8 = 1

  init(_ state: DatabaseState) {
    epoch = state.epoch
    version = state.last
  }

  /// Reads a token back; `nil` when the bytes are none.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.format, let epoch = reader.bigEndian(Int64.self),
      let version = reader.bigEndian(Int64.self), reader.isAtEnd
    else { return nil }
    self.epoch = DocumentVersion(microseconds: epoch)
    self.version = DocumentVersion(microseconds: version)
  }

  func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(bigEndian: epoch.microseconds)
    writer.append(bigEndian: version.microseconds)
    return writer.bytes
  }
}
