public import TernCore

/// Turns `Encodable` values into nodes.
///
/// Structures and dictionaries become children, arrays children named `0`, `1` and so on; `nil`
/// becomes absence, and so do empty collections. A `Date` becomes milliseconds since 1970, rounded;
/// `Data` its base64; a `URL` its text; a `UUID` its text; a `Decimal` the double that has it as
/// its
/// shortest text. A number that the tree cannot hold exactly is an error.
public struct TreeEncoder: Sendable {
  /// Makes an encoder; it has nothing to set.
  public init() {}

  /// Encodes one value.
  ///
  /// - Throws: ``TreeCodingError``: what the value's own encoding threw, or the key that the tree
  ///   cannot hold.
  public func encode<Value: Encodable>(_ value: Value) throws(TreeCodingError) -> TreeNode {
    do {
      let encoder = NodeEncoder(codingPath: [])
      try encoder.encode(value)
      return try encoder.box.node()
    } catch let error as TreeError {
      throw .invalid(error)
    } catch {
      throw .encoding(codingErrorText(error))
    }
  }
}

/// The reason a value could not be turned into a node, or a node into a value.
public enum TreeCodingError: Error, Hashable, Sendable {
  /// A key or value breaks a rule of the tree.
  case invalid(TreeError)
  /// The value cannot be encoded; the text says where and why.
  case encoding(String)
  /// The node does not have the shape the type expects; the text says where and why.
  case decoding(String)
}

/// A node under construction.
final class NodeBox {
  enum Content {
    case node(TreeNode)
    case named([(name: String, box: NodeBox)])
    case listed([NodeBox])
  }

  var content = Content.node(.empty)

  func node() throws(TreeError) -> TreeNode {
    switch content {
    case .node(let node):
      return node
    case .named(let members):
      var children: [ChildMap.Element] = []
      // Of members with one name the last one counts, also when nothing is in it.
      var names: Set<ExactText> = []
      for member in members.reversed() where names.insert(ExactText(member.name)).inserted {
        children.append((key: try TreeKey(member.name), node: try member.box.node()))
      }
      return TreeNode(children: ChildMap(unsorted: children))
    case .listed(let elements):
      var children: [ChildMap.Element] = []
      for (index, box) in elements.enumerated() {
        children.append((key: try TreeKey(String(index)), node: try box.node()))
      }
      return TreeNode(children: ChildMap(unsorted: children))
    }
  }

  /// A member; of those with one name the last one counts.
  func add(named name: String) -> NodeBox {
    let box = NodeBox()
    var members: [(name: String, box: NodeBox)] = []
    if case .named(let known) = content {
      members = known
      content = .listed([])
    }
    members.append((name, box))
    content = .named(members)
    return box
  }

  func addListed() -> NodeBox {
    let box = NodeBox()
    var elements: [NodeBox] = []
    if case .listed(let known) = content {
      elements = known
      content = .named([])
    }
    elements.append(box)
    content = .listed(elements)
    return box
  }

  var listedCount: Int {
    if case .listed(let elements) = content { elements.count } else { 0 }
  }
}

/// The encoder of one node.
struct NodeEncoder: Encoder {
  let box: NodeBox
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(codingPath: [any CodingKey], box: NodeBox = NodeBox()) {
    self.box = box
    self.codingPath = codingPath
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(NamedEncoding<Key>(box: box, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ListedEncoding(box: box, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension NodeEncoder: SingleValueEncodingContainer {
  func encodeNil() { box.content = .node(.empty) }

  func encode(_ value: Bool) { put(.bool(value)) }
  func encode(_ value: String) { put(.string(value)) }
  func encode(_ value: Double) throws { try put(double: value) }
  func encode(_ value: Float) throws { try put(double: Double(value)) }
  func encode(_ value: Int) { put(integer: value) }
  func encode(_ value: Int8) { put(integer: value) }
  func encode(_ value: Int16) { put(integer: value) }
  func encode(_ value: Int32) { put(integer: value) }
  func encode(_ value: Int64) { put(integer: value) }
  func encode(_ value: UInt) throws { try put(unsigned: value) }
  func encode(_ value: UInt8) { put(integer: value) }
  func encode(_ value: UInt16) { put(integer: value) }
  func encode(_ value: UInt32) { put(integer: value) }
  func encode(_ value: UInt64) throws { try put(unsigned: value) }

  func encode<Value: Encodable>(_ value: Value) throws {
    guard let coded = value as? any TreeCoded else {
      // On the way down, before the stack runs out: no path is longer.
      guard codingPath.count <= TreeLimits.pathSegments else {
        throw TreeError.tooDeep(count: codingPath.count, limit: TreeLimits.pathSegments)
      }
      return try value.encode(to: self)
    }
    guard let scalar = coded.treeScalar() else { throw inexact(value) }
    put(scalar)
  }

  private func inexact(_ value: Any) -> EncodingError {
    .invalidValue(
      value,
      .init(codingPath: codingPath, debugDescription: "the tree holds no number that is \(value)"))
  }

  private func put(_ scalar: TreeScalar) { box.content = .node(TreeNode(scalar)) }

  private func put(double value: Double) throws {
    guard value.isFinite else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "\(TreeError.notFinite)"))
    }
    put(.double(value))
  }

  private func put(integer value: some BinaryInteger) { put(.integer(Int64(value))) }

  private func put(unsigned value: some BinaryInteger) throws {
    if let integer = Int64(exactly: value) { return put(.integer(integer)) }
    guard let double = Double(exactly: value) else { throw inexact(value) }
    put(.double(double))
  }
}
