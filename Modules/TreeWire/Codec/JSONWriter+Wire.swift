import TernCore
import TernQuery

extension JSONWriter {
  /// Writes a control message around its data.
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
  mutating func data(_ members: (inout JSONWriter) -> Void) {
    beginObject()
    member("t", "d")
    key("d")
    beginObject()
    members(&self)
    endObject()
    endObject()
  }

  mutating func member(_ name: String, _ text: String) {
    key(name)
    string(text)
  }

  mutating func member(_ name: String, _ number: some BinaryInteger) {
    key(name)
    integer(number)
  }

  mutating func emptyObject() {
    beginObject()
    endObject()
  }

  /// Writes a path as clients spell it: with a slash in front.
  mutating func path(_ path: TreePath) {
    member("p", path.isRoot ? "/" : "/" + path.text)
  }

  mutating func node(_ node: TreeNode) {
    key("d")
    node.write(to: &self, .export)
  }

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
  mutating func query(_ query: TreeQuery, _ tag: Int64?) {
    if !query.loadsAllData {
      key("q")
      query.write(to: &self)
    }
    if let tag { member("t", tag) }
  }
}

/// The text form of a write stream's id: 32 hexadecimal digits.
enum StreamID {
  static func text(_ stream: UInt128) -> String {
    let digits = String(stream, radix: 16)
    return String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  static func parse(_ text: String) -> UInt128? {
    // A sign in front is none of the digits.
    guard text.utf8.count == 32, text.first?.isHexDigit == true else { return nil }
    return UInt128(text, radix: 16)
  }
}
