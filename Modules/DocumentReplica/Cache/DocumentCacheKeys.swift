import TernCore
import TernStorage
import TernSync

/// The layout of a document cache's keys in its store. Source: Docs/Formats/document-cache.md.
struct DocumentCacheKeys: Sendable {
  /// The format written here.
  static let version: UInt8 = 2

  /// The kind of a row: the first byte after the prefix.
  enum Tag: UInt8, CaseIterable {
    case head = 1
    case collectionName = 2
    case collection = 3
    case group = 4
    case watchedGroup = 5
    case document = 6
    case change = 7
    case orphan = 8
    case target = 9
    case subject = 10
    case mapping = 11
    case bundle = 12
    case namedQuery = 13
    case index = 14
    case entry = 15
  }

  /// The prefix of every key of the cache.
  let prefix: [UInt8]

  /// Everything.
  var all: KeyRange { KeyRange(prefix: prefix) }

  /// The row that says what the cache is.
  var head: [UInt8] { begin(.head) }

  /// Returns the first bytes of a key.
  ///
  /// - Parameter byteCount: The bytes that will be appended, at most.
  func begin(_ tag: Tag, reserving byteCount: Int = 0) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(prefix.count + 1 + byteCount)
    key.append(contentsOf: prefix)
    key.append(tag.rawValue)
    return key
  }

  /// Returns the kind of row that a key names, and the rest of the key.
  func split(_ key: [UInt8]) -> (tag: Tag, rest: ArraySlice<UInt8>)? {
    guard key.starts(with: prefix), key.count > prefix.count,
      let tag = Tag(rawValue: key[prefix.count])
    else { return nil }
    return (tag, key[(prefix.count + 1)...])
  }
}

// MARK: Collections

extension DocumentCacheKeys {
  /// The numbers of the collections whose paths have one hash.
  func collectionNames(_ path: CollectionPath) -> [UInt8] {
    var key = begin(.collectionName)
    key.append(integer: StableHash.of(path.text))
    return key
  }

  func collectionName(_ path: CollectionPath, _ number: UInt64) -> [UInt8] {
    var key = collectionNames(path)
    key.append(ordered: number)
    return key
  }

  func collection(_ number: UInt64) -> [UInt8] {
    var key = begin(.collection)
    key.append(ordered: number)
    return key
  }

  /// The numbers of the collections of one id.
  func group(_ id: String) -> [UInt8] {
    var key = begin(.group)
    key.append(integer: UInt16(truncatingIfNeeded: id.utf8.count))
    key.append(contentsOf: id.utf8)
    return key
  }

  func group(_ id: String, _ number: UInt64) -> [UInt8] {
    var key = group(id)
    key.append(ordered: number)
    return key
  }

  func watchedGroup(_ id: String) -> [UInt8] { begin(.watchedGroup) + Array(id.utf8) }
}

// MARK: Documents

extension DocumentCacheKeys {
  /// Returns the prefix of the keys of a collection's documents.
  func documents(_ collection: UInt64) -> [UInt8] {
    var key = begin(.document)
    key.append(ordered: collection)
    return key
  }

  /// Returns the prefix of the keys of a collection's changes.
  func changes(_ collection: UInt64) -> [UInt8] {
    var key = begin(.change)
    key.append(ordered: collection)
    return key
  }

  func change(_ place: DocumentPlace, _ readTime: DocumentVersion) -> [UInt8] {
    var key = begin(.change, reserving: 8 + place.keyBytes)
    key.append(ordered: place.collection)
    key.append(integer: readTime.microseconds)
    key.append(contentsOf: place.id)
    return key
  }

  func document(_ place: DocumentPlace) -> [UInt8] {
    var key = begin(.document, reserving: place.keyBytes)
    key.append(place)
    return key
  }

  func orphan(_ place: DocumentPlace, _ sequence: UInt64) -> [UInt8] {
    var key = begin(.orphan)
    key.append(integer: sequence)
    key.append(place)
    return key
  }

  func bundle(_ id: String) -> [UInt8] { named(.bundle, id) }

  func namedQuery(_ name: String) -> [UInt8] { named(.namedQuery, name) }

  /// Names too long for a key are cut and told apart by a hash.
  private func named(_ tag: Tag, _ name: String) -> [UInt8] {
    var key = begin(tag)
    key.append(contentsOf: name.utf8.prefix(1_000))
    if name.utf8.count > 1_000 { key.append(integer: StableHash.of(name)) }
    return key
  }
}

// MARK: Targets

extension DocumentCacheKeys {
  var targets: [UInt8] { begin(.target) }

  func target(_ id: Int32) -> [UInt8] {
    var key = targets
    key.append(integer: id)
    return key
  }

  /// The targets whose subjects have one hash.
  func subjects(_ subject: [UInt8]) -> [UInt8] {
    var key = begin(.subject)
    key.append(integer: StableHash.of(subject.span))
    return key
  }

  func subject(_ subject: [UInt8], _ id: Int32) -> [UInt8] {
    var key = subjects(subject)
    key.append(integer: id)
    return key
  }

  /// Returns the prefix of the keys of the documents in a target's result.
  func mappings(_ target: Int32) -> [UInt8] {
    var key = begin(.mapping)
    key.append(ordered: UInt64(UInt32(bitPattern: target)))
    return key
  }

  func mapping(_ target: Int32, _ place: DocumentPlace) -> [UInt8] {
    var key = begin(.mapping, reserving: DocumentPlace.numberBytes + place.keyBytes)
    key.append(ordered: UInt64(UInt32(bitPattern: target)))
    key.append(place)
    return key
  }
}

// MARK: Reading keys

extension DocumentCacheKeys {
  /// The number and the time in the key of a change.
  static func change(_ rest: ArraySlice<UInt8>) -> (number: UInt64, readTime: DocumentVersion)? {
    guard let place = DocumentPlace(rest), place.id.count >= 8 else { return nil }
    let time = place.id.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return (place.collection, DocumentVersion(microseconds: Int64(bitPattern: time)))
  }

  /// The target and the document in the key of a mapping; both numbers are written alike.
  static func mapping(_ rest: ArraySlice<UInt8>) -> (target: Int32, place: DocumentPlace)? {
    guard let target = DocumentPlace(rest), let place = DocumentPlace(target.id[...]),
      let id = UInt32(exactly: target.collection)
    else { return nil }
    return (Int32(bitPattern: id), place)
  }

  /// The target in the key of its record.
  static func targetID(_ bytes: ArraySlice<UInt8>) -> Int32? {
    guard bytes.count >= 4 else { return nil }
    return bytes.prefix(4).reduce(Int32(0)) { $0 << 8 | Int32($1) }
  }

  /// All stored targets.
  func targets(
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [StoredTarget] {
    var found: [StoredTarget] = []
    for row in try view.scan(KeyRange(prefix: targets)) {
      guard let id = Self.targetID(row.key[targets.count...]),
        let target = StoredTarget(id: id, record: row.value)
      else { throw .corruptRecord(key: row.key) }
      found.append(target)
    }
    return found
  }
}

/// The position of a document in the store: the number of its collection, and its id.
struct DocumentPlace: Hashable, Sendable {
  /// The most bytes of a number in a key.
  static let numberBytes = 9

  let collection: UInt64
  let id: [UInt8]

  /// The bytes of the position in a key, at most.
  var keyBytes: Int { Self.numberBytes + id.count }
}

extension [UInt8] {
  /// Appends a number so that byte order is the order of numbers: how many bytes, then those.
  mutating func append(ordered number: UInt64) {
    let count = (71 - number.leadingZeroBitCount) / 8
    append(UInt8(count))
    for index in stride(from: count - 1, through: 0, by: -1) {
      append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index)))
    }
  }

  mutating func append(_ place: DocumentPlace) {
    append(ordered: place.collection)
    append(contentsOf: place.id)
  }
}

extension DocumentPlace {
  /// Reads what ``Swift/Array/append(_:)`` wrote.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard let count = bytes.first, count <= 8, bytes.count > Int(count) else { return nil }
    let id = bytes.index(bytes.startIndex, offsetBy: Int(count) + 1)
    let number = bytes[(bytes.startIndex + 1)..<id].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    self.init(collection: number, id: Array(bytes[id...]))
  }
}

/// A hash that is the same in every process: FNV-1a in 64 bits.
///
/// What is found by it is compared with what was looked for, so that collisions cost time only.
enum StableHash {
  static func of(_ text: String) -> UInt64 { text.withSpan { of($0) } }

  static func of(_ bytes: Span<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3 }
    return hash
  }
}
