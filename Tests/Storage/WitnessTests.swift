import Foundation
import TernStorage
import Testing

@Suite("the witness beside a store")
struct WitnessTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/witness" }

  init() throws {
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
  }

  @Test("the last payload written is read, by a later opening too")
  func lastPayload() throws {
    let witness = Witness(path: path)
    #expect(witness.read() == nil)
    for length in [48, 0, 3] {
      let payload = (0..<UInt8(length)).map { $0 + 1 }
      witness.write(payload)
      #expect(witness.read() == payload)
      #expect(Witness(path: path).read() == payload)
    }
    // The example of Docs/Formats/storage-witness.md.
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
    #expect(Array(bytes.prefix(16)) == Array("TernWit".utf8) + [1, 3, 0, 0, 0, 1, 2, 3, 0])
    #expect(bytes.count == 64)
    #expect(Array(bytes.suffix(4)) == Self.exampleSum)
    witness.remove()
    #expect(witness.read() == nil)
    witness.write([7])
    #expect(witness.read() == [7])
  }

  static let exampleSum: [UInt8] = [0x08, 0xD4, 0xBF, 0xCF]

  @Test("a witness with a flipped bit, or of another length, proves nothing")
  func damage() throws {
    Witness(path: path).write([1, 2, 3])
    let url = URL(filePath: path)
    let whole = try Data(contentsOf: url)
    for bit in stride(from: 0, to: whole.count * 8, by: 7) {
      var data = whole
      data[bit / 8] ^= 1 << (bit % 8)
      try data.write(to: url)
      #expect(Witness(path: path).read() == nil, "bit \(bit)")
    }
    for length in [0, 1, 12, 63] {
      try whole.prefix(length).write(to: url)
      #expect(Witness(path: path).read() == nil, "\(length) bytes")
    }
    try (whole + [0]).write(to: url)
    #expect(Witness(path: path).read() == nil)
    try whole.write(to: url)
    #expect(Witness(path: path).read() == [1, 2, 3])
  }

  @Test("a store's directory is made with its parents, however its path is written")
  func parents() throws {
    for path in ["/a/b/c", "/d//e/", "/f/./g"] {
      let made = try StoreDirectory(path: directory.path + path)
      try made.make("file")
      #expect(made.holds("file"))
    }
    _ = try StoreDirectory(path: directory.path)
  }
}
