import TernCore
import TernStorage

/// One cached document as it lies in the store: a short head, then its packed fields verbatim.
///
/// Source: Docs/Formats/document-cache.md, section 3.
///
/// Layout: a byte of flags (bits 0 and 1 the state, bit 2 committed); references and sequence as
/// variable integers; the version as a signed variable integer; how much older the creation is and
/// how much newer the read time, as signed differences; then, for documents that exist, the packed
/// fields up to the end.
struct DocumentRow: Sendable {
  private static let committed: UInt8 = 4

  /// The high part of a record, without contents.
  ///
  /// `missing` is known not to exist; `unknown` had a change that was accepted and whose effect is
  /// not known here; `placeholder` is only referred to.
  enum State: UInt8 { case found, missing, unknown, placeholder }

  /// The known state. A placeholder is a document that targets refer to before its state is known.
  var state: State
  /// `true` if it holds writes that a server has accepted but not sent yet.
  var isCommitted: Bool
  /// The number of targets that hold it.
  var references: Int
  /// The time of the last use: a target's reference to it changed, or a query read it.
  var sequence: UInt64
  var version: DocumentVersion
  var created: DocumentVersion
  /// The version at which the server reported it.
  var readTime: DocumentVersion
  /// The offset of the fields in the value.
  private(set) var fieldsOffset = 0

  /// Creates a row without a known state and without references.
  static func placeholder(sequence: UInt64) -> DocumentRow {
    DocumentRow(
      state: .placeholder, isCommitted: false, references: 0, sequence: sequence, version: .none,
      created: .none, readTime: .none)
  }

  /// Reads the head of a stored value; `nil` when it is none.
  ///
  /// Also rejects a document that exists without fields, and one that does not exist with some.
  init?(_ value: Span<UInt8>) {
    var reader = RowReader(value)
    guard let flags = reader.byte(), flags < 8, let state = State(rawValue: flags & 3),
      let references = reader.varint(), references <= UInt64(Int32.max),
      let sequence = reader.varint(), let version = reader.signed(),
      let created = reader.signed(), let readTime = reader.signed()
    else { return nil }
    self.state = state
    isCommitted = flags & Self.committed != 0
    self.references = Int(references)
    self.sequence = sequence
    self.version = DocumentVersion(microseconds: version)
    self.created = DocumentVersion(microseconds: version &- created)
    self.readTime = DocumentVersion(microseconds: version &+ readTime)
    fieldsOffset = reader.offset
    if (state == .found) != (fieldsOffset < value.count) { return nil }
  }

  private init(
    state: State, isCommitted: Bool, references: Int, sequence: UInt64, version: DocumentVersion,
    created: DocumentVersion, readTime: DocumentVersion
  ) {
    self.state = state
    self.isCommitted = isCommitted
    self.references = references
    self.sequence = sequence
    self.version = version
    self.created = created
    self.readTime = readTime
  }

  /// Takes in what a server, or a server's answer, said.
  mutating func take(_ document: Document, readTime: DocumentVersion) {
    state =
      switch document.state {
      case .found: .found
      case .missing: .missing
      case .unknown: .unknown
      case .invalid: .placeholder
      }
    isCommitted = document.localWrites == .committed
    version = document.version
    created = document.created
    self.readTime = readTime
  }

  /// The value to store.
  func value(fields: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fields.count + 32)
    bytes.append(state.rawValue | (isCommitted ? Self.committed : 0))
    bytes.append(varint: UInt64(references))
    bytes.append(varint: sequence)
    bytes.append(signed: version.microseconds)
    bytes.append(signed: version.microseconds &- created.microseconds)
    bytes.append(signed: readTime.microseconds &- version.microseconds)
    if state == .found {
      unsafe fields.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  /// The document that a stored value describes.
  func document(_ key: DocumentKey, _ value: Span<UInt8>) -> Document {
    let state: Document.State =
      switch self.state {
      case .found:
        .found(
          DocumentFields(
            unchecked: [UInt8](copying: value.extracting(fieldsOffset..<value.count))))
      case .missing: .missing
      case .unknown: .unknown
      case .placeholder: .invalid
      }
    return Document(
      key, state, version: version, created: created,
      localWrites: isCommitted ? .committed : .none)
  }
}

/// Takes the numbers of a record from its front; answers `nil` when there is not enough left.
struct RowReader: ~Escapable {
  private let bytes: Span<UInt8>
  private(set) var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  mutating func byte() -> UInt8? {
    guard offset < bytes.count else { return nil }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func varint() -> UInt64? {
    var result: UInt64 = 0
    for shift in stride(from: 0 as UInt64, to: 64, by: 7) {
      guard let byte = byte() else { return nil }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
    }
    return nil
  }

  mutating func signed() -> Int64? {
    varint().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
  }
}

extension [UInt8] {
  /// Appends a number in groups of seven bits, the lowest first.
  mutating func append(varint number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// Appends a number whose sign moves to the lowest bit.
  mutating func append(signed number: Int64) {
    append(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
  }
}
