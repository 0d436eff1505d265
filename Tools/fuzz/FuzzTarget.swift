/// Something that reads bytes from clients or from a disk.
struct FuzzTarget: Sendable {
  let name: String
  /// The valid inputs: damaged to make others.
  let samples: [[UInt8]]
  /// Words that are useful inside an input.
  var words: [String] = []
  /// Reads an input, and says what was wrong about how it was read; `nil` when nothing was.
  ///
  /// To refuse the input is right; to trap, to be slow, or to read it in two ways is not.
  let check: @Sendable ([UInt8]) -> String?

  init(
    _ name: String, samples: [[UInt8]], words: [String] = [],
    check: @escaping @Sendable ([UInt8]) -> String?
  ) {
    self.name = name
    self.samples = samples
    self.words = words
    self.check = check
  }

  init(
    _ name: String, texts: [String], words: [String] = [],
    check: @escaping @Sendable ([UInt8]) -> String?
  ) {
    self.init(name, samples: texts.map { Array($0.utf8) }, words: words, check: check)
  }

  /// All of them, in the order they take turns in.
  static let all: [FuzzTarget] = [
    .frames, .json, .messages, .http, .webSocket, .http2, .grpc, .rules, .documentRules, .records,
    .queue, .backups, .documents, .documentJSON, .tokens,
  ]

  /// The same bytes in pieces, cut at places that follow from them.
  static func pieces(_ input: [UInt8]) -> [[UInt8]] {
    var dice = FuzzDice(seed: input.reduce(7) { $0 &* 31 &+ UInt64($1) })
    var pieces: [[UInt8]] = []
    var start = 0
    while start < input.count {
      let end = min(input.count, start + 1 + dice.roll(1 << dice.roll(10)))
      pieces.append(Array(input[start..<end]))
      start = end
    }
    return pieces
  }
}
