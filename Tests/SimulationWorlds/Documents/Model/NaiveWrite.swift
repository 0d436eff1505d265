import TernCore

/// The contents of a document, spelled out: fields by name.
typealias NaiveFields = [String: NaiveValue]

/// A value, spelled out as far as paths lead into it.
indirect enum NaiveValue: Equatable {
  case map(NaiveFields)
  case leaf(DocumentValue)

  init(_ value: DocumentValue) {
    if case .map(let map) = value {
      self = .map(naiveFields(map))
    } else {
      self = .leaf(value)
    }
  }

  var value: DocumentValue {
    switch self {
    case .leaf(let value): value
    case .map(let fields): .map(documentMap(fields))
    }
  }
}

func naiveFields(_ map: DocumentMap) -> NaiveFields {
  var fields: NaiveFields = [:]
  for entry in map.entries { fields[entry.name] = NaiveValue(entry.value) }
  return fields
}

func documentMap(_ fields: NaiveFields) -> DocumentMap {
  DocumentMap(fields.map { ($0.key, $0.value.value) })
}

extension NaiveFields {
  /// The value at the end of a path.
  func at(_ names: ArraySlice<String>) -> NaiveValue? {
    guard let first = names.first, let value = self[first] else { return nil }
    if names.count == 1 { return value }
    guard case .map(let inner) = value else { return nil }
    return inner.at(names.dropFirst())
  }

  /// Puts a value at the end of a path, making maps on the way; `nil` takes it away.
  mutating func put(_ value: NaiveValue?, at names: ArraySlice<String>) {
    guard let first = names.first else { return }
    if names.count == 1 {
      self[first] = value
      return
    }
    var inner: NaiveFields = [:]
    if case .map(let found)? = self[first] {
      inner = found
    } else if value == nil {
      return
    }
    inner.put(value, at: names.dropFirst())
    self[first] = .map(inner)
  }
}

/// The model's knowledge of one document: its contents and the commit they come from.
struct NaiveDocument: Hashable {
  /// `nil` when there is no document.
  var fields: DocumentFields?
  var version = DocumentVersion.none

  static let missing = NaiveDocument()
}

/// The side and the time at which a write is applied.
enum NaiveMoment {
  /// Shown by the device that made it, at its time of day.
  case device(DocumentTimestamp)
  /// Committed.
  case server(DocumentVersion)
  /// Committed elsewhere, with what the server made of each transform.
  case acknowledged(DocumentVersion, [DocumentValue])
}

/// The meaning of writes, once more: slow, and in no hurry to be anything else.
enum NaiveWrite {
  /// Returns the reason why a write does not apply to a document; `nil` when it does.
  static func refusal(
    of write: DocumentMutation, on document: NaiveDocument
  ) -> DocumentStatus.Code? {
    switch write.precondition {
    case .none: nil
    case .exists(true): document.fields == nil ? .notFound : nil
    case .exists(false): document.fields == nil ? nil : .alreadyExists
    case .version(let version):
      document.fields != nil && document.version == version ? nil : .failedPrecondition
    }
  }

  /// The document afterwards, the precondition taken as holding.
  ///
  /// - Returns: And what each transform came to.
  static func apply(
    _ write: DocumentMutation, to document: NaiveDocument, _ moment: NaiveMoment
  ) -> (document: NaiveDocument, results: [DocumentValue]) {
    let before = document.fields.map { naiveFields($0.map) } ?? [:]
    var fields: NaiveFields
    switch write.change {
    case .verify: return (document, [])
    case .delete: return (NaiveDocument(fields: nil, version: version(moment)), [])
    case .set(let contents): fields = naiveFields(contents.map)
    case .patch(let contents, let mask):
      fields = before
      let data = naiveFields(contents.map)
      for path in mask.paths { fields.put(data.at(path.names[...]), at: path.names[...]) }
    }
    var results: [DocumentValue] = []
    for (index, item) in write.transforms.enumerated() {
      let names = item.path.names[...]
      var result = transformed(
        item.transform, fields.at(names)?.value, replacing: before.at(names)?.value, moment)
      if case .acknowledged(_, let told) = moment, told.indices.contains(index),
        !item.transform.isOfArrays
      {
        result = told[index]
      }
      fields.put(NaiveValue(result), at: names)
      results.append(result)
    }
    let contents = DocumentFields(documentMap(fields))
    if contents == document.fields { return (document, results) }
    return (NaiveDocument(fields: contents, version: version(moment)), results)
  }

  private static func version(_ moment: NaiveMoment) -> DocumentVersion {
    switch moment {
    case .device: .none
    case .server(let version), .acknowledged(let version, _): version
    }
  }

  private static func transformed(
    _ transform: DocumentTransform, _ base: DocumentValue?, replacing replaced: DocumentValue?,
    _ moment: NaiveMoment
  ) -> DocumentValue {
    switch transform {
    case .serverTimestamp: return time(moment, replaced)
    case .increment(let number):
      guard let base = DocumentNumber(base) else { return number.value }
      if case (.integer(let a), .integer(let b)) = (base, number) { return .integer(a + b) }
      return .double(base.double + number.double)
    case .maximum(let number):
      guard let base = DocumentNumber(base) else { return number.value }
      return number.double > base.double ? number.value : base.value
    case .minimum(let number):
      guard let base = DocumentNumber(base) else { return number.value }
      return number.double < base.double ? number.value : base.value
    case .arrayUnion(let values):
      var elements = elements(base)
      for value in values where !elements.contains(where: { $0.isEquivalent(to: value) }) {
        elements.append(value)
      }
      return .array(elements)
    case .arrayRemove(let values):
      return .array(
        elements(base).filter { element in
          !values.contains { $0.isEquivalent(to: element) }
        })
    }
  }

  private static func time(_ moment: NaiveMoment, _ replaced: DocumentValue?) -> DocumentValue {
    switch moment {
    case .device(let time):
      .pendingTimestamp(DocumentPendingTimestamp(localWriteTime: time, replacing: replaced))
    case .server(let version), .acknowledged(let version, _):
      .timestamp(
        DocumentTimestamp(uncheckedMicroseconds: version.microseconds / 1_000 * 1_000))
    }
  }

  private static func elements(_ value: DocumentValue?) -> [DocumentValue] {
    if case .array(let elements)? = value { return elements }
    return []
  }
}

extension DocumentTransform {
  /// `true` if clients compute the result themselves.
  fileprivate var isOfArrays: Bool {
    switch self {
    case .arrayUnion, .arrayRemove: true
    case .serverTimestamp, .increment, .maximum, .minimum: false
    }
  }
}
