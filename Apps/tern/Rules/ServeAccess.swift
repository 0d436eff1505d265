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
  /// Whether a client on this machine may do whatever it tries.
  let isOpen: Bool

  /// - Parameter file: The rules file that was asked for.
  init(rules file: String?, isInsecure: Bool, isDevelopment: Bool) throws {
    let isUsual = file == nil && FileManager.default.fileExists(atPath: Self.usualFile)
    self.file = isUsual ? Self.usualFile : file
    isOpen = self.file == nil && (isInsecure || isDevelopment)
    if let file = self.file {
      authorizer = Self.authorizer(by: try RulesFile.rules(at: file))
      // Rules of a tree say nothing about documents.
      documentAuthorizer = AllowLocal()
      text = "access: as \(file) says; documents are open to clients on this machine only"
    } else if isInsecure {
      authorizer = ExplainingAuthorizer(AllowAll(), onDenial: Self.tell)
      documentAuthorizer = AllowAll()
      text = "access: everybody may read and write everything (--insecure)"
    } else if isDevelopment {
      authorizer = ExplainingAuthorizer(AllowLocal(), onDenial: Self.tell)
      documentAuthorizer = AllowLocal()
      text = "access: everything is allowed, to clients on this machine only (--dev)"
    } else {
      authorizer = ExplainingAuthorizer(AllowAdministrators(), onDenial: Self.tell)
      documentAuthorizer = AllowAdministrators()
      text = "access: nothing is allowed; give --rules FILE, or --dev to try things out"
    }
  }

  /// Lets rules decide; refusals are explained to the operator, with their id.
  static func authorizer(by rules: TreeRules) -> RulesAuthorizer {
    RulesAuthorizer(rules, onDenial: tell)
  }

  private static let tell: @Sendable (RulesExplanation) -> Void = { explanation in
    let lines = explanation.description.split(separator: "\n")
    printError(lines.map { "tern: \($0)" }.joined(separator: "\n"))
  }
}
