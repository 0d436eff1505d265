import TernCore
import TernDocumentJSON
import TernDocumentWire

/// The query parameters of a request: those of all of Google's services, and those that bind
/// members of the message.
///
/// Source: Firestore server reference, sections 3.1 and 3.3.
struct DocumentRESTParameters: Equatable, Sendable {
  /// The form of enums in the answer.
  private(set) var enums = DocumentJSON.EnumForm.names
  /// True when the answer is spread over lines.
  private(set) var isPretty = false
  /// The token that the address carries; a header wins over it.
  private(set) var token: String?
  /// Parameters that bind members, in order.
  private(set) var bindings: [RequestTarget.Parameter] = []

  /// The most parameters of a request, those of its address and of its form together. Each binding
  /// is looked up in a list, and a mask may be long; the limit bounds that work.
  static let maxParameters = 2_000

  /// Reads the parameters.
  ///
  /// - Throws: When there are more than ``maxParameters``, or one is not served.
  init(_ parameters: [RequestTarget.Parameter]) throws(DocumentRESTError) {
    guard parameters.count <= Self.maxParameters else {
      throw DocumentRESTError(
        .invalidArgument,
        "The request has \(parameters.count) parameters, the limit is \(Self.maxParameters).")
    }
    for parameter in parameters {
      switch parameter.name {
      case "alt", "$alt": try readForm(parameter.value)
      case "prettyPrint", "$prettyPrint", "pp":
        isPretty = parameter.value == "true" || parameter.value == "1"
      case "access_token", "oauth_token": token = parameter.value
      case "callback", "$callback":
        throw DocumentRESTError(
          .invalidArgument, "Answers as scripts are not served: leave out callback.")
      case "key", "fields", "quotaUser", "userIp", "uploadType", "upload_protocol", "bearer_token":
        break
      // Those of the infrastructure mean nothing here.
      case let name where name.hasPrefix("$"): break
      default: bindings.append(parameter)
      }
    }
  }

  /// Reads `alt`: `json`, with `enum-encoding=int` or without.
  private mutating func readForm(_ text: String) throws(DocumentRESTError) {
    let parts = text.split(separator: ";")
    guard parts.first == "json" else {
      throw DocumentRESTError(.invalidArgument, "Only alt=json is served.")
    }
    for part in parts.dropFirst() where part.hasPrefix("enum-encoding=") {
      enums = part.hasSuffix("=int") ? .numbers : .names
    }
  }
}

/// The members of a message that a request's address binds, as JSON.
struct DocumentRESTMembers {
  private var root = Node()

  /// An object under construction.
  private struct Node {
    /// The names of all members, in the order in which they were first set.
    var names: [String] = []
    var values: [String: JSONValue] = [:]
    var nodes: [String: Node] = [:]
  }

  /// Sets a member at a path of names.
  mutating func set(_ path: String..., to value: JSONValue) {
    Self.set(path[...], to: value, in: &root)
  }

  /// Binds a query parameter.
  ///
  /// - Throws: When the method has no such parameter, or twice what can be there once.
  mutating func bind(
    _ parameter: RequestTarget.Parameter, of method: DocumentMethod
  ) throws(DocumentRESTError) {
    guard let binding = DocumentRESTBinding.all.first(where: { $0.matches(parameter.name, method) })
    else {
      let name = parameter.name.prefix(Self.shownCharacters)
      throw DocumentRESTError(
        MessageJSONError(
          "Invalid JSON payload received. Unknown name \"\(name)\": Cannot bind query parameter. "
            + "Field '\(name)' could not be found in request message."))
    }
    let path = binding.name.split(separator: ".").map(String.init)
    let isNew = Self.append(parameter.value, binding.kind, at: path[...], in: &root)
    guard isNew else {
      throw DocumentRESTError(
        MessageJSONError(
          "Invalid value at '\(binding.name)', the query parameter is given more than once."))
    }
  }

  private static let shownCharacters = 100

  private static func set(_ path: ArraySlice<String>, to value: JSONValue, in node: inout Node) {
    guard let name = path.first else { return }
    if !node.names.contains(name) { node.names.append(name) }
    if path.count == 1 {
      node.values[name] = value
    } else {
      set(path.dropFirst(), to: value, in: &node.nodes[name, default: Node()])
    }
  }

  /// - Returns: `false` when the member is there and can be there once.
  private static func append(
    _ text: String, _ kind: DocumentRESTBinding.Kind, at path: ArraySlice<String>,
    in node: inout Node
  ) -> Bool {
    guard let name = path.first else { return false }
    if path.count > 1 {
      if !node.names.contains(name) { node.names.append(name) }
      return append(text, kind, at: path.dropFirst(), in: &node.nodes[name, default: Node()])
    }
    let value = kind.value(of: text)
    if case .list = kind {
      var elements: [JSONValue] = []
      // A list that stays in the node would be copied by the change.
      if case .array(let known)? = node.values.removeValue(forKey: name) { elements = known }
      elements.append(value)
      set([name], to: .array(elements), in: &node)
      return true
    }
    guard node.values[name] == nil else { return false }
    set([name], to: value, in: &node)
    return true
  }

  /// The members as the text of one object.
  var json: [UInt8] { Self.value(of: root).bytes }

  private static func value(of node: Node) -> JSONValue {
    .object(
      node.names.map { name in
        JSONValue.Member(name, node.values[name] ?? node.nodes[name].map(value) ?? .null)
      })
  }
}

/// A query parameter that binds a member.
struct DocumentRESTBinding {
  enum Kind {
    /// `list` may be given more than once; `flag` is a boolean.
    case text, flag, list

    /// The parameter's text as the JSON that the member takes.
    func value(of text: String) -> JSONValue {
      if case .flag = self, text == "true" || text == "false" { return .bool(text == "true") }
      return .string(text)
    }
  }

  let name: String
  let kind: Kind
  let methods: Set<DocumentMethod>

  /// Returns true for the parameter of a method, in either spelling.
  func matches(_ name: String, _ method: DocumentMethod) -> Bool {
    methods.contains(method) && (self.name == name || snakeName == name)
  }

  /// The name with underscores, the other spelling of proto3 JSON.
  private var snakeName: String {
    name.reduce(into: "") { text, character in
      if character.isUppercase { text += "_" }
      text += character.lowercased()
    }
  }

  /// The parameters of all methods, in the spelling of the messages' members.
  static let all = [
    Self(
      "mask.fieldPaths", .list, [.getDocument, .listDocuments, .createDocument, .updateDocument]),
    Self("updateMask.fieldPaths", .list, [.updateDocument]),
    Self("currentDocument.exists", .flag, [.updateDocument, .deleteDocument]),
    Self("currentDocument.updateTime", .text, [.updateDocument, .deleteDocument]),
    Self("transaction", .text, [.getDocument, .listDocuments]),
    Self("readTime", .text, [.getDocument, .listDocuments]),
    Self("pageSize", .text, [.listDocuments]),
    Self("pageToken", .text, [.listDocuments]),
    Self("orderBy", .text, [.listDocuments]),
    Self("showMissing", .flag, [.listDocuments]),
    Self("documentId", .text, [.createDocument]),
  ]

  private init(_ name: String, _ kind: Kind, _ methods: Set<DocumentMethod>) {
    self.name = name
    self.kind = kind
    self.methods = methods
  }
}
