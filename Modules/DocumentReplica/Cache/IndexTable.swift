import TernCore
import TernQuery
import TernStorage
import TernSync

/// An index as it is stored, and how far it is made.
///
/// Source: Docs/Formats/document-cache.md, section 7.
///
/// An incomplete index is maintained and not used. Its number names its entries; no other index of
/// the cache gets it.
struct IndexState: Hashable, Sendable {
  /// The progress of filling an index. Changed documents are always entered at once.
  enum Progress: Hashable, Sendable {
    case complete
    /// Documents up to this one are entered; `nil` at the beginning.
    case building(after: DocumentPlace?)
  }

  /// The bytes of values in one entry; what is beyond them takes no part in the order.
  static let entryValueBytes = 2_000

  /// Stands for the index in the keys of its entries.
  let number: UInt32
  let index: DocumentIndex
  var progress: Progress
  /// The names of the fields as bytes.
  private let fields: [[[UInt8]]]

  init(number: UInt32, index: DocumentIndex, progress: Progress) {
    self.number = number
    self.index = index
    self.progress = progress
    fields = index.segments.map { $0.path.names.map { Array($0.utf8) } }
  }

  var isComplete: Bool { progress == .complete }

  /// The bytes of one value in an entry of so many fields.
  var valueBytes: Int { Self.entryValueBytes / index.segments.count }

  /// Reads a stored record; `nil` when it is none.
  init?(number: UInt32, record: [UInt8]) {
    var reader = RecordReader(record)
    guard let kind = reader.byte(), kind < 3, let place = reader.counted(),
      let group = reader.text(), let count = reader.byte(), count > 0
    else { return nil }
    var segments: [DocumentIndex.Segment] = []
    for _ in 0..<count {
      guard let kind = reader.byte().flatMap(DocumentIndex.Segment.Kind.init(rawValue:)),
        let path = SubjectBytes.path(&reader)
      else { return nil }
      segments.append(DocumentIndex.Segment(path, kind))
    }
    let progress: Progress =
      switch kind {
      case 0: .complete
      case 1: .building(after: nil)
      default: .building(after: DocumentPlace(place[...]))
      }
    self.init(
      number: number, index: DocumentIndex(group: group, segments: segments), progress: progress)
  }

  /// The stored form.
  var record: [UInt8] {
    var bytes: [UInt8] = []
    switch progress {
    case .complete:
      bytes.append(0)
      bytes.append(counted: [])
    case .building(nil):
      bytes.append(1)
      bytes.append(counted: [])
    case .building(let place?):
      bytes.append(2)
      var position: [UInt8] = []
      position.append(place)
      bytes.append(counted: position)
    }
    bytes.append(text: index.group)
    bytes.append(UInt8(index.segments.count))
    for segment in index.segments {
      bytes.append(segment.kind.rawValue)
      SubjectBytes.append(segment.path, to: &bytes)
    }
    return bytes
  }
}

// MARK: Entries

extension IndexState {
  /// The keys and values of the entries of a document; none unless it has all of the fields.
  ///
  /// - Parameter fields: The packed fields of the document.
  /// - Returns: One entry, or one for each distinct element of an array. The value of an entry
  ///   tells if a value was cut, and the length of the id at the key's end.
  func entries(
    of fields: Span<UInt8>, at place: DocumentPlace, _ keys: DocumentCacheKeys
  ) -> [[UInt8]: [UInt8]] {
    var starts = [keys.entries(number, place.collection)]
    var isCut = false
    for (position, segment) in index.segments.enumerated() {
      guard let offset = offset(of: position, in: fields) else { return [:] }
      if segment.kind == .contains {
        guard var next = Packed.elements(of: fields, at: offset) else { return [:] }
        let start = starts[0]
        var elements: Set<[UInt8]> = []
        while next.lowerBound < next.upperBound {
          var key = start
          isCut = append(fields, next.lowerBound, segment, to: &key) || isCut
          elements.insert(key)
          var end = next.lowerBound
          Packed.skip(fields, &end)
          next = end..<next.upperBound
        }
        starts = Array(elements)
      } else {
        for index in starts.indices {
          isCut = append(fields, offset, segment, to: &starts[index]) || isCut
        }
      }
    }
    var value: [UInt8] = [isCut ? 1 : 0]
    value.append(varint: UInt64(place.id.count))
    return Dictionary(starts.map { ($0 + place.id, value) }) { first, _ in first }
  }

  /// Appends a value as entries hold it.
  ///
  /// - Returns: Whether it was cut.
  private func append(
    _ fields: Span<UInt8>, _ offset: Int, _ segment: DocumentIndex.Segment,
    to key: inout [UInt8]
  ) -> Bool {
    let start = key.count
    OrderedBytes.append(
      fields, at: offset, isDescending: segment.kind == .descending, to: &key)
    return cut(&key, from: start)
  }

  /// Shortens a value to what entries hold of it.
  ///
  /// - Returns: Whether anything was cut.
  func cut(_ key: inout [UInt8], from start: Int) -> Bool {
    guard key.count - start > valueBytes else { return false }
    key.removeSubrange((start + valueBytes)...)
    return true
  }

  private func offset(of position: Int, in fields: Span<UInt8>) -> Int? {
    var offset = 0
    for name in self.fields[position] {
      guard let next = Packed.field(name.span, in: fields, at: offset) else { return nil }
      offset = next
    }
    return offset
  }
}

extension DocumentCacheKeys {
  /// Returns the prefix of an index's entry keys for one collection.
  func entries(_ index: UInt32, _ collection: UInt64) -> [UInt8] {
    var key = entries(index)
    key.append(ordered: collection)
    return key
  }

  /// Returns the prefix of all entry keys of an index.
  func entries(_ index: UInt32) -> [UInt8] {
    var key = begin(.entry)
    key.append(integer: index)
    return key
  }

  func index(_ number: UInt32) -> [UInt8] {
    var key = begin(.index)
    key.append(integer: number)
    return key
  }
}

/// The indexes there are.
struct IndexTable: Sendable {
  /// The most indexes of one cache: each makes every write dearer.
  static let limit = 200
  /// The most fields of one index; its record counts them in a byte. Source: the limit of
  /// Firestore's composite indexes.
  static let fieldLimit = 100

  private(set) var all: [IndexState] = []

  /// Reads the indexes of a store.
  static func read(
    _ keys: DocumentCacheKeys, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> IndexTable {
    let prefix = keys.begin(.index)
    var table = IndexTable()
    for row in try view.scan(KeyRange(prefix: prefix)) {
      let number = row.key[prefix.count...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      guard let state = IndexState(number: number, record: row.value) else {
        throw .corruptRecord(key: row.key)
      }
      table.all.append(state)
    }
    return table
  }

  /// The indexes over the collections of one id.
  func of(group: String) -> [IndexState] {
    if all.isEmpty { return [] }
    return all.filter { $0.index.group.utf8.elementsEqual(group.utf8) }
  }

  /// Puts an index in the place of its older self.
  mutating func put(_ state: IndexState) {
    if let position = all.firstIndex(where: { $0.number == state.number }) {
      all[position] = state
    } else {
      all.append(state)
    }
  }

  mutating func remove(_ number: UInt32) { all.removeAll { $0.number == number } }
}
