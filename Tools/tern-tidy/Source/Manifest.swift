import Foundation

/// The part of Package.swift that the rules need.
struct Manifest: Sendable {
  struct Target: Sendable {
    let name: String
    /// Its folder, relative to the repository.
    let path: String
    /// Names of targets and of other packages' products it may import.
    let dependencies: [String]
    let isSystemLibrary: Bool
    var isProgram = false
  }

  struct Library: Sendable {
    let name: String
    let targets: [String]
  }

  /// In the order of the manifest: lowest layer first.
  let targets: [Target]
  var libraries: [Library] = []

  /// The target whose folder holds `file`.
  func target(of file: String) -> Target? {
    targets.first { file.hasPrefix($0.path + "/") }
  }

  func target(named name: String) -> Target? {
    targets.first { $0.name == name }
  }

  /// Everything that `name` depends on, with the targets in between; none for its own dependencies.
  func reach(of name: String) -> [(module: String, way: [String])] {
    var found: [(module: String, way: [String])] = []
    var seen: Set = [name]
    var open = [(name, [String]())]
    while !open.isEmpty {
      let (next, way) = open.removeFirst()
      for dependency in target(named: next)?.dependencies ?? []
      where seen.insert(dependency).inserted {
        found.append((dependency, way))
        open.append((dependency, way + [dependency]))
      }
    }
    return found
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
      [
        "env", "-u", "TERN_ONLY", "swift", "package", "--scratch-path", ".build/tidy",
        "dump-package",
      ],
      in: repository)
    guard result.status == 0 else { throw Command.Failure(description: result.errors) }
    return try Manifest(dump: Data(result.output.utf8))
  }

  init(dump: Data) throws {
    let package = try JSONDecoder().decode(Dump.self, from: dump)
    targets = package.targets.map { target in
      Target(
        name: target.name, path: target.path ?? "Sources/\(target.name)",
        dependencies: target.dependencies.map(\.name),
        isSystemLibrary: target.type == "system", isProgram: target.type == "executable")
    }
    libraries = package.products.filter(\.isLibrary).map {
      Library(name: $0.name, targets: $0.targets)
    }
  }

  private struct Dump: Decodable {
    struct Target: Decodable {
      let name: String
      let path: String?
      let type: String
      let dependencies: [Dependency]
    }
    struct Product: Decodable {
      let name: String
      let targets: [String]
      let isLibrary: Bool

      enum CodingKeys: CodingKey { case name, targets, type }
      /// `{"library": ["automatic"]}` or `{"executable": null}`.
      enum Kind: CodingKey { case library }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        targets = try container.decode([String].self, forKey: .targets)
        isLibrary = try container.nestedContainer(keyedBy: Kind.self, forKey: .type)
          .contains(.library)
      }
    }
    let targets: [Target]
    let products: [Product]
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
