import Foundation
import Testing

@Suite struct AvailabilityTests {
  @Test("R43 no module is withheld from an App Clip or a watch")
  func everywhere() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let modules = root.appendingPathComponent("Modules")
    let files = FileManager.default.enumerator(at: modules, includingPropertiesForKeys: nil)
    var count = 0
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      count += 1
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(!text.contains("unavailable)"), "\(file.lastPathComponent)")
      #expect(!text.contains("ApplicationExtension"), "\(file.lastPathComponent)")
      #expect(!text.contains("APPCLIP"), "\(file.lastPathComponent)")
    }
    #expect(count > 100)
    let manifest = try String(
      contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
    for platform in [".macOS(", ".iOS(", ".tvOS(", ".watchOS(", ".visionOS("] {
      #expect(manifest.contains(platform))
    }
  }
}
