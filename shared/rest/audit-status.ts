import * as z from 'zod';
import { timestamp } from '#kernel/base/values.ts';
import { AuditHead, count, hash } from './audit-head.ts';
import { ClockStatus } from './clock-status.ts';

const cursor = z.string();

export const AuditStatus = z
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
    witnessed: z
      .strictObject({
        count: count.meta({ description: 'The number of events that the head covers.' }),
        at: timestamp,
      })
      .nullable()
      .meta({
        description:
          'The newest head that enough witnesses have cosigned; null if none is, or if there are no witnesses.',
      }),
    stamped: z
      .strictObject({ count, at: timestamp })
      .nullable()
      .meta({ description: 'The newest head with a time stamp (RFC 3161); null if there is none.' }),
    witnesses: z
      .array(
        z.strictObject({
          names: z.array(z.string()).meta({ description: 'Its names in AUDIT_WITNESSES.' }),
          url: z.string(),
          count: count.meta({
            description: 'The number of events under the head that it has cosigned last.',
          }),
          at: timestamp.nullable(),
          problem: z.string().nullable().meta({ description: 'Why it does not cosign.' }),
          since: timestamp.nullable().meta({ description: 'Since when it does not.' }),
          isRefusing: z.boolean().meta({
            description:
              'It says that the log contradicts what it has seen before: find out who changed what.',
          }),
        }),
      )
      .exactOptional()
      .meta({ description: 'The witnesses of AUDIT_WITNESSES. Only administrators see them.' }),
    clock: ClockStatus,
    parked: count.exactOptional().meta({
      description:
        'Number of items that cannot be read because of one of their events. Only administrators see it.',
    }),
  })
  .meta({ id: 'AuditStatus' });
export type AuditStatus = Readonly<z.infer<typeof AuditStatus>>;
