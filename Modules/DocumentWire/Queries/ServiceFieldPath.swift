import TernCore

extension DocumentFieldPath {
  /// Reads the wire's spelling, as strictly as the service does: what is not in backticks are
  /// letters, digits and underscores, no digit first.
  ///
  /// - Throws: ``DocumentError`` for an unquoted character that is not allowed, and for what is no
  ///   path, such as an empty name.
  init(service text: String) throws(DocumentError) {
    var (isQuoted, isEscaped, isFirst) = (false, false, true)
    for byte in text.utf8 {
      // The byte behind an unquoted dot begins a name.
      defer { isFirst = byte == UInt8(ascii: ".") && !isQuoted }
      if isEscaped {
        isEscaped = false
        continue
      }
      switch byte {
      case UInt8(ascii: "`"): isQuoted.toggle()
      case UInt8(ascii: "\\") where isQuoted: isEscaped = true
      case _ where isQuoted: break
      case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"):
        break
      case UInt8(ascii: "0")...UInt8(ascii: "9") where !isFirst: break
      default: throw .invalidFieldPath(text)
      }
    }
    try self.init(wire: text)
  }

  /// Checks a path that a query or a projection names.
  ///
  /// Writes have rules of their own: they check what may be stored, not what may be asked.
  ///
  /// - Parameter isCompared: True for filters and orders, which may name `__type__` inside a map.
  /// - Throws: ``DocumentWireError/member(_:)`` for reserved names; ``key`` alone is none.
  func checkQueried(isCompared: Bool = false) throws(DocumentWireError) {
    if isKey { return }
    guard let index = names.firstIndex(where: \.isReserved) else { return }
    let name = names[index]
    if isCompared, index > 0, index == names.endIndex - 1, name == "__type__" { return }
    switch name {
    case "__name__": throw .member("the name __key__ is reserved")
    case "__type__": throw .member("the name __type__ is reserved")
    case "__key__": throw .member("Invalid property path member name \"__key__\".")
    default: throw .member("invalid reserved name in field path \(quotedText)")
    }
  }

  /// The path with its reserved names in backticks.
  ///
  /// The service quotes them in its texts, although they need no quotes.
  private var quotedText: String {
    names.map { name in
      let text = DocumentFieldPath(unchecked: [name]).text
      return name.isReserved && text == name ? "`\(name)`" : text
    }.joined(separator: ".")
  }
}

/// The checks of ids of collections that requests name.
enum ServiceCollectionID {
  /// - Throws: ``DocumentWireError/member(_:)`` for an id with a slash, a reserved one (`__x__`),
  ///   and one of more than ``DocumentLimits/idBytes`` bytes. An empty id passes: it stands for all
  ///   collections.
  static func check(_ id: String) throws(DocumentWireError) {
    if id.utf8.contains(UInt8(ascii: "/")) {
      throw .member("Collection id \"\(id)\" is invalid because it contains \"/\".")
    }
    if id.isReservedID {
      throw .member("Collection id \"\(id)\" is invalid because it is reserved.")
    }
    if id.utf8.count > DocumentLimits.idBytes {
      throw .member("The key path element name is longer than \(DocumentLimits.idBytes) bytes.")
    }
  }
}
