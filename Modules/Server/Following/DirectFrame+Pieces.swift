import TernCore

// Large data come in any number of frames, each with a piece of their text, and one that ends them.
extension DirectFrame {
  /// The meaning of a frame that answers a request for data in pieces.
  enum Piece {
    /// The next bytes of the text.
    case bytes([UInt8])
    /// That was all.
    case end
    /// There will be no more, and it was not all.
    case refused(DirectRefusal)
  }

  /// Returns a frame with a piece.
  static func piece(_ bytes: [UInt8], _ number: UInt64) -> [UInt8] {
    DirectFrame(.answer, number, [.init("is", .string("piece"))], tail: bytes).encodedShort()
  }

  /// Returns the frame behind the last piece.
  static func lastPiece(_ number: UInt64) -> [UInt8] {
    DirectFrame(.answer, number, [.init("is", .string("end"))]).encodedShort()
  }

  /// Reads an answer to a request for data in pieces.
  ///
  /// - Throws: ``DirectFrameError/malformed(_:)`` for other answers.
  func piece() throws(DirectFrameError) -> Piece {
    switch try text("is") {
    case "piece": return .bytes(tail)
    case "end": return .end
    default:
      guard case .refused(let refusal) = try answer() else { throw .malformed("no piece") }
      return .refused(refusal)
    }
  }

  /// The form of the text that a request for data in pieces asks for; `nil` for other requests.
  var pieceForm: TreeNode.JSONForm? {
    guard head["op"] == .string(OperationName.pieces.rawValue) else { return nil }
    return head["form"] == .string("export") ? .export : .value
  }
}
