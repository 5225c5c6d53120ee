import * as z from 'zod';
import { PAGE } from '#kernel/base/rest/lists.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { timestamp } from '#kernel/base/values.ts';
import { SPAN } from './events.ts';
import { ExportLine } from './export-line.ts';

const count = z.int().nonnegative();
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const cursor = z.string();

export const AuditHead = z
  .strictObject({
    count: count.meta({ description: 'The number of events that it covers.' }),
    at: timestamp.meta({ description: 'When it was signed.' }),
    head: hash.meta({ description: 'The head of the hash chain after `count` events.' }),
    key: z.string().meta({ description: 'The `kid` of the key that signed it.' }),
    statement: z.string().meta({ description: 'The signed text, byte by byte.' }),
    signature: z.string().meta({ description: 'Ed25519, in base64url.' }),
  })
  .meta({ id: 'AuditHead' });
export type AuditHead = Readonly<z.infer<typeof AuditHead>>;

const AuditKeys = z
  .strictObject({
    keys: z.array(
      z.strictObject({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string().meta({ description: 'The thumbprint of the key (RFC 7638).' }),
        use: z.literal('sig'),
        alg: z.literal('EdDSA'),
        made_at: timestamp,
        endorsed_by: z
          .string()
          .nullable()
          .meta({ description: 'The `kid` of the key before it; null for the first.' }),
        endorsement: z
          .string()
          .nullable()
          .meta({ description: 'The signature of that key over `endorsement_text`.' }),
        endorsement_text: z.string(),
      }),
    ),
  })
  .meta({ id: 'AuditKeys' });
export type AuditKeys = Readonly<z.infer<typeof AuditKeys>>;

const AuditStatus = z
  .strictObject({
    log: z.strictObject({ cursor: cursor.meta({ description: 'The end of the log.' }) }),
    chain: z.strictObject({
      count: count.meta({ description: 'The number of events in the hash chain.' }),
      cursor,
      head: hash,
    }),
    signed: AuditHead.pick({ count: true, at: true, head: true, key: true })
      .nullable()
      .meta({ description: 'The newest head outside the database.' }),
    unproven: z
      .strictObject({
        events: count.meta({
          description:
            'Number of events in the chain after that head: nothing outside the database proves them yet.',
        }),
        since: timestamp.nullable(),
      })
      .meta({ description: 'The events after that head.' }),
    readModel: z.strictObject({
      cursor: cursor.meta({ description: 'The last event that the read model has applied.' }),
    }),
    verified: z
      .strictObject({
        count: count.meta({ description: 'Number of events that the current round has verified.' }),
        cursor,
        began: timestamp,
        finished: timestamp
          .nullable()
          .meta({ description: 'End of the last complete round; null before the first one.' }),
        differences: count.meta({
          description: 'Findings of the current round, or of the last complete one if that had more.',
        }),
      })
      .nullable()
      .meta({ description: 'Progress of the background verification; null before it has started.' }),
    differences: z
      .array(
        z.strictObject({
          kind: z.string(),
          cursor: cursor.nullable(),
          stream: z.string().nullable(),
          version: z.int().nullable(),
          fields: z.array(z.string()),
          at: timestamp,
        }),
      )
      .exactOptional()
      .meta({ description: 'The first differences. Only administrators see them.' }),
    problem: z
      .string()
      .nullable()
      .exactOptional()
      .meta({ description: 'Why no head is published. Only administrators see it.' }),
    parked: count.exactOptional().meta({
      description:
        'Number of items that cannot be read because of one of their events. Only administrators see it.',
    }),
  })
  .meta({ id: 'AuditStatus' });
export type AuditStatus = Readonly<z.infer<typeof AuditStatus>>;

const after = z
  .string()
  .regex(/^\d{1,16}$/, { error: 'Must be the number of events that a head covers.' })
  .meta({ type: 'integer', pattern: undefined, minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
  .transform(Number)
  .pipe(z.int().nonnegative({ error: 'Must be the number of events that a head covers.' }));

/** One JSON document a line. */
export const EXPORT_TYPE = 'application/x-ndjson';

/** The range of the log to export. */
export const ExportRange = z.strictObject({
  after: PAGE.after.meta({
    description: 'A cursor: the export starts after it, instead of with the first event.',
  }),
  since: SPAN.since,
  until: SPAN.until,
});

export const AUDIT_OPERATIONS = {
  exportLog: {
    method: 'GET',
    path: '/audit/export',
    role: 'query',
    summary: 'The log as it was recorded, for administrators',
    right: 'events.export',
    query: ExportRange,
    refusals: ['forbidden', 'too_many_streams'],
    answer: {
      status: 200,
      description:
        'CloudEvents 1.0 in JSON, one per line, as fast as you read them. Personal fields stay sealed. The last line has the type `log.exported`: its `data` is the signed manifest. If it is missing, continue after the last event.',
      kind: 'lines',
      schema: ExportLine,
    },
  },
  getAuditStatus: {
    method: 'GET',
    path: '/audit/status',
    role: 'query',
    summary: 'Status of the proof',
    right: 'events.read',
    answer: {
      status: 200,
      description: 'The positions of log, chain, signed heads and read model.',
      kind: 'item',
      schema: AuditStatus,
    },
  },
  listAuditHeads: {
    method: 'GET',
    path: '/audit/heads',
    role: 'query',
    summary: 'The signed heads of the chain of hashes, for administrators',
    right: 'events.export',
    query: z.strictObject({
      limit: PAGE.limit,
      after: after.optional().meta({ description: 'Only heads that cover more events.' }),
    }),
    answer: { status: 200, description: 'Heads in the order of the log.', kind: 'list', schema: AuditHead },
  },
  listAuditKeys: {
    method: 'GET',
    path: '/audit/keys',
    role: 'query',
    summary: 'The keys that heads are signed with',
    right: null,
    answer: {
      status: 200,
      description: 'All current and former keys, as a JWK set.',
      kind: 'item',
      schema: AuditKeys,
    },
  },
} as const satisfies Record<string, RestOperation>;
