import Foundation
import TernCore
import Testing

/// The package as its manifest describes it: targets, and which of them others need.
struct PackageManifest {
  /// The platforms for which a lowest version is named.
  let platforms: Set<String>
  private let targets: [String: JSONValue]
  /// The traits that are on unless an app says otherwise.
  let traits: Set<String>
  private let folder: String

  /// Reads the manifest of this package, as the package manager does.
  static func load() throws -> PackageManifest {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    let scratch = FileManager.default.temporaryDirectory
      .appendingPathComponent("tern-manifest-\(ProcessInfo.processInfo.globallyUniqueString)").path
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // The run that this test belongs to has the lock of the usual folder.
    process.arguments = [
      "swift", "package", "--package-path", root, "--scratch-path", scratch, "dump-package",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let json = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "swift package dump-package failed")
    return try PackageManifest(json: String(decoding: json, as: UTF8.self), folder: root)
  }

  init(json text: String, folder: String) throws {
    self.folder = folder
    let json = try JSONValue(parsing: text)
    platforms = Set(json["platforms"].elements.compactMap { $0["platformName"]?.text })
    var traits: [String: [String]] = [:]
    for trait in json["traits"].elements {
      guard let name = trait["name"]?.text else { continue }
      traits[name] = trait["enabledTraits"].elements.compactMap(\.text)
    }
    var enabled: Set<String> = []
    var waiting = traits["default"] ?? []
    while let next = waiting.popLast() {
      if enabled.insert(next).inserted { waiting += traits[next] ?? [] }
    }
    self.traits = enabled
    targets = Dictionary(
      json["targets"].elements.compactMap { target in
        target["name"]?.text.map { ($0, target) }
      }, uniquingKeysWith: { first, _ in first })
    try #require(!targets.isEmpty)
  }

  /// The targets of this package that one needs on a platform, itself included.
  func closure(of target: String, on platform: String) -> Set<String> {
    var known: Set<String> = []
    var waiting = [target]
    while let name = waiting.popLast() {
      guard let target = targets[name], known.insert(name).inserted else { continue }
      for dependency in target["dependencies"].elements {
        // A product of another package names a package here; it has no system libraries of ours.
        guard let parts = dependency["byName"] ?? dependency["target"],
          let name = parts.elements.first?.text,
          holds(parts.elements.last ?? .null, on: platform)
        else { continue }
        waiting.append(name)
      }
    }
    return known
  }

  private func holds(_ condition: JSONValue, on platform: String) -> Bool {
    let platforms = condition["platformNames"].elements.compactMap(\.text)
    let wanted = condition["traits"].elements.compactMap(\.text)
    return (platforms.isEmpty || platforms.contains(platform))
      && (wanted.isEmpty || !traits.isDisjoint(with: wanted))
  }

  /// Those of some targets that are libraries of the system.
  func systemLibraries(in names: Set<String>) -> [String] {
    names.filter { targets[$0]?["type"]?.text == "system" }.sorted()
  }

  /// The files of a target that are not for a platform or its extensions, as their text says.
  func withheldFrom(_ platform: String, _ target: String) throws -> [String] {
    guard let path = targets[target]?["path"]?.text else { return [] }
    let files = FileManager.default.enumerator(
      at: URL(fileURLWithPath: folder).appendingPathComponent(path),
      includingPropertiesForKeys: nil)
    var found: [String] = []
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let text = try String(contentsOf: file, encoding: .utf8).lowercased()
      let marks = [
        "\(platform), unavailable", "\(platform)applicationextension", "!os(\(platform))",
      ]
      if marks.contains(where: text.contains) { found.append(file.lastPathComponent) }
    }
    return found
  }
}

extension JSONValue? {
  /// The elements of an array; none for anything else.
  fileprivate var elements: [JSONValue] { self?.elements ?? [] }
}

extension JSONValue {
  fileprivate var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }
}
