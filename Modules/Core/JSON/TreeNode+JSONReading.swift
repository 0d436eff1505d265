extension TreeNode {
  /// The reader's treatment of names that begin with a dot and have no meaning.
  ///
  /// The difference concerns members of objects only; text that is not JSON is an error in both.
  package enum Reading: Sendable {
    /// They are an error, as in what users write.
    case strict
    /// They are left out, as in what a newer server may send.
    case tolerant
  }

  /// Reads a node from JSON text, in export or value form.
  ///
  /// `.priority`, `.value` and `.sv` have their meaning; arrays become children named by index;
  /// `null`, empty objects and empty arrays are empty nodes.
  /// - Throws: ``TreeError``: what is wrong with the text, a key, a priority or a leaf.
  /// - Complexity: O(*n*). Source: realtime reference, section 1.2.
  public init(json: [UInt8]) throws(TreeError) {
    var reader = JSONReader(json)
    try self.init(reading: &reader)
    do throws(JSONError) { try reader.finish() } catch { throw .json(error) }
  }

  /// Reads a node from JSON text, in export or value form.
  public init(json: String) throws(TreeError) {
    try self.init(json: Array(json.utf8))
  }

  /// Reads the next value of `reader` as a node.
  package init(
    reading reader: inout JSONReader, _ reading: Reading = .strict
  ) throws(TreeError) {
    var parser = TreeNodeParser(reading)
    self = try parser.node(&reader)
  }
}

/// Builds nodes from JSON; children wait on one shared stack until their object ends.
///
/// One shared stack saves an array for each object that grows while its children are read. Depth is
/// bounded by the reader.
private struct TreeNodeParser {
  private let reading: TreeNode.Reading
  /// The children of all open objects, those of the innermost last.
  private var stack: [ChildMap.Element] = []

  init(_ reading: TreeNode.Reading) {
    self.reading = reading
  }

  /// Reads one value. `null` is an empty node, which the caller leaves out.
  mutating func node(_ reader: inout JSONReader) throws(TreeError) -> TreeNode {
    do throws(JSONError) {
      switch try reader.peek() {
      case .string: return TreeNode(.string(try reader.string()))
      case .number: return TreeNode(try reader.number())
      case .bool, .null: return try reader.boolOrNull().map { TreeNode(.bool($0)) } ?? .empty
      case .object, .array: break
      }
    } catch {
      throw .json(error)
    }
    return try container(&reader)
  }

  /// Reads an object or array. Of children with one name, the last that is not empty counts.
  private mutating func container(_ reader: inout JSONReader) throws(TreeError) -> TreeNode {
    let base = stack.count
    var members = DottedMembers()
    var isSorted = true
    do throws(JSONError) {
      if try reader.peek() == .array {
        try reader.beginArray()
      } else {
        try reader.beginObject()
        members.isObject = true
      }
    } catch {
      throw .json(error)
    }
    var index = 0
    while let name = try nextName(&reader, members.isObject, index) {
      index += 1
      if name.utf8.first == UInt8(ascii: ".") {
        try readDotted(name, &reader, &members)
        continue
      }
      let key = try TreeKey(name)
      let child = try node(&reader)
      // The last of equal names counts, also when it says that there is nothing.
      if child.isEmpty, isSorted, stack.count == base || stack[stack.count - 1].key < key {
        continue
      }
      if stack.count > base, !(stack[stack.count - 1].key < key) { isSorted = false }
      stack.append((key, child))
    }
    let elements = Array(stack[base...])
    stack.removeSubrange(base...)
    return try members.assemble(
      isSorted ? ChildMap(sorted: elements) : ChildMap(unsorted: elements), reading)
  }

  /// Returns the name of the next member or the index of the next element; `nil` at the end.
  private func nextName(
    _ reader: inout JSONReader, _ isObject: Bool, _ index: Int
  ) throws(TreeError) -> String? {
    let name: String?
    let before = reader.loneSurrogates
    do throws(JSONError) {
      if isObject {
        name = try reader.nextKey()
      } else {
        name = try reader.nextElement() ? String(index) : nil
      }
    } catch {
      throw .json(error)
    }
    // Two such keys of the text could be one key here.
    if reading == .strict, reader.loneSurrogates > before { throw .invalidKey(name ?? "") }
    return name
  }

  /// Reads a member whose name begins with a dot; children cannot have such names.
  private mutating func readDotted(
    _ name: String, _ reader: inout JSONReader, _ members: inout DottedMembers
  ) throws(TreeError) {
    switch name {
    case ".value": members.value = try node(&reader)
    case ".priority": members.priority = try node(&reader)
    case ".sv": members.serverValue = try serverValue(&reader)
    default:
      if reading == .strict { throw .invalidKey(name) }
      do throws(JSONError) { try reader.skip() } catch { throw .json(error) }
    }
  }

  /// Reads the value of `.sv`.
  ///
  /// - Throws: ``TreeError/invalidServerValue`` for everything but the two forms.
  private func serverValue(_ reader: inout JSONReader) throws(TreeError) -> TreeServerValue {
    let value: JSONValue
    do throws(JSONError) { value = try reader.value() } catch { throw .json(error) }
    switch value {
    case .string("timestamp"): return .timestamp
    case .object(let members) where members.count == 1 && members[0].name == "increment":
      switch members[0].value {
      case .integer(let delta): return .increment(.integer(delta))
      case .double(let delta): return .increment(.double(delta))
      case .null, .bool, .string, .array, .object: throw .invalidServerValue
      }
    case .null, .bool, .integer, .double, .string, .array, .object: throw .invalidServerValue
    }
  }
}

/// The members of one object that do not name children.
private struct DottedMembers {
  var isObject = false
  var value: TreeNode?
  var priority: TreeNode = .empty
  var serverValue: TreeServerValue?

  /// Puts the node together.
  ///
  /// `.sv` takes precedence over `.value`, and either over children; in strict reading such
  /// mixtures are errors. A priority on an empty node is dropped.
  ///
  /// - Throws: ``TreeError/invalidServerValue``, ``TreeError/invalidLeaf`` or
  ///   ``TreeError/invalidPriority``.
  func assemble(_ children: ChildMap, _ reading: TreeNode.Reading) throws(TreeError) -> TreeNode {
    let content: TreeNode
    if let serverValue {
      if reading == .strict, !children.isEmpty || value != nil { throw .invalidServerValue }
      content = TreeNode(.serverValue(serverValue))
    } else if let value {
      guard !value.hasChildren, value.priority == nil else { throw .invalidLeaf }
      if reading == .strict, !children.isEmpty { throw .invalidLeaf }
      content = value
    } else {
      content = TreeNode(children: children)
    }
    if priority.isEmpty { return content }
    guard let scalar = priority.scalar, scalar.isValidPriority, priority.priority == nil else {
      throw .invalidPriority
    }
    return content.withPriority(scalar)
  }
}
