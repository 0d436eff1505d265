import Foundation
import TernSecurity

/// Who may do what with a server that `tern serve` runs.
struct ServeAccess: Sendable {
  /// The rules file that is read when none is named, if it is there.
  static let usualFile = "database.rules.json"

  /// Decides about trees.
  let authorizer: any Authorizer
  /// Decides about documents.
  let documentAuthorizer: any DocumentAuthorizer
  /// The rules file.
  let file: String?
  /// What is allowed, in a sentence.
  let text: String

  /// - Parameter file: The rules file that was asked for.
  init(rules file: String?, isInsecure: Bool, isDevelopment: Bool) throws {
    let isUsual = file == nil && FileManager.default.fileExists(atPath: Self.usualFile)
    self.file = isUsual ? Self.usualFile : file
    if let file = self.file {
      authorizer = Self.authorizer(by: try RulesFile.rules(at: file))
      // Rules of a tree say nothing about documents.
      documentAuthorizer = AllowLocal()
      text = "access: as \(file) says; documents are open to clients on this machine only"
    } else if isInsecure {
      authorizer = AllowAll()
      documentAuthorizer = AllowAll()
      text = "access: everybody may read and write everything (--insecure)"
    } else if isDevelopment {
      authorizer = AllowLocal()
      documentAuthorizer = AllowLocal()
      text = "access: everything is allowed, to clients on this machine only (--dev)"
    } else {
      authorizer = AllowAdministrators()
      documentAuthorizer = AllowAdministrators()
      text = "access: nothing is allowed; give --rules FILE, or --dev to try things out"
    }
  }

  /// Lets rules decide; refusals are explained to the operator, with their id.
  static func authorizer(by rules: TreeRules) -> RulesAuthorizer {
    RulesAuthorizer(rules) { explanation in
      let lines = explanation.description.split(separator: "\n")
      printError(lines.map { "tern: \($0)" }.joined(separator: "\n"))
    }
  }
}
