// Over 200 lines, because it is one form: the report of a verification.
import * as z from 'zod';

const position = z.int().min(0);
const count = z.int().min(0);
const place = { stream: z.string(), version: z.int(), position };

/** The field of an item that names a file, by the row of the item. */
const filePlace = { table: z.string(), key: z.string(), column: z.string(), path: z.string() };

/** An event behind a row: who did what, when, through which client. */
const behind = z.strictObject({
  position,
  version: z.int(),
  type: z.string(),
  at: z.string().nullable(),
  actor: z.string().nullable(),
  client: z.string().nullable(),
});

/** One column of a row, as text; personal data only on request. */
const column = z.strictObject({
  name: z.string(),
  recorded: z.string().nullable(),
  found: z.string().nullable(),
});

/** A row that the read model should have, and the one found instead. */
const rowFinding = z.strictObject({
  kind: z.enum([
    /** By the log there is such a row; the live read model lacks it, has a surplus one, or has another. */
    'row_missing',
    'row_extra',
    'row_different',
    /**
     * The same between the state of the deciders (recorded) and the projection of the same events (found).
     */
    'fold_missing',
    'fold_extra',
    'fold_different',
  ]),
  table: z.string(),
  key: z.string(),
  stream: z.string(),
  columns: z.array(column),
  /** The latest events of its stream up to the compared position, oldest first. */
  events: z.array(behind),
  eventsTotal: count,
});

const logFinding = z.discriminatedUnion('kind', [
  /** Positions of PostgreSQL’s log have no gaps. */
  z.strictObject({ kind: z.literal('position_gap'), after: position, found: position }),
  z.strictObject({ kind: z.literal('position_not_rising'), before: position, ...place }),
  z.strictObject({ kind: z.literal('version_gap'), before: z.int(), ...place }),
  z.strictObject({ kind: z.literal('event_id_repeated'), id: z.string(), positions: z.array(position) }),
  /** The record is no event of its type, was changed after it was sealed, or is of a type unknown to this release. */
  z.strictObject({ kind: z.literal('event_damaged'), type: z.string(), reason: z.string(), ...place }),
  /** No command wrote it: its MAC is missing or wrong. */
  z.strictObject({ kind: z.literal('event_not_authentic'), type: z.string(), ...place }),
  /**
   * The digest that the projector keeps of a table, or that a signed head states, differs from that of the
   * rows replayed from the same events.
   */
  z.strictObject({
    kind: z.literal('kept_digest_different'),
    position,
    table: z.string(),
    recorded: z.string(),
    found: z.string(),
  }),
  z.strictObject({
    kind: z.literal('signed_digest_different'),
    count,
    position,
    table: z.string(),
    recorded: z.string(),
    found: z.string(),
  }),
  /** A key was destroyed, though the deletion of its person is neither in the log nor on the erasure list. */
  z.strictObject({
    kind: z.literal('key_destroyed_without_deletion'),
    userId: z.int(),
    destroyedAt: z.string(),
  }),
  /** An operator of EventStoreDB has cut or deleted a stream; without `to`, no version is left. */
  z.strictObject({
    kind: z.literal('stream_cut'),
    stream: z.string(),
    from: z.int(),
    to: z.int().nullable(),
  }),
  /** An operator skipped it, for the reason given there, but it could be applied. */
  z.strictObject({
    kind: z.literal('left_out_though_sound'),
    type: z.string(),
    reason: z.string(),
    ...place,
  }),
  /** The snapshot of a long stream, from which commands start, differs from the sum of its events. */
  z.strictObject({ kind: z.literal('snapshot_different'), ...place }),
  /** The storage lacks a file that an item names. */
  z.strictObject({ kind: z.literal('file_missing'), ...filePlace }),
  /** The content of a file differs from the digest in its event. */
  z.strictObject({
    kind: z.literal('file_different'),
    ...filePlace,
    recorded: z.string(),
    found: z.string(),
  }),
  /** The read model has applied more than there is in the log. */
  z.strictObject({ kind: z.literal('log_shorter_than_read_model'), head: position, readModel: position }),
  /** The projector has not moved for so long, though there is more in the log: reads lack newer events. */
  z.strictObject({
    kind: z.literal('read_model_stands_still'),
    head: position,
    readModel: position,
    seconds: count,
  }),
]);

/** Of the hash chain and its signed heads, each described in `proof/chain/findings.ts`. */
const chainFinding = z.looseObject({
  kind: z.enum([
    'event_changed',
    'event_missing',
    'event_inserted',
    'event_moved',
    'block_changed',
    'block_missing',
    'tile_changed',
    'tile_missing',
    'tree_head_wrong',
    'head_changed',
    'head_signature_wrong',
    'head_unreadable',
    'head_missing',
    'log_cut',
    'chain_ahead',
    'key_not_endorsed',
    'newest_event_missing',
    /** Of the log of reads (`proof/reads/check-reads.ts`). */
    'reads_entry_changed',
    'reads_entry_missing',
    'reads_expired_early',
    'reads_cut',
    'reads_head_wrong',
  ]),
});

/** A table that follows from the log beside the read model lacks a row, has a surplus one, or another one. */
const derivedFinding = z.strictObject({
  kind: z.enum(['derived_missing', 'derived_extra', 'derived_different']),
  /** With its schema: `event_index.event`. */
  table: z.string(),
  key: z.string(),
  /** The columns that differ; their values are not shown. */
  columns: z.array(z.string()),
  /** The event that the row is about; null if the log has none. */
  stream: z.string().nullable(),
  version: z.int().nullable(),
  position: position.nullable(),
});

/**
 * The schema lacks an object that the migrations make, such as a trigger or a constraint, has another, or one
 * that is not ours and can change, hide or refuse what is written or read.
 */
const schemaFinding = z.strictObject({
  kind: z.enum(['schema_missing', 'schema_extra', 'schema_different']),
  /** With its kind and its table: `trigger append_only on event_log.event`. */
  object: z.string(),
});

const finding = z.union([rowFinding, logFinding, derivedFinding, schemaFinding, chainFinding]);

/** An aggregate that is out of the read model because of an event, or an event that an operator skipped. */
const exception = z.strictObject({ ...place, type: z.string().nullable(), reason: z.string() });
const exceptions = z.strictObject({ total: count, listed: z.array(exception) });

/** The output of `annals audit verify --json`. Fields are only ever added. */
export const report = z.strictObject({
  v: z.literal(1),
  outcome: z.enum(['proven', 'different']),
  /** The log, the position up to which it was read, and the number of events read. */
  log: z.strictObject({ identity: z.string(), position, events: count }),
  startedAt: z.iso.datetime(),
  tookMs: z.number(),
  /** Null if only the log was to be verified. */
  readModel: z
    .strictObject({
      /**
       * The position up to which rows were replayed from events, and compared with the state of the deciders.
       */
      position,
      rows: z.record(z.string(), count),
      /** Whether the live rows were at that position as well, and were compared with them. */
      isComparedWithLive: z.boolean(),
      /** The signed head whose digests were compared with them, if the live rows were at another position. */
      signedDigest: z.strictObject({ count, position }).nullable(),
    })
    .nullable(),
  /** Only with `--files`: the files whose content was compared with the digests in their events. */
  files: z.strictObject({ compared: count }).optional(),
  chain: z.strictObject({
    /** After all events that were read. */
    head: z.string(),
    chained: count,
    signed: count,
    /** The events after the newest head that is stored outside the database. */
    unproven: z.strictObject({ events: count, since: z.string().nullable() }),
  }),
  parked: exceptions,
  leftOut: exceptions,
  findings: z.strictObject({ total: count, byKind: z.record(z.string(), count), listed: z.array(finding) }),
});

export type Report = z.infer<typeof report>;
export type Finding = z.infer<typeof finding>;
export type RowFinding = z.infer<typeof rowFinding>;
export type DerivedFinding = z.infer<typeof derivedFinding>;
export type SchemaFinding = z.infer<typeof schemaFinding>;
export type EventBehind = z.infer<typeof behind>;
