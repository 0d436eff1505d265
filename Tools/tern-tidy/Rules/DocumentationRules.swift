/// Public declarations are documented.
///
/// A witness inherits the documentation of its requirement: a member is exempt when its type
/// conforms to a protocol that requires this name with these labels.
struct DocumentationRules: Sendable {
  /// The requirements of each protocol, by its name.
  private var requirements: [String: Set<String>] = Self.language
  /// The protocols that each type and protocol declares to conform to, by its name.
  private var conformances: [String: Set<String>] = Self.languageInheritance

  init(_ files: [SourceFile]) {
    for file in files {
      let declarations = file.outline.declarations
      for declaration in declarations {
        if declaration.kind.isContainer {
          conformances[declaration.name, default: []].formUnion(declaration.inherited)
        }
        if let parent = declaration.parent.map({ declarations[$0] }), parent.kind == .protocol {
          requirements[parent.name, default: []].insert(declaration.name + declaration.labels)
        }
      }
    }
  }

  func check(_ file: SourceFile) -> [Finding] {
    guard file.area == "Modules" else { return [] }
    return publicDeclarations(of: file).filter { !isDocumented(file, $0.start) }.map {
      Finding(
        file: file.path, line: $0.line + 1, rule: "documentation",
        message: "public \($0.keyword) \($0.name) has no ///")
    }
  }

  /// The share of public declarations with documentation, in percent, witnesses not counted.
  func share(of files: [SourceFile]) -> Double {
    var (all, documented) = (0, 0)
    for file in files {
      let declarations = publicDeclarations(of: file)
      all += declarations.count
      documented += declarations.count { isDocumented(file, $0.start) }
    }
    return all == 0 ? 100 : 100 * Double(documented) / Double(all)
  }

  private func publicDeclarations(of file: SourceFile) -> [Outline.Declaration] {
    let outline = file.outline
    return outline.declarations.indices.compactMap { index in
      let declaration = outline.declarations[index]
      guard declaration.kind != .block, declaration.kind != .extension,
        !declaration.modifiers.contains("override"), outline.isPublic(index)
      else { return nil }
      return isWitness(declaration, in: outline) ? nil : declaration
    }
  }

  private func isWitness(_ declaration: Outline.Declaration, in outline: Outline) -> Bool {
    guard let parent = declaration.parent.map({ outline.declarations[$0] }) else { return false }
    let signature = declaration.name + declaration.labels
    if parent.kind == .protocol {
      // A requirement repeated from a protocol above.
      return inherited(by: parent.name).contains { requires($0, signature, declaration) }
    }
    return (inherited(by: parent.name).union([parent.name]))
      .contains { requires($0, signature, declaration) }
  }

  private func requires(
    _ name: String, _ signature: String, _ declaration: Outline.Declaration
  ) -> Bool {
    guard let required = requirements[name] else { return false }
    return required.contains(signature)
      || (declaration.kind != .function && required.contains(declaration.name))
  }

  /// All protocols above `name`.
  private func inherited(by name: String) -> Set<String> {
    var (found, open) = (Set<String>(), [name])
    while let next = open.popLast() {
      for above in conformances[next] ?? [] where found.insert(above).inserted {
        open.append(above)
      }
    }
    return found
  }

  /// Tells whether the lines above, past attributes, end in a documentation comment.
  private func isDocumented(_ file: SourceFile, _ index: Int) -> Bool {
    var above = index - 1
    while above >= 0 {
      let line = file.lines[above].drop { $0 == " " }
      if line.hasPrefix("///") { return true }
      guard line.hasPrefix("@") || line.hasPrefix(")") || line.hasPrefix("#if") else {
        return false
      }
      above -= 1
    }
    return false
  }
}

extension DocumentationRules {
  /// Requirements of the standard library and Foundation that types here satisfy.
  private static let language: [String: Set<String>] = [
    "CustomStringConvertible": ["description"],
    "CustomDebugStringConvertible": ["debugDescription"],
    "LosslessStringConvertible": ["init(_:)"],
    "CustomReflectable": ["customMirror"],
    "Equatable": ["==(_:_:)", "==(left:right:)", "==(lhs:rhs:)", "!="],
    "Comparable": ["<(_:_:)", "<(left:right:)", "<(lhs:rhs:)"],
    "Hashable": ["hash(into:)", "hashValue"],
    "Encodable": ["encode(to:)"], "Decodable": ["init(from:)"],
    "Encoder": ["codingPath", "userInfo"], "Decoder": ["codingPath", "userInfo"],
    "Identifiable": ["id", "ID"], "CaseIterable": ["allCases"],
    "RawRepresentable": ["rawValue", "init(rawValue:)", "RawValue"],
    "CodingKey": ["stringValue", "intValue", "init(stringValue:)", "init(intValue:)"],
    "Error": [],
    "LocalizedError": [
      "errorDescription", "failureReason", "recoverySuggestion", "helpAnchor",
    ],
    "CustomNSError": ["errorDomain", "errorCode", "errorUserInfo"],
    "Sequence": [
      "makeIterator()", "underestimatedCount", "Element", "Iterator",
      "withContiguousStorageIfAvailable(_:)",
    ],
    "IteratorProtocol": ["next()", "Element"],
    "AsyncSequence": ["makeAsyncIterator()", "AsyncIterator", "Element", "Failure"],
    "AsyncIteratorProtocol": ["next()", "next(isolation:)", "Element", "Failure"],
    "Collection": [
      "startIndex", "endIndex", "index(after:)", "subscript()", "count", "isEmpty", "indices",
      "Index", "SubSequence", "Indices", "first",
    ],
    "BidirectionalCollection": ["index(before:)", "last"],
    "RandomAccessCollection": ["index(_:offsetBy:)", "distance(from:to:)"],
    "Clock": ["now", "minimumResolution", "sleep(until:tolerance:)", "Duration", "Instant"],
    "InstantProtocol": ["advanced(by:)", "duration(to:)", "Duration"],
    "Executor": ["enqueue(_:)"], "Actor": ["unownedExecutor"],
    "SerialExecutor": [
      "asUnownedSerialExecutor()", "isSameExclusiveExecutionContext(other:)", "checkIsolated()",
    ],
    "RandomNumberGenerator": ["next()"],
    "TextOutputStream": ["write(_:)"],
    "ExpressibleByStringLiteral": ["init(stringLiteral:)", "StringLiteralType"],
    "ExpressibleByStringInterpolation": ["init(stringInterpolation:)"],
    "ExpressibleByIntegerLiteral": ["init(integerLiteral:)"],
    "ExpressibleByFloatLiteral": ["init(floatLiteral:)"],
    "ExpressibleByBooleanLiteral": ["init(booleanLiteral:)"],
    "ExpressibleByNilLiteral": ["init(nilLiteral:)"],
    "ExpressibleByArrayLiteral": ["init(arrayLiteral:)", "ArrayLiteralElement"],
    "ExpressibleByDictionaryLiteral": ["init(dictionaryLiteral:)", "Key", "Value"],
    "KeyedEncodingContainerProtocol": ["codingPath"],
    "ChannelInboundHandler": ["InboundIn", "InboundOut", "OutboundOut"],
    "DynamicProperty": ["update()"],
  ]

  private static let languageInheritance: [String: Set<String>] = [
    "Codable": ["Encodable", "Decodable"], "Comparable": ["Equatable"],
    "Hashable": ["Equatable"], "Collection": ["Sequence"],
    "BidirectionalCollection": ["Collection"],
    "RandomAccessCollection": ["BidirectionalCollection"], "MutableCollection": ["Collection"],
    "RangeReplaceableCollection": ["Collection"], "SerialExecutor": ["Executor"],
    "LocalizedError": ["Error"], "CustomNSError": ["Error"],
    "LosslessStringConvertible": ["CustomStringConvertible"],
    "ExpressibleByStringInterpolation": ["ExpressibleByStringLiteral"],
    "CodingKey": ["CustomStringConvertible"], "OptionSet": ["RawRepresentable", "Equatable"],
    "String": ["RawRepresentable"], "Int": ["RawRepresentable"], "UInt8": ["RawRepresentable"],
  ]
}
