import Foundation
import TernKit
import Testing

@Suite("The guide for applications", .timeLimit(.minutes(10)))
struct GuideTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test("every block of code is compiled as it is printed")
  func blocks() throws {
    let guide = try text("Docs/Guides/app.md")
    let code = try text("Tests/Kit/GuideCode.swift").split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { String($0.drop { $0 == " " }) }
    let blocks = guide.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(blocks.count > 10)
    for block in blocks {
      let lines = block.split(separator: "\n").map { String($0.drop { $0 == " " }) }
      #expect(code.windows(of: lines.count).contains(lines), "\(block)")
    }
  }

  @Test("what it says about transactions, codes and presence is so")
  func plays() async throws {
    let home = try await Home()
    let tern = try await home.open()
    try await write(tern)
    #expect(try await starsAndPeople(tern) == 1)
    let (oslo, missing) = try await code(tern)
    #expect(oslo.id == "oslo" && oslo.people == 700_000 && missing == nil)
    let presence = announce(tern)
    let there = try await tern.tree["presence/ann"].values().first { $0["devices/phone"].exists }
    #expect(there != nil)
    presence.cancel()
    try await presence.value
    let gone = try await tern.tree["presence/ann"].values().first { !$0["devices"].exists }
    #expect(gone?["seen"].number != nil)
    await tern.close()
  }

  private func starsAndPeople(_ tern: TernDatabase) async throws -> Int {
    _ = try await code(tern)
    let stars = try await transact(tern)
    #expect(try await tern.documents.document("cities/oslo").get()["people"] == 700_001)
    return stars
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }
}

extension Array {
  /// Every run of that many elements.
  fileprivate func windows(of count: Int) -> [[Element]] {
    indices.dropLast(count - 1).map { Array(self[$0..<$0 + count]) }
  }
}
