import TernClient
import TernCore

extension Database {
  /// Turns values into what the tree stores.
  public struct Encoder: Sendable {
    /// An encoder; there is nothing to choose.
    public init() {}

    func encode<Value: Encodable>(_ value: Value) throws -> TreeNode {
      try TreeEncoder().encode(value)
    }
  }

  /// Turns what the tree stores into values.
  public struct Decoder: Sendable {
    /// A decoder; there is nothing to choose.
    public init() {}

    func decode<Value: Decodable>(_ type: Value.Type, from node: TreeNode) throws -> Value {
      try TreeDecoder().decode(type, from: node)
    }
  }
}

extension DatabaseReference {
  /// Replaces everything here with an encoded value.
  ///
  /// - Throws: What the encoder finds wrong with the value, before anything is written.
  public func setValue<Value: Encodable>(
    from value: Value, encoder: Database.Encoder = Database.Encoder(),
    completion: @escaping ((any Error)?) -> Void = { _ in }
  ) throws {
    let node = try encoder.encode(value)
    let path = path
    submit(write { () throws(DatabaseValueError) in .set(path, node) }) { error, _ in
      completion(error)
    }
  }
}
