/// A mistake that a node makes on purpose, so that tests can show that they would notice it.
///
/// No public declaration leads here. Off, each costs a comparison with `nil` on a path that talks
/// to the log or to the disk.
package enum PlantedFault: String, CaseIterable, Sendable {
  /// A leader applies a batch to its copy before the log has it.
  case appliesBeforeAppending
  /// A leader answers before its copy has the batch, and goes on without it.
  case answersWithoutApplying
  /// A leader appends under the log's present epoch instead of that of its term.
  case appendsUnderAnyEpoch
  /// A leader appends a batch in doubt once more, behind whatever is there.
  case appendsAgain
  /// A leader takes an append whose outcome is unknown for a success.
  case takesDoubtForSuccess
  /// A leader counts a renewal of its lease from the log's answer instead of from its request.
  case countsRenewalsFromAnswers
  /// A leader answers reads although its lease may have been taken over.
  case ignoresAgeOfLease
  /// A node takes over a lease that has not expired.
  case takesOverEarly
  /// A node leads before its copy has all that was committed.
  case leadsBeforeCatchingUp
  /// A node that ends keeps its lease.
  case forgetsLease
  /// A node counts the parts of a batch as read although the batch could not be applied.
  case assemblesBeforeApplying
  /// A node that copies the checkpoint goes on behind the position of its last page.
  case loadsFromLastPage
  /// The checkpoint is moved without the states of writers.
  case forgetsWriters
  /// The checkpoint is moved without what was removed.
  case forgetsRemovals
}
