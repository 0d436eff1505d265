import Foundation
import TernStorage
import TernStorageSQLite
import TernTestKit
import Testing

/// The number of flips of each kind; the environment variable `TERN_FLIPS` asks for more.
private let flips = ProcessInfo.processInfo.environment["TERN_FLIPS"].flatMap { Int($0) } ?? 40
private let seed =
  ProcessInfo.processInfo.environment["TERN_SEED"].flatMap { UInt64($0) }
  ?? UInt64.random(in: 1..<1_000_000)

/// One bit of a closed store is turned: every read is right, or an error.
@Suite("a flipped bit")
struct FlipTests {
  /// The bits to choose from.
  enum Target: String, CaseIterable, CustomTestStringConvertible {
    case anywhere, keys, pointers, pageHeaders, logFrames, logHeaders

    var testDescription: String { rawValue }
  }

  @Test("no wrong value, and none missing", arguments: Target.allCases, [false, true])
  func flip(target: Target, isKilled: Bool) throws {
    let image = try StoreImage.make(isKilled: isKilled, seed: seed)
    var generator = SeededGenerator(seed: seed &+ UInt64(isKilled ? 1 : 0))
    let places = Self.places(target, in: image)
    if places.isEmpty { return #expect(!isKilled, "a killed store has a log") }
    let directory = TemporaryDirectory()
    var (right, errors) = (0, 0)
    for _ in 0..<flips {
      guard let place = places.randomElement(using: &generator) else { break }
      let offset = Int.random(in: place.bytes, using: &generator)
      let bit = Int.random(in: 0..<8, using: &generator)
      var flipped = image
      flipped.files[place.file]?[offset] ^= 1 << bit
      try flipped.write(to: directory.path)
      switch ImageOutcome.read(directory.path, image.rows) {
      case .right: right += 1
      case .error: errors += 1
      case .wrong(let what):
        Issue.record("bit \(bit) of byte \(offset) of \(place.file), seed \(seed): \(what)")
      }
    }
    let state = isKilled ? "killed" : "stopped"
    print("flips, \(target), \(state), seed \(seed): \(right) right, \(errors) errors")
  }

  private struct Place {
    var file: String
    var bytes: Range<Int>
  }

  private static let database = "rows.sqlite"
  private static let log = "rows.sqlite-wal"

  private static func places(_ target: Target, in image: StoreImage) -> [Place] {
    let data = image.files[database] ?? Data()
    let frames = image.files[log].map { stride(from: 32, to: $0.count, by: 4_120).map { $0 } } ?? []
    switch target {
    case .anywhere:
      return image.files.filter { !$0.value.isEmpty }
        .flatMap { file in
          stride(from: 0, to: file.value.count, by: 4_096).map { start in
            Place(file: file.key, bytes: start..<min(start + 4_096, file.value.count))
          }
        }.sorted { ($0.file, $0.bytes.lowerBound) < ($1.file, $1.bytes.lowerBound) }
    case .keys:
      var places: [Place] = []
      var from = data.startIndex
      while let found = data.range(of: Data("key-".utf8), in: from..<data.endIndex) {
        places.append(Place(file: database, bytes: found))
        from = found.upperBound
      }
      return places
    case .pointers, .pageHeaders:
      return stride(from: 0, to: data.count, by: 4_096).compactMap { page in
        let start = page == 0 ? 100 : page
        guard [2, 5, 10, 13].contains(data[start]) else { return nil }
        let header = start + (data[start] < 10 ? 12 : 8)
        let cells = Int(data[start + 3]) << 8 | Int(data[start + 4])
        guard target == .pointers else { return Place(file: database, bytes: start..<header) }
        return cells == 0
          ? nil : Place(file: database, bytes: header..<(header + min(cells, 500) * 2))
      }
    case .logFrames:
      return frames.map { Place(file: log, bytes: $0..<($0 + 24)) }
    case .logHeaders:
      return frames.isEmpty ? [] : [Place(file: log, bytes: 0..<32)]
    }
  }

  @Test("a page with more than one wrong bit is an error, and all others are read")
  func page() throws {
    let image = try StoreImage.make(isKilled: false, seed: 7)
    let directory = TemporaryDirectory()
    var broken = image
    let places = Self.places(.pointers, in: image)
    let place = try #require(places.last)
    broken.files[place.file]?[place.bytes.lowerBound] ^= 3
    try broken.write(to: directory.path)
    #expect(ImageOutcome.read(directory.path, image.rows) == .error)
    let store = try SQLiteStore(path: directory.path)
    #expect(image.rows.contains { (try? store.get($0.key)) == $0.value })
    let inspection = try store.verify()
    #expect(inspection.found.contains { if case .page = $0.place { true } else { false } })
  }

  @Test("verifying finds a flipped bit, and sets it right")
  func healing() throws {
    let image = try StoreImage.make(isKilled: false, seed: 8)
    let directory = TemporaryDirectory()
    var broken = image
    let place = try #require(Self.places(.keys, in: image).first)
    broken.files[place.file]?[place.bytes.lowerBound] ^= 1
    try broken.write(to: directory.path)
    let store = try SQLiteStore(path: directory.path)
    let first = try store.verify()
    #expect(first.foundCount == 1)
    #expect(first.rows == image.rows.count)
    #expect(try store.verify().isWell)
    store.close()
    #expect(ImageOutcome.read(directory.path, image.rows) == .right)
  }

  @Test("a log that is cut off or gone after a kill is an error", arguments: [0, 32, 5_000, nil])
  func cutLog(length: Int?) throws {
    var image = try StoreImage.make(isKilled: true, seed: 9)
    if let length {
      image.files[Self.log]?.removeSubrange(length...)
    } else {
      image.files[Self.log] = nil
    }
    let directory = TemporaryDirectory()
    try image.write(to: directory.path)
    #expect(ImageOutcome.read(directory.path, image.rows) == .error)
  }

  @Test("flips in a relaxed store that was killed", arguments: [Target.logFrames, .anywhere])
  func relaxed(target: Target) throws {
    let image = try StoreImage.make(isKilled: true, seed: seed, .relaxed)
    var generator = SeededGenerator(seed: seed)
    let places = Self.places(target, in: image)
    let directory = TemporaryDirectory()
    for _ in 0..<flips {
      guard let place = places.randomElement(using: &generator) else { break }
      let offset = Int.random(in: place.bytes, using: &generator)
      var flipped = image
      flipped.files[place.file]?[offset] ^= 1 << Int.random(in: 0..<8, using: &generator)
      try flipped.write(to: directory.path)
      if case .wrong(let what) = ImageOutcome.read(directory.path, image.rows, .relaxed) {
        Issue.record("byte \(offset) of \(place.file), seed \(seed): \(what)")
      }
    }
  }
}
