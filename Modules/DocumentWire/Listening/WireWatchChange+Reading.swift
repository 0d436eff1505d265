import TernCore
import TernQuery

/// `ListenResponse` as a ``WatchChange``. Source: documents reference, sections 5.8, 6.2 and 6.4.
///
/// The fields of `ListenResponse`, of which a message has one: 2 target change, 3 document change,
/// 4 document delete, 5 existence filter, 6 document remove. Clients read it; servers write it.
enum WireWatchChange {
  /// Reads a `ListenResponse`, which says one thing.
  ///
  /// Should a message hold several fields, the last one counts, as proto3 prescribes for a choice.
  ///
  /// - Throws: ``DocumentWireError``; the caller ends the stream, because a lost message would
  ///   leave the client's targets wrong without a sign.
  static func read(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> WatchChange {
    var change: WatchChange?
    while let field = try reader.next() {
      switch field {
      case 2: change = .target(try targetChange(&reader))
      case 3: change = try documentChange(&reader, &names)
      case 4:
        // A deletion is about existence, and a removal about membership in targets.
        let gone = try departure(&reader, &names, removedField: 6, timeField: 4)
        change = .deleted(gone.key, readTime: gone.time ?? .none, removed: gone.removed)
      case 5: change = try existenceFilter(&reader)
      case 6:
        let gone = try departure(&reader, &names, removedField: 2, timeField: 4)
        change = .removed(gone.key, readTime: gone.time, removed: gone.removed)
      default: try reader.skip()
      }
    }
    guard let change else { throw .member("a listen response says nothing") }
    return change
  }

  /// Reads a `TargetChange`.
  ///
  /// Fields: 1 kind, 2 target ids, 3 cause, 4 resume token, 6 read time. The kinds are numbered
  /// NO_CHANGE 0, ADD 1, REMOVE 2, CURRENT 3, RESET 4.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for any other kind.
  private static func targetChange(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> WatchTargetChange {
    var kind: UInt64 = 0
    var (targets, token): ([Int32], [UInt8]) = ([], [])
    var cause: DocumentStatus?
    var time: DocumentVersion?
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: kind = try message.varint()
      case 2: try message.int32s(into: &targets)
      case 3: cause = try message.status()
      case 4: token = try message.data()
      case 6: time = try message.version()
      default: try message.skip()
      }
    }
    let kinds: [WatchTargetChange.Kind] = [.none, .added, .removed(cause), .current, .reset]
    guard kind < UInt64(kinds.count) else { throw .member("an unknown kind of target change") }
    return WatchTargetChange(
      kinds[Int(kind)], targets: targets, resumeToken: token, readTime: time)
  }

  /// Reads a `DocumentChange`.
  ///
  /// Fields: 1 document, 5 targets that it belongs to, 6 targets that it left.
  private static func documentChange(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> WatchChange {
    var document: WireDocument?
    var (targets, removed): ([Int32], [Int32]) = ([], [])
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1:
        var inner = try message.message()
        document = try inner.document(&names)
      case 5: try message.int32s(into: &targets)
      case 6: try message.int32s(into: &removed)
      default: try message.skip()
      }
    }
    guard let document else { throw .member("a document change has no document") }
    return .changed(try document.named(), targets: targets, removed: removed)
  }

  /// Reads a `DocumentDelete` or a `DocumentRemove`, which differ in the number of a field.
  ///
  /// - Parameters:
  ///   - removedField: The number of the field with the targets that the document left.
  ///   - timeField: The number of the field with the read time.
  /// - Returns: The time is `nil` when the message has none; a deletion takes that as no version.
  private static func departure(
    _ reader: inout ProtoReader, _ names: inout DocumentNames, removedField: Int, timeField: Int
  ) throws(DocumentWireError) -> (key: DocumentKey, time: DocumentVersion?, removed: [Int32]) {
    var key: DocumentKey?
    var time: DocumentVersion?
    var removed: [Int32] = []
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: key = try names.key(message.bytes, try message.text())
      case removedField: try message.int32s(into: &removed)
      case timeField: time = try message.version()
      default: try message.skip()
      }
    }
    guard let key else { throw .member("a document that is gone has no name") }
    return (key, time, removed)
  }

  /// Reads an `ExistenceFilter`.
  ///
  /// Fields: 1 target, 2 count, 3 Bloom filter of the names. A negative count is taken as 0, as it
  /// stands for no documents.
  private static func existenceFilter(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> WatchChange {
    var (target, count): (Int32, Int32) = (0, 0)
    var names: BloomFilter?
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: target = try message.int32()
      case 2: count = try message.int32()
      case 3: names = try bloomFilter(&message)
      default: try message.skip()
      }
    }
    return .filter(target: target, count: Int(max(count, 0)), unchanged: names)
  }

  /// A filter that cannot be read is none: the target is told again without it.
  ///
  /// Fields: 1 bits {1 bitmap, 2 padding in bits of the last byte}, 2 number of hash functions.
  ///
  /// - Returns: `nil` for parameters that make no filter; see ``BloomFilter``.
  /// - Throws: ``DocumentWireError`` only for bytes that are no message.
  private static func bloomFilter(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> BloomFilter? {
    var (bitmap, padding, hashCount): ([UInt8], Int32, Int32) = ([], 0, 0)
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1:
        var bits = try message.message()
        while let field = try bits.next() {
          switch field {
          case 1: bitmap = try bits.data()
          case 2: padding = try bits.int32()
          default: try bits.skip()
          }
        }
      case 2: hashCount = try message.int32()
      default: try message.skip()
      }
    }
    return BloomFilter(bitmap: bitmap, padding: Int(padding), hashCount: Int(hashCount))
  }
}

extension ProtoReader {
  /// Reads a `google.rpc.Status`; `nil` when it says that all is well.
  ///
  /// Fields: 1 code, 2 message. Details (3) are skipped.
  mutating func status() throws(DocumentWireError) -> DocumentStatus? {
    var (code, text): (Int32, String) = (0, "")
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 1: code = try message.int32()
      case 2: text = try message.string()
      default: try message.skip()
      }
    }
    return DocumentStatus(wireCode: Int(code), text)
  }
}

extension DocumentStatus {
  /// Makes a status out of a number of the wire.
  ///
  /// - Returns: `nil` for the code 0; an unassigned code is ``Code/unknown``.
  init?(wireCode code: Int, _ message: String) {
    if code == 0 { return nil }
    self.init(Code(rawValue: code) ?? .unknown, message)
  }
}
