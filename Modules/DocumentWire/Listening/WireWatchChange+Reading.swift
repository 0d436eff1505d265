import TernCore
import TernQuery

/// `ListenResponse` as a ``WatchChange``. Source: documents reference, sections 5.8, 6.2 and 6.4.
enum WireWatchChange {
  /// Reads a `ListenResponse`, which says one thing.
  static func read(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> WatchChange {
    var change: WatchChange?
    while let field = try reader.next() {
      switch field {
      case 2: change = .target(try targetChange(&reader))
      case 3: change = try documentChange(&reader, &names)
      case 4:
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
  /// - Returns: `nil` for the code 0; an unassigned code is ``Code/unknown``.
  init?(wireCode code: Int, _ message: String) {
    if code == 0 { return nil }
    self.init(Code(rawValue: code) ?? .unknown, message)
  }
}
