import TernCore
import TernQuery

extension JSONWriter {
  /// Writes a control message around its data.
  ///
  /// - Parameters:
  ///   - type: The letter of the message, such as `o` for an opening.
  ///   - data: Writes exactly one value.
  mutating func control(_ type: String, _ data: (inout JSONWriter) -> Void) {
    beginObject()
    member("t", "c")
    key("d")
    beginObject()
    member("t", type)
    key("d")
    data(&self)
    endObject()
    endObject()
  }

  /// Writes a data message around its members.
  ///
  /// - Parameter members: Writes the members of the inner object.
  mutating func data(_ members: (inout JSONWriter) -> Void) {
    beginObject()
    member("t", "d")
    key("d")
    beginObject()
    members(&self)
    endObject()
    endObject()
  }

  /// Writes a member whose value is a string.
  mutating func member(_ name: String, _ text: String) {
    key(name)
    string(text)
  }

  /// Writes a member whose value is a whole number.
  mutating func member(_ name: String, _ number: some BinaryInteger) {
    key(name)
    integer(number)
  }

  /// Writes `{}`, the data of a message that has none.
  mutating func emptyObject() {
    beginObject()
    endObject()
  }

  /// Writes a path as clients spell it: with a slash in front.
  ///
  /// Pushes of a server have no slash in front; see ``TreeServerMessage``.
  mutating func path(_ path: TreePath) {
    member("p", path.isRoot ? "/" : "/" + path.text)
  }

  /// Writes the member `d` with a node in its export form, priorities included.
  mutating func node(_ node: TreeNode) {
    key("d")
    node.write(to: &self, .export)
  }

  /// Writes the member `d` with an object of relative paths and nodes.
  mutating func merge(_ merge: TreeMerge) {
    key("d")
    beginObject()
    for entry in merge.entries {
      key(entry.path.text)
      entry.node.write(to: &self, .export)
    }
    endObject()
  }

  /// Writes query and tag of a filtered listen; a listen to everything has neither.
  ///
  /// - Parameter tag: Chosen by the client, and repeated in pushes for the listen.
  mutating func query(_ query: TreeQuery, _ tag: Int64?) {
    if !query.loadsAllData {
      key("q")
      query.write(to: &self)
    }
    if let tag { member("t", tag) }
  }
}

/// The text form of a write stream's id: 32 hexadecimal digits.
///
/// The digits are lower case, the most significant first. Reading accepts upper case as well.
enum StreamID {
  /// Returns the digits, padded with zeros.
  static func text(_ stream: UInt128) -> String {
    let digits = String(stream, radix: 16)
    return String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  /// - Returns: `nil` for any text other than 32 digits.
  static func parse(_ text: String) -> UInt128? {
    // A sign in front is none of the digits.
    guard text.utf8.count == 32, text.first?.isHexDigit == true else { return nil }
    return UInt128(text, radix: 16)
  }
}
