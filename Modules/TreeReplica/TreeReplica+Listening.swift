package import TernCore
package import TernQuery

extension TreeReplica {
  /// Registers a listener, and delivers what is known already.
  ///
  /// - Parameters:
  ///   - kinds: The events to deliver; none keeps the query in sync all the same.
  /// - Returns: The registration, and its initial events with the listens that change.
  package mutating func listen(
    at path: TreePath, query: TreeQuery = .all, for kinds: EventKinds
  ) -> (id: RegistrationID, outcome: ReplicaOutcome) {
    register(at: path, query: query, for: kinds, isKeeper: false)
  }

  /// Ends one registration; nothing happens when it has ended already.
  package mutating func unlisten(_ id: RegistrationID) -> ReplicaOutcome {
    guard let place = places.removeValue(forKey: id) else { return ReplicaOutcome() }
    let isLast = tree.withView(place.query, at: place.path) { view in
      view.registrations.removeAll { $0.id == id }
      return view.registrations.isEmpty
    }
    return isLast == true ? close(place.query, at: place.path) : ReplicaOutcome()
  }

  /// Ends the registrations at a location; those below it and those made by keeping stay.
  ///
  /// - Parameters:
  ///   - query: The query to leave; the default query stands for all queries at the location.
  ///   - kinds: Only these events end; a registration ends with its last one.
  /// - Returns: The registrations that ended are in `cancelled`.
  package mutating func unlistenAll(
    at path: TreePath, query: TreeQuery = .all, for kinds: EventKinds = .all
  ) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    for view in tree.points[path]?.views ?? [] where query.isDefault || view.query == query {
      for registration in view.registrations where !registration.isKeeper {
        let rest = registration.kinds.subtracting(kinds)
        if !rest.isEmpty {
          tree.withView(view.query, at: path) { view in
            for index in view.registrations.indices
            where view.registrations[index].id == registration.id {
              view.registrations[index].kinds = rest
            }
          }
        } else if !registration.kinds.isDisjoint(with: kinds) || kinds == .all {
          outcome.append(unlisten(registration.id))
          outcome.cancelled.append(registration.id)
        }
      }
    }
    return outcome
  }

  /// Keeps a query in sync without a listener, or stops keeping it. Saying so twice changes
  /// nothing.
  package mutating func keepSynced(
    _ isKept: Bool, at path: TreePath, query: TreeQuery = .all
  ) -> ReplicaOutcome {
    let key = ListenRequest(path: path, query: query, tag: nil)
    if isKept, keepers[key] == nil {
      let (id, outcome) = register(at: path, query: query, for: [], isKeeper: true)
      keepers[key] = id
      return outcome
    }
    if !isKept, let id = keepers.removeValue(forKey: key) { return unlisten(id) }
    return ReplicaOutcome()
  }

  /// Ends a query because the server refused or revoked its listen, which needs no stop.
  ///
  /// - Parameter query: The query as it was listened to; the default query stands for all queries
  ///   at the location that load all data.
  /// - Returns: Every registration of the query is in `cancelled`, to be told why.
  package mutating func revokeListen(at path: TreePath, query: TreeQuery) -> ReplicaOutcome {
    let revoked = query.normalized
    let views = tree.points[path]?.views.filter { $0.query.normalized == revoked } ?? []
    var outcome = ReplicaOutcome()
    for view in views {
      for registration in view.registrations {
        places[registration.id] = nil
        keepers = keepers.filter { $0.value != registration.id }
        outcome.cancelled.append(registration.id)
      }
      outcome.append(close(view.query, at: path))
    }
    outcome.stops.removeAll { $0.path == path && $0.query == revoked }
    return outcome
  }

  private mutating func register(
    at path: TreePath, query: TreeQuery, for kinds: EventKinds, isKeeper: Bool
  ) -> (id: RegistrationID, outcome: ReplicaOutcome) {
    let id = makeRegistrationID()
    places[id] = (path, query)
    var outcome = ReplicaOutcome()
    if tree.points[path]?.index(of: query) == nil { outcome = open(query, at: path) }
    let registration = Registration(id: id, kinds: kinds, isKeeper: isKeeper)
    let overlay = overlay
    tree.withView(query, at: path) { view in
      view.registrations.append(registration)
      outcome.events = view.initialEvents(for: registration, overlay)
    }
    return (id, outcome)
  }
}
