/// Limits on the length of files, functions, properties, closures and types.
enum LengthRules {
  static let fileLines = 400
  /// The manifest cannot be split.
  static let manifestLines = 500
  static let functionLines = 70
  static let typeLines = 600

  static func check(_ file: SourceFile) -> [Finding] {
    var findings = longBodies(in: file)
    let limit = file.path == "Package.swift" ? manifestLines : fileLines
    if file.lines.count > limit {
      findings.append(
        Finding(
          file: file.path, line: limit + 1, rule: "file-length",
          message: "\(file.lines.count) lines, at most \(limit)"))
    }
    return findings
  }

  /// The median length of `files`, in lines; 0 for none.
  static func median(of files: [SourceFile]) -> Int {
    let lengths = files.map(\.lines.count).sorted()
    return lengths.isEmpty ? 0 : lengths[lengths.count / 2]
  }

  private static func longBodies(in file: SourceFile) -> [Finding] {
    file.outline.bodies.compactMap { body in
      guard body.length > functionLines else { return nil }
      return Finding(
        file: file.path, line: body.line + 1, rule: "function-length",
        message: "\(body.name) has \(body.length) lines, at most \(functionLines)")
    }
  }

  /// The types above the limit, over all their extensions in one module.
  static func checkTypes(_ files: [SourceFile]) -> [Finding] {
    TypeSize.measure(files).filter { $0.lines > typeLines }.map { size in
      Finding(
        file: size.file, line: size.line, rule: "type-length",
        message: "\(size.name) has \(size.lines) lines over all extensions, at most \(typeLines)",
        subject: size.type, amount: size.lines)
    }
  }
}

extension Outline {
  /// Functions, properties with a body, and closures that lie in none of them.
  var bodies: [Declaration] {
    var covered = -1
    return declarations.filter { declaration in
      switch declaration.kind {
      case .function, .property:
        covered = max(covered, declaration.end)
        return true
      case .block:
        guard declaration.line > covered else { return false }
        covered = declaration.end
        return true
      default: return false
      }
    }
  }
}

/// The lines of one type and its extensions in one module, without the types nested in it.
struct TypeSize {
  /// Module and type: `Modules/Server.ServerMachine`.
  let name: String
  /// The name without its module: it stays when a type moves.
  var type: String { String(name.drop { $0 != "." }.dropFirst()) }
  var lines: Int
  /// The place of the longest part.
  var file: String
  var line: Int

  /// All types of `files`, largest first.
  static func measure(_ files: [SourceFile]) -> [TypeSize] {
    var sizes: [String: TypeSize] = [:]
    var longest: [String: Int] = [:]
    for file in files {
      for part in parts(of: file) {
        let name = "\(file.module).\(part.name)"
        sizes[name, default: TypeSize(name: name, lines: 0, file: file.path, line: part.line)]
          .lines += part.lines
        if part.lines > longest[name, default: 0] {
          longest[name] = part.lines
          sizes[name]?.file = file.path
          sizes[name]?.line = part.line
        }
      }
    }
    return sizes.values.sorted { ($1.lines, $0.name) < ($0.lines, $1.name) }
  }

  private static func parts(of file: SourceFile) -> [(name: String, line: Int, lines: Int)] {
    let declarations = file.outline.declarations
    var own = declarations.map(\.length)
    for declaration in declarations where declaration.kind.isContainer {
      if let parent = declaration.parent { own[parent] -= declaration.length }
    }
    return declarations.indices.compactMap { index in
      guard declarations[index].kind.isContainer else { return nil }
      let name = file.outline.path(of: index).joined(separator: ".")
      return (name, declarations[index].line + 1, own[index])
    }
  }
}
