import TernCore

/// The result of an expression in the words of a report: short, whatever the value is.
///
/// It is a key of the counts, so it must stay small and comparable: long texts are cut, and
/// containers show a few elements. Results that look alike after the cut are counted together.
struct CoveredValue: Hashable {
  /// The tagged value, as JSON.
  let json: JSONValue
  /// The value in a few characters.
  let text: String

  /// Results beyond the number that is told apart.
  static let other = CoveredValue(
    json: .object([.init("undefined", .object([.init("causeMessage", .string("other values"))]))]),
    text: "other values")

  private init(json: JSONValue, text: String) {
    self.json = json
    self.text = text
  }

  init(_ result: DocumentRulesCoverage.Result) {
    switch result {
    case .value(let value):
      json = Self.tagged(value, depth: 0)
      text = Self.plain(value)
    case .fault(let fault):
      let message = Self.cut(fault.text)
      json = .object([.init("undefined", .object([.init("causeMessage", .string(message))]))])
      text = "error: \(message)"
    case .unknown:
      json = .object([.init("constraintValue", .object([]))])
      text = "depends on the document"
    }
  }

  static func == (left: CoveredValue, right: CoveredValue) -> Bool {
    left.text.hasSameBytes(as: right.text) && left.json == right.json
  }

  func hash(into hasher: inout Hasher) { hasher.combine(ExactText(text)) }

  /// The most characters of a text, elements of a container, and levels of containers.
  private static let textLimit = 80
  private static let elementLimit = 8
  private static let depthLimit = 3

  private static func cut(_ text: String) -> String {
    text.count > textLimit ? text.prefix(textLimit) + "…" : text
  }

  private static func plain(_ value: DocumentRuleValue) -> String {
    switch value {
    case .string(let text): "'\(cut(text))'"
    case .path(let path): cut(path.text)
    case .bool, .int, .float, .null: DocumentRuleFunctions.text(of: value) ?? value.typeName
    default: value.typeName
    }
  }

  /// Source: Firestore server reference, section 5.4.
  ///
  /// Returns a value in the form of the emulator's report: an object with one member, named by the
  /// type. Containers beyond ``depthLimit`` and values that are hard to show are empty objects.
  private static func tagged(_ value: DocumentRuleValue, depth: Int) -> JSONValue {
    func tag(_ name: String, _ value: JSONValue) -> JSONValue { .object([.init(name, value)]) }
    func elements(_ values: some Collection<DocumentRuleValue>) -> JSONValue {
      if depth >= depthLimit { return .object([]) }
      let told = values.prefix(elementLimit).map { tagged($0, depth: depth + 1) }
      return tag("values", .array(told))
    }
    switch value {
    case .null: return tag("nullValue", .null)
    case .bool(let flag): return tag("boolValue", .bool(flag))
    case .int(let number): return tag("intValue", .string("\(number)"))
    case .float(let number):
      return tag("floatValue", number.isFinite ? .double(number) : .string("\(number)"))
    case .string(let text): return tag("stringValue", .string(cut(text)))
    case .path(let path):
      let segments = path.segments.prefix(elementLimit).map { tag("simple", .string(cut($0))) }
      return tag("pathValue", tag("segments", .array(segments)))
    case .list(let items): return tag("listValue", elements(items))
    case .bytes: return tag("bytesValue", .object([]))
    case .timestamp: return tag("timestampValue", .object([]))
    case .duration: return tag("durationValue", .object([]))
    case .latlng: return tag("latlngValue", .object([]))
    case .map: return tag("mapValue", .object([]))
    case .set: return tag("setValue", .object([]))
    case .mapDiff: return tag("mapDiffValue", .object([]))
    }
  }
}
