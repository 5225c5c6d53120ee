import * as z from 'zod';

const position = z.int().min(0);
const count = z.int().min(0);
const place = { stream: z.string(), version: z.int(), position };

/** An event behind a row: who did what, when, through which client. */
const behind = z.strictObject({
  position,
  version: z.int(),
  type: z.string(),
  at: z.string().nullable(),
  actor: z.string().nullable(),
  client: z.string().nullable(),
});

/** One column of a row, as text; what is personal is left out unless it was asked for. */
const column = z.strictObject({
  name: z.string(),
  recorded: z.string().nullable(),
  found: z.string().nullable(),
});

/** What a row of the read model should be, and what was found instead. */
const rowFinding = z.strictObject({
  kind: z.enum([
    /** By the log there is such a row, and the read model in use has none, has one more, or has another. */
    'row_missing',
    'row_extra',
    'row_different',
    /**
     * The same between what the deciders say (recorded) and what the projection makes of the same events
     * (found).
     */
    'fold_missing',
    'fold_extra',
    'fold_different',
  ]),
  table: z.string(),
  key: z.string(),
  stream: z.string(),
  columns: z.array(column),
  /** The latest events of its stream up to where was compared, oldest first. */
  events: z.array(behind),
  eventsTotal: count,
});

const logFinding = z.discriminatedUnion('kind', [
  /** Positions of PostgreSQL's log leave nothing out. */
  z.strictObject({ kind: z.literal('position_gap'), after: position, found: position }),
  z.strictObject({ kind: z.literal('position_not_rising'), before: position, ...place }),
  z.strictObject({ kind: z.literal('version_gap'), before: z.int(), ...place }),
  z.strictObject({ kind: z.literal('event_id_repeated'), id: z.string(), positions: z.array(position) }),
  /**
   * It is no event of its type, was changed after it was sealed, or is of a type that this release does not
   * know.
   */
  z.strictObject({ kind: z.literal('event_damaged'), type: z.string(), reason: z.string(), ...place }),
  /**
   * What the projector keeps of a table, or a signed head says of one, is not what rows made of the same
   * events come to.
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
  /** The key of somebody was destroyed whose deletion is neither in the log nor on the erasure list. */
  z.strictObject({
    kind: z.literal('key_destroyed_without_deletion'),
    userId: z.int(),
    destroyedAt: z.string(),
  }),
  /** It is on the list of what operators left out, for the reason given there, and could be taken in. */
  z.strictObject({
    kind: z.literal('left_out_though_sound'),
    type: z.string(),
    reason: z.string(),
    ...place,
  }),
  /** The state of a long stream that commands begin with is not what its events add up to. */
  z.strictObject({ kind: z.literal('snapshot_different'), ...place }),
  /** The read model has taken in more than there is in the log. */
  z.strictObject({ kind: z.literal('log_shorter_than_read_model'), head: position, readModel: position }),
  /**
   * The projector has not moved for so long, though there is more in the log: what is read is not what was
   * recorded since.
   */
  z.strictObject({
    kind: z.literal('read_model_stands_still'),
    head: position,
    readModel: position,
    seconds: count,
  }),
]);

/** Of the hash chain and its signed heads, each described in `audit/chain/findings.ts`. */
const chainFinding = z.looseObject({
  kind: z.enum([
    'event_changed',
    'event_missing',
    'event_inserted',
    'event_moved',
    'block_changed',
    'block_missing',
    'head_changed',
    'head_signature_wrong',
    'head_unreadable',
    'head_missing',
    'log_cut',
    'chain_ahead',
    'key_not_endorsed',
  ]),
});

const finding = z.union([rowFinding, logFinding, chainFinding]);

/** An aggregate that is out of the read model because of an event, or an event that an operator left out. */
const exception = z.strictObject({ ...place, type: z.string().nullable(), reason: z.string() });
const exceptions = z.strictObject({ total: count, listed: z.array(exception) });

/** What `annals audit verify --json` prints. It only grows. */
export const report = z.strictObject({
  v: z.literal(1),
  outcome: z.enum(['proven', 'different']),
  /** Which log, up to where it was read, and how much that was. */
  log: z.strictObject({ identity: z.string(), position, events: count }),
  startedAt: z.iso.datetime(),
  tookMs: z.number(),
  /** Nothing where only the log was to be checked. */
  readModel: z
    .strictObject({
      /** Up to where rows were made of events, and held against what the deciders say of the same events. */
      position,
      rows: z.record(z.string(), count),
      /** Whether the rows in use were there as well, and were held against them. */
      isComparedWithLive: z.boolean(),
      /**
       * The signed head whose digests of the read model were held against them, where no rows of then are in
       * use.
       */
      signedDigest: z.strictObject({ count, position }).nullable(),
    })
    .nullable(),
  chain: z.strictObject({
    /** After all events that were read. */
    head: z.string(),
    chained: count,
    signed: count,
    /** What came after the newest head that is kept outside the database. */
    unproven: z.strictObject({ events: count, since: z.string().nullable() }),
  }),
  parked: exceptions,
  leftOut: exceptions,
  findings: z.strictObject({ total: count, byKind: z.record(z.string(), count), listed: z.array(finding) }),
});

export type Report = z.infer<typeof report>;
export type Finding = z.infer<typeof finding>;
export type RowFinding = z.infer<typeof rowFinding>;
export type EventBehind = z.infer<typeof behind>;
