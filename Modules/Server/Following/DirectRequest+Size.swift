import TernCore

extension DirectRequest.Operation {
  /// Returns true when the operation's text is short enough to be written at once.
  ///
  /// The estimate decides where a text is encoded; being wrong costs a moment of the executor, not
  /// correctness.
  ///
  /// - Complexity: O(*n*) in the operation's data, and never more than for `limitBytes`.
  func isShort(limitBytes: Int) -> Bool {
    var left = limitBytes
    switch self {
    case .write(let write, _):
      for entry in write.assignments where left >= 0 { entry.node.spend(&left) }
    case .push(_, let node): node.spend(&left)
    case .setRules(let text, _), .setDocumentRules(let text, _): left -= text.count
    case .set(_, let value): value.spend(&left)
    case .revoke(let changes): left -= changes.count * Self.revocationBytes
    case .read, .readOrExport, .review, .mayWrite, .mayPush, .names, .readRules,
      .removeDocumentRules, .readRuleCoverage, .readSetting, .databases, .administer,
      .removeDatabase, .readRevocations, .rules:
      break
    }
    return left >= 0
  }

  /// The text of one revocation, about.
  private static let revocationBytes = 64
}

extension DirectAnswer {
  /// True for the outcome of a write that is decided.
  package var isOutcome: Bool {
    switch self {
    case .written, .pushed: true
    default: false
    }
  }

  /// Returns true when the answer's text is short enough to be written at once.
  ///
  /// - Complexity: O(*n*) in the answer's data, and never more than for `limitBytes`.
  package func isShort(limitBytes: Int) -> Bool {
    var left = limitBytes
    spend(&left)
    return left >= 0
  }

  /// The bytes of the answer's text, about.
  ///
  /// - Complexity: O(*n*) in the answer's data.
  package var textBytes: Int {
    var left = Int.max
    spend(&left)
    return .max - left
  }

  /// Takes the length of the answer's text off what is left; stops when nothing is.
  private func spend(_ left: inout Int) {
    switch self {
    case .node(let node), .stale(let node), .pushed(_, let node): node.spend(&left)
    case .written(let write):
      for entry in write.assignments where left >= 0 { entry.node.spend(&left) }
    case .names(let keys):
      for key in keys where left >= 0 { left -= key.text.utf8.count + valueBytes }
    case .rules(let text): left -= text.count
    case .setting(let value), .report(let value): value.spend(&left)
    case .databases, .revocations, .coverage, .large, .done, .refused: break
    }
  }
}

/// The text of a number, or of the marks around a value, about.
private let valueBytes = 16

extension TreeNode {
  /// Takes the length of the node's text off what is left, about; stops when nothing is.
  fileprivate func spend(_ left: inout Int) {
    left -= valueBytes
    if case .string(let text) = scalar { left -= text.utf8.count }
    for (key, child) in children {
      if left < 0 { return }
      left -= key.text.utf8.count
      child.spend(&left)
    }
  }
}

extension JSONValue {
  /// Takes the length of the value's text off what is left, about; stops when nothing is.
  fileprivate func spend(_ left: inout Int) {
    left -= valueBytes
    switch self {
    case .null, .bool, .integer, .double: return
    case .string(let text): left -= text.utf8.count
    case .array(let elements):
      for element in elements where left >= 0 { element.spend(&left) }
    case .object(let members):
      for member in members where left >= 0 {
        left -= member.name.utf8.count
        member.value.spend(&left)
      }
    }
  }
}
