import Foundation

/// What Package.swift declares, as far as the rules need it.
struct Manifest {
  struct Target {
    let name: String
    /// Its folder, relative to the repository.
    let path: String
    /// Names of targets and of other packages' products it may import.
    let dependencies: [String]
    let isSystemLibrary: Bool
  }

  /// In the order of the manifest: lowest layer first.
  let targets: [Target]

  /// The target whose folder holds `file`.
  func target(of file: String) -> Target? {
    targets.first { file.hasPrefix($0.path + "/") }
  }

  /// The name under which code imports a target: what is not a letter becomes `_`.
  static func moduleName(_ target: String) -> String {
    target.replacing("-", with: "_")
  }
}

extension Manifest {
  /// Asks the package manager, so that nothing here needs to understand a manifest.
  static func load(in repository: String) throws -> Manifest {
    let result = try Command.run(
      ["swift", "package", "--scratch-path", ".build/tidy", "dump-package"], in: repository)
    guard result.status == 0 else { throw Command.Failure(description: result.errors) }
    return try Manifest(dump: Data(result.output.utf8))
  }

  init(dump: Data) throws {
    let package = try JSONDecoder().decode(Dump.self, from: dump)
    targets = package.targets.map { target in
      Target(
        name: target.name, path: target.path ?? "Sources/\(target.name)",
        dependencies: target.dependencies.map(\.name),
        isSystemLibrary: target.type == "system")
    }
  }

  private struct Dump: Decodable {
    struct Target: Decodable {
      let name: String
      let path: String?
      let type: String
      let dependencies: [Dependency]
    }
    let targets: [Target]
  }

  /// One dependency: `{"byName": ["X", null]}`, `{"product": ["X", "package", …]}`.
  private struct Dependency: Decodable {
    let name: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Kind.self)
      guard let kind = container.allKeys.first else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "an unknown dependency"))
      }
      var parts = try container.nestedUnkeyedContainer(forKey: kind)
      name = try parts.decode(String.self)
    }

    private enum Kind: String, CodingKey { case byName, product, target }
  }
}
