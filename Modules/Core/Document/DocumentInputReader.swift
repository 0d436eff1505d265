/// Sorts what an application hands in into data, the fields it names, and transforms.
///
/// A reader serves one write. It checks names, nesting and sentinels on the way; sizes and values
/// are checked by the caller afterwards, because they concern the data as a whole.
struct DocumentInputReader {
  /// The verb of a write, which decides the meaning of sentinels and leaves.
  enum Verb {
    case set, merge, update
  }

  let verb: Verb
  private(set) var data = DocumentMap()
  /// The fields that the write names, in the order of the input; without a meaning for a set.
  private(set) var mask: [DocumentFieldPath] = []
  private(set) var transforms: [DocumentFieldTransform] = []

  init(_ verb: Verb) { self.verb = verb }

  /// Reads the fields of a whole document.
  mutating func read(_ fields: [DocumentInput.Field]) throws(DocumentError) {
    for field in fields.withoutReplaced {
      let path = DocumentFieldPath(unchecked: [field.name])
      try check(path)
      try readField(field.input, at: path)
    }
  }

  /// Reads one assignment of an update.
  ///
  /// - Throws: ``DocumentError``, about the first rule that is broken; the path must be writable.
  mutating func read(_ input: DocumentInput, at path: DocumentFieldPath) throws(DocumentError) {
    try path.checkWritable()
    switch input {
    case .transform(let transform): try add(transform, at: path)
    case .delete: mask.append(path)
    case .value, .map, .array:
      mask.append(path)
      data[path] = try value(of: input, at: path, depth: path.names.count - 1)
    }
  }

  /// Checks the path of a field: that of a merge becomes a part of the write.
  private func check(_ path: DocumentFieldPath) throws(DocumentError) {
    if verb == .set { try path.checkNames() } else { try path.checkWritable() }
  }

  /// Reads one field of a document into data, mask and transforms.
  ///
  /// In a merge every leaf becomes a part of the mask, so maps are entered, also those given as
  /// values. In a set, the data alone count.
  private mutating func readField(
    _ input: DocumentInput, at path: DocumentFieldPath
  ) throws(DocumentError) {
    switch input {
    case .transform(let transform): try add(transform, at: path)
    case .delete:
      if verb != .merge { throw .misplacedDelete(path) }
      mask.append(path)
    case .map(let fields) where !fields.isEmpty:
      for field in fields.withoutReplaced {
        let inner = path.appending(field.name)
        try check(inner)
        try readField(field.input, at: inner)
      }
      // A map stays a map when it holds nothing but sentinels.
      if data[path] == nil { data[path] = .map(DocumentMap()) }
    case .value(.map(let map)) where !map.isEmpty && verb == .merge:
      for entry in map.entries {
        let inner = path.appending(entry.name)
        try inner.checkWritable()
        try readField(.value(entry.value), at: inner)
      }
    case .value, .map, .array:
      data[path] = try value(of: input, at: path, depth: path.names.count - 1)
      mask.append(path)
    }
  }

  /// The value of an input in `depth` maps and arrays; transforms inside maps are put aside.
  ///
  /// - Throws: ``DocumentError/misplacedDelete(_:)`` for a deletion below the top,
  ///   ``DocumentError/tooDeep(_:limit:)`` beyond the limit.
  private mutating func value(
    of input: DocumentInput, at path: DocumentFieldPath, depth: Int
  ) throws(DocumentError) -> DocumentValue {
    switch input {
    case .value(let value): return value
    case .array(let elements):
      let depth = try Self.entering(depth, at: path)
      var values: [DocumentValue] = []
      for element in elements {
        values.append(try self.element(element, at: path, depth: depth))
      }
      return .array(values)
    case .map(let fields):
      let depth = try Self.entering(depth, at: path)
      var map = DocumentMap()
      for field in fields.withoutReplaced {
        let inner = path.appending(field.name)
        switch field.input {
        case .delete: throw .misplacedDelete(inner)
        case .transform(let transform): try add(transform, at: inner)
        case .value, .map, .array:
          map[field.name] = try value(of: field.input, at: inner, depth: depth)
        }
      }
      return .map(map)
    case .delete: throw .misplacedDelete(path)
    case .transform: throw .misplacedTransform(path)
    }
  }

  /// The value of an array element, in which no sentinel may stand at any depth.
  private func element(
    _ input: DocumentInput, at path: DocumentFieldPath, depth: Int
  ) throws(DocumentError) -> DocumentValue {
    switch input {
    case .value(let value): return value
    case .array: throw .nestedArray(path)
    case .delete: throw .misplacedDelete(path)
    case .transform: throw .misplacedTransform(path)
    case .map(let fields):
      let depth = try Self.entering(depth, at: path)
      var map = DocumentMap()
      for field in fields.withoutReplaced {
        map[field.name] = try elementField(field, at: path, depth: depth)
      }
      return .map(map)
    }
  }

  /// Returns the value of a field of a map inside an array. An array is allowed here: a map lies
  /// between the two.
  private func elementField(
    _ field: DocumentInput.Field, at path: DocumentFieldPath, depth: Int
  ) throws(DocumentError) -> DocumentValue {
    guard case .array(let elements) = field.input else {
      return try element(field.input, at: path, depth: depth)
    }
    let depth = try Self.entering(depth, at: path)
    var values: [DocumentValue] = []
    for inner in elements { values.append(try element(inner, at: path, depth: depth)) }
    return .array(values)
  }

  /// The depth inside a map or array; checked on the way down, before the stack runs out.
  private static func entering(
    _ depth: Int, at path: DocumentFieldPath
  ) throws(DocumentError) -> Int {
    if depth >= DocumentLimits.depth { throw .tooDeep(path, limit: DocumentLimits.depth) }
    return depth + 1
  }

  private mutating func add(
    _ transform: DocumentTransform, at path: DocumentFieldPath
  ) throws(DocumentError) {
    try path.checkWritable()
    try transform.check(at: path)
    transforms.append(DocumentFieldTransform(path, transform))
    if transforms.count > DocumentLimits.transforms {
      throw .tooManyTransforms(count: transforms.count, limit: DocumentLimits.transforms)
    }
  }
}

extension [DocumentInput.Field] {
  /// Without the fields that a later one of the same name replaces.
  package var withoutReplaced: [DocumentInput.Field] {
    var names: Set<ExactText> = []
    names.reserveCapacity(count)
    for field in self { names.insert(ExactText(field.name)) }
    if names.count == count { return self }
    names.removeAll()
    return reversed().filter { names.insert(ExactText($0.name)).inserted }.reversed()
  }
}
