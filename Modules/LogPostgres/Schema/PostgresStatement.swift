/// A statement of the portable profile. All of them are in this file: no other one can make one.
///
/// Parameters are numbers (`bigint`), bytes (`bytea`), lists of bytes (`bytea[]`) or text, binary.
struct PostgresStatement: Hashable, Sendable {
  /// The text, with parameters as `$1` and so on.
  let text: String
  /// The name under which a session keeps the statement parsed and planned; `nil` for statements
  /// that are run seldom. It is made of the text: sessions that a pool hands on may have those of
  /// another version of this library.
  let name: String?

  fileprivate init(_ text: String, isKept: Bool = false) {
    self.text = text
    name = isKept ? "tern_" + String(Self.hash(of: text), radix: 16) : nil
  }

  /// FNV-1a of 64 bits.
  private static func hash(of text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

extension PostgresStatement {
  /// Every statement, for the check against the profile.
  static let all: [PostgresStatement] =
    sessions + schema + [
      insertShard, insertMark, state, append, appendState, head, headAndBatch, page, sizes,
      batches, renewLeader, takeLeader, leader, releaseLeader, renewLease, takeLease, lease, leases,
      countLeases, insertLease, releaseLease, removeLease, mark, rowSizes, rows,
      moveMark, putRows, removeRows, rowBound, removeRange, ages, moveOldest, dropBatches,
      heads, bucketsOfHeads, newestBucket, putHeads, dropHeads, tailSizes, tails, putTails,
      removeTails, tailBound, removeTailRange,
    ]

  // MARK: Sessions and transactions

  private static let sessions = [readCommitted, setting, begin, beginSnapshot, commit, rollback]

  static let readCommitted = PostgresStatement(
    "set session characteristics as transaction isolation level read committed")
  /// Sets a parameter of the session: its name and its value.
  static let setting = PostgresStatement("select set_config($1, $2, false)")
  static let begin = PostgresStatement("begin")
  static let beginSnapshot = PostgresStatement("begin isolation level repeatable read")
  static let commit = PostgresStatement("commit")
  static let rollback = PostgresStatement("rollback")

  // MARK: The schema

  private static let schema =
    [createVersions, insertVersion, version, lockVersion, setVersion] + tables + buckets

  static let createVersions = PostgresStatement(
    """
    create table if not exists tern_schema (name text primary key, version bigint not null)
    """)
  static let insertVersion = PostgresStatement(
    "insert into tern_schema (name, version) values ('log', 0) on conflict (name) do nothing")
  static let version = PostgresStatement("select version from tern_schema where name = 'log'")
  static let lockVersion = PostgresStatement(
    "select version from tern_schema where name = 'log' for update")
  static let setVersion = PostgresStatement(
    "update tern_schema set version = $1 where name = 'log'")

  /// The tables of version 1.
  static let tables = [
    PostgresStatement(
      """
      create table tern_shard (shard bigint primary key, epoch bigint not null,
      position bigint not null, oldest bigint not null, beat bigint not null,
      leader bytea, address bytea)
      """),
    PostgresStatement(
      """
      create table tern_log (shard bigint not null, position bigint not null,
      epoch bigint not null, batch_id bytea not null, appended bigint not null,
      payload bytea not null, primary key (shard, position))
      """),
    PostgresStatement(
      """
      create table tern_lease (shard bigint not null, name bytea not null, epoch bigint not null,
      beat bigint not null, node bytea, address bytea, primary key (shard, name))
      """),
    PostgresStatement(
      """
      create table tern_row (shard bigint not null, key bytea not null, value bytea not null,
      primary key (shard, key))
      """),
    PostgresStatement(
      "create table tern_mark (shard bigint primary key, position bigint not null)"),
  ]

  /// The tables of version 2, which has them beside those of version 1.
  static let buckets = [
    PostgresStatement(
      """
      create table tern_head (shard bigint not null, head bytea not null, bucket bytea not null,
      primary key (shard, head), unique (shard, bucket))
      """),
    PostgresStatement(
      """
      create table tern_tail (shard bigint not null, bucket bytea not null, key bytea not null,
      value bytea not null, primary key (shard, bucket, key))
      """),
  ]

  // MARK: The log

  static let insertShard = PostgresStatement(
    """
    insert into tern_shard (shard, epoch, position, oldest, beat) values ($1, 0, 0, 1, 0)
    on conflict (shard) do nothing
    """)
  static let insertMark = PostgresStatement(
    "insert into tern_mark (shard, position) values ($1, 0) on conflict (shard) do nothing")
  static let state = PostgresStatement(
    """
    select s.position, s.epoch, s.oldest, m.position, s.beat, s.leader, s.address,
    cast(extract(epoch from current_timestamp) * 1000 as bigint)
    from tern_shard s join tern_mark m on m.shard = s.shard where s.shard = $1
    """, isKept: true)
  /// Shard, epoch, position, identifier, record. The lock of the shard's row hands positions out
  /// in the order of commits, so that readers in the order of positions see no gap.
  static let append = PostgresStatement(
    """
    with moved as (update tern_shard set position = position + 1, beat = beat + 1
    where shard = $1 and epoch = $2 and position = $3 returning position)
    insert into tern_log (shard, position, epoch, batch_id, appended, payload)
    select $1, position, $2, $4, cast(extract(epoch from current_timestamp) * 1000 as bigint), $5
    from moved returning position
    """, isKept: true)
  static let appendState = PostgresStatement(
    "select position, epoch from tern_shard where shard = $1")
  static let head = PostgresStatement(
    "select position, oldest, epoch from tern_shard where shard = $1", isKept: true)
  /// The head, and the identifier of the batch at a position; null when it is not there.
  static let headAndBatch = PostgresStatement(
    """
    select s.position, s.oldest, s.epoch, l.batch_id from tern_shard s
    left join tern_log l on l.shard = s.shard and l.position = $2 where s.shard = $1
    """, isKept: true)
  /// Shard, position, the last position of the page, and the most bytes of a record. The head of
  /// the log with each batch, or once when there is none; longer records are left out. The last
  /// column is the identifier of the batch at the position.
  static let page = PostgresStatement(
    """
    select s.position, s.oldest, l.position, l.epoch, l.batch_id, l.payload, b.batch_id
    from tern_shard s left join tern_log b on b.shard = s.shard and b.position = $2
    left join tern_log l on l.shard = s.shard and l.position > $2
    and l.position <= $3 and octet_length(l.payload) <= $4 where s.shard = $1 order by l.position
    """, isKept: true)
  static let sizes = PostgresStatement(
    """
    select position, cast(octet_length(payload) as bigint) from tern_log
    where shard = $1 and position > $2 order by position limit $3
    """)
  static let batches = PostgresStatement(
    """
    select position, epoch, batch_id, payload from tern_log
    where shard = $1 and position > $2 and position <= $3 order by position
    """)

  // MARK: Leases

  static let renewLeader = PostgresStatement(
    """
    update tern_shard set beat = beat + 1, address = $3 where shard = $1 and leader = $2
    returning epoch, beat
    """, isKept: true)
  /// Shard, node, address, and the mark that an expired lease has.
  static let takeLeader = PostgresStatement(
    """
    update tern_shard set epoch = epoch + 1, beat = beat + 1, leader = $2, address = $3
    where shard = $1 and (leader is null or (leader <> $2 and epoch = $4 and beat = $5))
    returning epoch, beat
    """)
  static let leader = PostgresStatement(
    "select epoch, beat, leader, address from tern_shard where shard = $1")
  static let releaseLeader = PostgresStatement(
    """
    update tern_shard set epoch = epoch + 1, leader = null, address = null
    where shard = $1 and leader = $2
    """)
  static let renewLease = PostgresStatement(
    """
    update tern_lease set beat = beat + 1, address = $4
    where shard = $1 and name = $2 and node = $3 returning epoch, beat
    """)
  static let takeLease = PostgresStatement(
    """
    update tern_lease set epoch = epoch + 1, beat = beat + 1, node = $3, address = $4
    where shard = $1 and name = $2
    and (node is null or (node <> $3 and epoch = $5 and beat = $6)) returning epoch, beat
    """)
  static let lease = PostgresStatement(
    "select epoch, beat, node, address from tern_lease where shard = $1 and name = $2")
  static let leases = PostgresStatement(
    "select epoch, beat, node, address, name from tern_lease where shard = $1")
  static let countLeases = PostgresStatement(
    "select count(*) from tern_lease where shard = $1")
  static let insertLease = PostgresStatement(
    """
    insert into tern_lease (shard, name, epoch, beat, node, address)
    select shard, $2, 1, 1, $3, $4 from tern_shard where shard = $1
    and (select count(*) from tern_lease where shard = $1) < $5
    on conflict (shard, name) do nothing returning epoch, beat
    """)
  static let releaseLease = PostgresStatement(
    """
    update tern_lease set epoch = epoch + 1, node = null, address = null
    where shard = $1 and name = $2 and node = $3
    """)
  static let removeLease = PostgresStatement(
    "delete from tern_lease where shard = $1 and name = $2 and epoch = $3 and beat = $4")

  // MARK: The checkpoint

  static let mark = PostgresStatement("select position from tern_mark where shard = $1")
  static let rowSizes = PostgresStatement(
    """
    select key, cast(octet_length(value) as bigint) from tern_row
    where shard = $1 and key >= $2 order by key limit $3
    """)
  static let rows = PostgresStatement(
    """
    select key, value from tern_row where shard = $1 and key >= $2 and key <= $3 order by key
    """)
  static let moveMark = PostgresStatement(
    """
    update tern_mark set position = $3 where shard = $1 and position = $2 returning position
    """)
  static let putRows = PostgresStatement(
    """
    insert into tern_row (shard, key, value) select $1, k, v from unnest($2, $3) as t (k, v)
    on conflict (shard, key) do update set value = excluded.value
    """)
  static let removeRows = PostgresStatement(
    "delete from tern_row where shard = $1 and key = any($2)")
  /// The key behind so many rows of a range.
  static let rowBound = PostgresStatement(
    """
    select key from tern_row where shard = $1 and key >= $2 and key < $3
    order by key offset $4 limit 1
    """)
  /// Removes the rows of a range, and counts them.
  static let removeRange = PostgresStatement(
    """
    with gone as (delete from tern_row where shard = $1 and key >= $2 and key < $3
    returning shard) select count(*) from gone
    """)

  // MARK: Rows with long keys

  static let heads = PostgresStatement(
    """
    select head, bucket from tern_head where shard = $1 and head >= $2 order by head limit $3
    """)
  static let bucketsOfHeads = PostgresStatement(
    "select head, bucket from tern_head where shard = $1 and head = any($2)")
  static let newestBucket = PostgresStatement(
    "select bucket from tern_head where shard = $1 order by bucket desc limit 1")
  static let putHeads = PostgresStatement(
    """
    insert into tern_head (shard, head, bucket) select $1, k, b from unnest($2, $3) as t (k, b)
    """)
  /// Removes the heads of those buckets that hold nothing.
  static let dropHeads = PostgresStatement(
    """
    delete from tern_head where shard = $1 and bucket = any($2) and not exists
    (select key from tern_tail where shard = $1 and tern_tail.bucket = tern_head.bucket)
    """)
  static let tailSizes = PostgresStatement(
    """
    select key, cast(octet_length(value) as bigint) from tern_tail
    where shard = $1 and bucket = $2 and key >= $3 order by key limit $4
    """)
  static let tails = PostgresStatement(
    """
    select key, value from tern_tail
    where shard = $1 and bucket = $2 and key >= $3 and key <= $4 order by key
    """)
  static let putTails = PostgresStatement(
    """
    insert into tern_tail (shard, bucket, key, value)
    select $1, b, k, v from unnest($2, $3, $4) as t (b, k, v)
    on conflict (shard, bucket, key) do update set value = excluded.value
    """)
  static let removeTails = PostgresStatement(
    """
    delete from tern_tail where shard = $1
    and (bucket, key) in (select b, k from unnest($2, $3) as t (b, k))
    """)
  /// The key behind so many rows of a range of a bucket.
  static let tailBound = PostgresStatement(
    """
    select key from tern_tail where shard = $1 and bucket = $2 and key >= $3 and key < $4
    order by key offset $5 limit 1
    """)
  /// Removes the rows of a range of a bucket, and counts them.
  static let removeTailRange = PostgresStatement(
    """
    with gone as (delete from tern_tail where shard = $1 and bucket = $2 and key >= $3
    and key < $4 returning shard) select count(*) from gone
    """)

  // MARK: Compaction

  static let ages = PostgresStatement(
    """
    select position, cast(extract(epoch from current_timestamp) * 1000 as bigint) - appended
    from tern_log where shard = $1 and position >= $2 order by position limit $3
    """)
  static let moveOldest = PostgresStatement(
    "update tern_shard set oldest = $2 where shard = $1 and oldest < $2")
  static let dropBatches = PostgresStatement(
    "delete from tern_log where shard = $1 and position < $2")
}
