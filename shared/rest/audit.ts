import * as z from 'zod';
import { PAGE } from '#kernel/base/rest/lists.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { timestamp } from '#kernel/base/values.ts';
import { AuditHead, count } from './audit-head.ts';
import { AuditStatus } from './audit-status.ts';
import { SPAN } from './event-operations.ts';
import { ExportLine } from './export-line.ts';

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
        vkey: z.string().meta({
          description: 'The key as verifiers of signed notes take it, with the name of this log.',
        }),
      }),
    ),
  })
  .meta({ id: 'AuditKeys' });
export type AuditKeys = Readonly<z.infer<typeof AuditKeys>>;

const EventProof = z
  .strictObject({
    event: z.uuid().meta({ description: 'The id of the event.' }),
    index: count.meta({ description: 'Its place in the log, counted from 0.' }),
    size: count.meta({ description: 'The number of events that the checkpoint covers.' }),
    vkey: z.string().meta({ description: 'The key that signed the checkpoint.' }),
    isWitnessed: z.boolean().nullable().meta({
      description:
        'Whether enough witnesses have cosigned the checkpoint; null if the log has none. A checkpoint that covers a new event is cosigned within seconds.',
    }),
    timestamp: z.base64().exactOptional().meta({
      description: 'The time stamp over the checkpoint (RFC 3161), in Base64; only if it was asked for.',
    }),
    proof: z.string().meta({
      description:
        'The file (C2SP tlog-proof): the event as it was recorded, its salt, the hashes from its leaf to the root, and the signed checkpoint. `annals audit check` verifies it, and so does every verifier of such logs.',
    }),
  })
  .meta({ id: 'EventProof' });
export type EventProof = Readonly<z.infer<typeof EventProof>>;

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
  getEventProof: {
    method: 'GET',
    path: '/events/{eventId}/proof',
    role: 'query',
    summary: 'A proof that an event is in the log, which a stranger can check',
    right: 'events.export',
    refusals: ['forbidden'],
    query: z.strictObject({
      with: z.literal('timestamp', { error: 'Must be timestamp.' }).optional().meta({
        description:
          '`timestamp`: the first checkpoint with a time stamp (RFC 3161) that covers the event, and the stamp in the file.',
      }),
    }),
    answer: {
      status: 200,
      description:
        'The proof of this event in the newest checkpoint that enough witnesses have cosigned, or in the newest one if none of those covers the event or the log has no witnesses.',
      kind: 'item',
      schema: EventProof,
    },
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
