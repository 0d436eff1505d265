import TernCore
import TernQuery
import TernSecurity

/// Judges by rules, and makes one mistake.
struct FaultyAuthorizer: DocumentAuthorizer {
  let base: any DocumentAuthorizer
  let bug: PlantedBug

  var namesDependencies: Bool { base.namesDependencies }

  func blanketVerdict(for requester: Requester) -> Bool? { base.blanketVerdict(for: requester) }

  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool { base.allows(access, by: requester, now: now, documents: documents) }

  func verdict(
    on accesses: [DocumentAccess], by requester: Requester, time: DocumentTimestamp,
    in state: DocumentAccessState
  ) -> DocumentVerdict {
    var state = state
    if bug == .judgesByFormerDocuments {
      state = DocumentAccessState(asked: state.asked, before: state.before)
    }
    var verdict = base.verdict(on: accesses, by: requester, time: time, in: state)
    if bug == .forgetsDependencies { verdict.dependencies = [] }
    return verdict
  }

  func judging(by rules: DocumentRules) -> any DocumentAuthorizer {
    FaultyAuthorizer(base: base.judging(by: rules), bug: bug)
  }
}
