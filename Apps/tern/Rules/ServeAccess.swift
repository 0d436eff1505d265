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
      let log = DenialNews(showsAll: isDevelopment)
      authorizer = RulesAuthorizer(
        try RulesFile.rules(at: file), onDenial: log.onDenial, onOmitted: log.onOmitted)
      // Rules of a tree say nothing about documents, and an address identifies no client: whatever
      // ends a connection on this machine makes remote clients look local.
      documentAuthorizer = isDevelopment ? AllowLocal() : AllowAdministrators()
      let readers =
        isDevelopment
        ? "documents are open to clients on this machine (--dev)"
        : "documents are open to administrators only"
      text = "access: as \(file) says; \(readers)"
    } else if isInsecure {
      authorizer = Self.explaining(AllowAll(), isDevelopment)
      documentAuthorizer = AllowAll()
      text = "access: everybody may read and write everything (--insecure)"
    } else if isDevelopment {
      authorizer = Self.explaining(AllowLocal(), isDevelopment)
      documentAuthorizer = AllowLocal()
      text = "access: everything is allowed, to clients on this machine only (--dev)"
    } else {
      authorizer = Self.explaining(AllowAdministrators(), isDevelopment)
      documentAuthorizer = AllowAdministrators()
      text = "access: nothing is allowed; give --rules FILE, or --dev to try things out"
    }
  }

  /// Decides as `base` does; what rules of single databases deny is explained to the operator.
  private static func explaining(
    _ base: any Authorizer, _ isDevelopment: Bool
  ) -> ExplainingAuthorizer {
    let log = DenialNews(showsAll: isDevelopment)
    return ExplainingAuthorizer(base, onDenial: log.onDenial, onOmitted: log.onOmitted)
  }
}

/// The lines of the operator's log about denials.
struct DenialNews: Sendable {
  /// Tells every denial, with data and claims; otherwise a sample, with their types.
  let showsAll: Bool
  var write: @Sendable (String) -> Void = { LogWriter.standardError.write($0) }

  var onDenial: @Sendable (RulesExplanation) -> Void {
    { [showsAll, write] explanation in
      let lines = explanation.text(showingValues: showsAll).split(separator: "\n")
      write(lines.map { "tern: \($0)" }.joined(separator: "\n"))
    }
  }

  var onOmitted: (@Sendable (OmittedDenials) -> Void)? {
    if showsAll { return nil }
    return { [write] summary in write("tern: \(summary)") }
  }
}
