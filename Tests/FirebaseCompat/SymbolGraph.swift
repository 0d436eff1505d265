import Foundation

/// The public declarations of a built module, as the compiler tells them.
struct SymbolGraph {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The number of declarations by name: the type, the member with its labels, `async`.
  ///
  /// A parameter with a default value may be left out, so that a declaration has several names; and
  /// a class has the members of the class above it.
  private(set) var names: [String: Int] = [:]

  /// Extracts the declarations of modules that were built with these tests.
  static func extract(_ modules: [String]) throws -> SymbolGraph {
    var graph = SymbolGraph()
    for module in modules { try graph.add(module) }
    return graph
  }

  private struct File: Decodable {
    struct Fragment: Decodable { var spelling: String }
    struct Identifier: Decodable { var precise: String }
    struct Symbol: Decodable {
      var identifier: Identifier
      var pathComponents: [String]
      var declarationFragments: [Fragment]?
    }
    struct Relationship: Decodable {
      var kind: String
      var source: String
      var target: String
    }
    var symbols: [Symbol]
    var relationships: [Relationship]
  }

  private mutating func add(_ module: String) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("tern-symbols-\(ProcessInfo.processInfo.globallyUniqueString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let build = try Self.buildFolder()
    var arguments = [
      "swift", "symbolgraph-extract", "-module-name", module, "-I", build + "/Modules", "-target",
      try Self.triple(), "-minimum-access-level", "public", "-skip-synthesized-members",
      "-output-dir", folder.path,
    ]
    for map in Self.moduleMaps(build) { arguments += ["-Xcc", "-fmodule-map-file=" + map] }
    _ = try Self.run(arguments)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let data = try Data(contentsOf: folder.appendingPathComponent(name))
      add(try JSONDecoder().decode(File.self, from: data), of: module)
    }
  }

  private mutating func add(_ file: File, of module: String) {
    let own = module == "TernFirebaseCompat" ? [] : [module]
    var members: [String: [String]] = [:]
    var types: [String: String] = [:]
    for symbol in file.symbols {
      let text = (symbol.declarationFragments ?? []).map(\.spelling).joined()
      let suffix = text.contains(") async") ? " async" : ""
      let owner = own + symbol.pathComponents.dropLast()
      let last = symbol.pathComponents.last ?? ""
      for name in Self.callable(last, text) {
        names[(owner + [name]).joined(separator: ".") + suffix, default: 0] += 1
        members[owner.joined(separator: "."), default: []].append(name + suffix)
      }
      types[symbol.identifier.precise] = symbol.pathComponents.joined(separator: ".")
    }
    for relation in file.relationships where relation.kind == "inheritsFrom" {
      guard let child = types[relation.source], let parent = types[relation.target] else {
        continue
      }
      for member in members[parent] ?? [] {
        let name = child + "." + member
        if names[name] == nil { names[name] = 1 }
      }
    }
  }

  /// The names that a declaration can be called by.
  static func callable(_ name: String, _ declaration: String) -> [String] {
    guard let open = name.firstIndex(of: "("), name.hasSuffix(")") else { return [name] }
    let labels = name[name.index(after: open)...].dropLast().split(separator: ":").map(String.init)
    let base = String(name[..<open])
    guard let start = declaration.range(of: base)?.upperBound else { return [name] }
    let defaulted = parameters(declaration[start...]).map { $0.contains(" = ") }
    guard defaulted.count == labels.count else { return [name] }
    var choices: [[String]] = [[]]
    for (label, mayLack) in zip(labels, defaulted) {
      choices = choices.flatMap { mayLack ? [$0 + [label], $0] : [$0 + [label]] }
    }
    return choices.map { base + "(" + $0.map { $0 + ":" }.joined() + ")" }
  }

  /// The texts between the outermost parentheses, parted at their commas.
  private static func parameters(_ text: Substring) -> [String] {
    var depth = 0
    var parts: [String] = []
    var part = ""
    var before: Character = " "
    for letter in text {
      switch letter {
      case "(", "[", "<":
        depth += 1
        if depth > 1 || letter == "<" { part.append(letter) }
        if depth == 1, letter == "<" { part = "" }
      case ")", "]":
        depth -= 1
        if depth == 0 { return part.isEmpty ? parts : parts + [part] }
        part.append(letter)
      case ">" where before != "-":
        depth -= 1
        part.append(letter)
        if depth == 0 { part = "" }
      case "," where depth == 1:
        parts.append(part)
        part = ""
      default: if depth > 0 { part.append(letter) }
      }
      before = letter
    }
    return parts
  }
}

// MARK: - The compiler

extension SymbolGraph {
  /// The folder of the build that these tests are from.
  private static func buildFolder() throws -> String {
    let arguments = ProcessInfo.processInfo.arguments
    if let bundle = arguments.first(where: { $0.hasSuffix(".xctest") }) {
      return URL(fileURLWithPath: bundle).deletingLastPathComponent().path
    }
    return root.appendingPathComponent(".build/debug").path
  }

  private static var root: URL {
    URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  }

  private static func triple() throws -> String {
    struct Info: Decodable {
      struct Target: Decodable { var triple: String }
      var target: Target
    }
    let data = try run(["swiftc", "-print-target-info"])
    return try JSONDecoder().decode(Info.self, from: data).target.triple
  }

  /// The maps of C modules, of this package and of those it is built with.
  private static func moduleMaps(_ build: String) -> [String] {
    let name = "module.modulemap"
    func entries(_ folder: String) -> [String] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.map { folder + "/" + $0 }
    }
    var candidates = entries(build).filter { $0.hasSuffix(".build") }.map { $0 + "/" + name }
    candidates += entries(root.path + "/Modules").map { $0 + "/" + name }
    let checkouts = URL(fileURLWithPath: build).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("checkouts")
    for package in entries(checkouts.path) {
      candidates += entries(package + "/Sources").map { $0 + "/include/" + name }
    }
    return candidates.filter { FileManager.default.fileExists(atPath: $0) }.sorted()
  }

  private static func run(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let text = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: String(decoding: text, as: UTF8.self))
    }
    return data
  }
}
