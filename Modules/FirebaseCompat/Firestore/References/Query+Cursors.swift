import TernCore
import TernQuery

// Values stand for the first fields of the order; a document stands for its place in the whole
// order, its key last.

extension Query {
  /// Begins at values of the order.
  public func start(at fieldValues: [Any]) -> Query { starting(fieldValues, isInclusive: true) }

  /// Begins after values of the order.
  public func start(after fieldValues: [Any]) -> Query { starting(fieldValues, isInclusive: false) }

  /// Begins at a document.
  public func start(atDocument document: DocumentSnapshot) -> Query {
    starting(document, isInclusive: true)
  }

  /// Begins after a document.
  public func start(afterDocument document: DocumentSnapshot) -> Query {
    starting(document, isInclusive: false)
  }

  /// Ends at values of the order.
  public func end(at fieldValues: [Any]) -> Query { ending(fieldValues, isInclusive: true) }

  /// Ends before values of the order.
  public func end(before fieldValues: [Any]) -> Query { ending(fieldValues, isInclusive: false) }

  /// Ends at a document.
  public func end(atDocument document: DocumentSnapshot) -> Query {
    ending(document, isInclusive: true)
  }

  /// Ends before a document.
  public func end(beforeDocument document: DocumentSnapshot) -> Query {
    ending(document, isInclusive: false)
  }
}

extension Query {
  private func starting(_ values: [Any], isInclusive: Bool) -> Query {
    refined { query throws(FirestoreArgumentError) in
      let values = try cursor(values, of: query)
      return try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
        try query.starting(at: values, isInclusive: isInclusive)
      }
    }
  }

  private func ending(_ values: [Any], isInclusive: Bool) -> Query {
    refined { query throws(FirestoreArgumentError) in
      let values = try cursor(values, of: query)
      return try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
        try query.ending(at: values, isInclusive: isInclusive)
      }
    }
  }

  private func starting(_ snapshot: DocumentSnapshot, isInclusive: Bool) -> Query {
    refined { query throws(FirestoreArgumentError) in
      let document = try place(of: snapshot)
      return try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
        try query.starting(at: document, in: firestore.database, isInclusive: isInclusive)
      }
    }
  }

  private func ending(_ snapshot: DocumentSnapshot, isInclusive: Bool) -> Query {
    refined { query throws(FirestoreArgumentError) in
      let document = try place(of: snapshot)
      return try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
        try query.ending(at: document, in: firestore.database, isInclusive: isInclusive)
      }
    }
  }

  private func place(of snapshot: DocumentSnapshot) throws(FirestoreArgumentError) -> Document {
    let key = try snapshot.reference.key(in: firestore)
    return snapshot.document ?? Document(key, .missing)
  }

  private func cursor(
    _ values: [Any], of query: DocumentQuery
  ) throws(FirestoreArgumentError) -> [DocumentValue] {
    var cursor: [DocumentValue] = []
    for (index, value) in values.enumerated() {
      let value = try DocumentValue(foundation: value, in: firestore.database)
      let isKey = index < query.orders.count && query.orders[index].path.isKey
      cursor.append(isKey ? try value.asKey(for: query, in: firestore.database) : value)
    }
    return cursor
  }
}
