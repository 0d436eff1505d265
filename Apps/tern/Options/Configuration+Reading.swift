import TernAssembly
import TernStandard

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Configuration {
  /// Variables of the environment that commands read themselves.
  private static let ownVariables: Swift.Set = [
    "TERN_SERVER", "TERN_TOKEN", "TERN_DATABASE", "TERN_CONTEXT", "TERN_CONTEXTS",
  ]

  /// The standard configuration, changed by a file, then by the environment, then by flags.
  ///
  /// Variables that set nothing are told in one line and left alone: for a service of the name
  /// "tern", an orchestrator sets `TERN_PORT` and others in every container.
  static func reading(
    file: String?, flags: [(section: String, key: String, text: String)] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    warn: (String) -> Void = { printError($0) }
  ) throws(ConfigurationError) -> Configuration {
    var variables = environment.filter {
      $0.key.hasPrefix("TERN_") && !ownVariables.contains($0.key)
    }
    var ignored = variables.keys.filter { setting(ofVariable: $0) == nil }
    defer {
      if !ignored.isEmpty {
        warn(
          "tern: warning: \(ignored.sorted().joined(separator: ", ")): no such setting; ignored, "
            + "see: tern config")
      }
    }
    for name in ignored { variables[name] = nil }
    while true {
      let found = try Configuration(file: file, environment: variables, flags: flags)
      do throws(ConfigurationError) {
        try Assembler(catalog: .standard).check(found)
        return found
      } catch {
        // Of a key that nothing knows, the variable that set it is dropped; all other mistakes are
        // told by those who use the section.
        guard case .unknownKey(let key, let section, _) = error,
          let name = variables.keys.first(where: { name in
            setting(ofVariable: name).map { $0.section == section && $0.key == key } ?? false
          })
        else { return found }
        variables[name] = nil
        ignored.append(name)
      }
    }
  }
}
