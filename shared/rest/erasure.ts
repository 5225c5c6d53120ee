import * as z from 'zod';
import { timestamp } from '#kernel/declare/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { stayingWithout } from '#shared/erasure/references.ts';
import { actor } from '#shared/events/metadata.ts';
import { id } from './fields.ts';
import type { RestOperation } from './operation.ts';

const count = z.int().nonnegative();
const byType = z.array(
  z.strictObject({ type: z.string().meta({ examples: ['user.updated'] }), events: count }),
);

const place = z.strictObject({
  place: z.string().meta({ examples: ['read_model.users'] }),
  verdict: z.enum(['erased', 'left', 'sealed', 'nothing', 'unreachable', 'unknown']).meta({
    description:
      '`erased`: looked through, and nothing is left; `left`: something is; `sealed`: what is there nobody can open; `nothing`: it never holds more ' +
      'than their number; `unreachable`: out of reach of Annals; `unknown`: nobody has looked.',
  }),
  rows: count.nullable().meta({
    description: 'How many rows, events or files there are of theirs; null where that is not counted.',
  }),
  left: count.meta({ description: 'In how many of them something is left.' }),
  says: z.string(),
});

const reportFor = (kept: Readonly<Record<string, typeof count>>) =>
  z
    .strictObject({
      userId: id,
      isDone: z.boolean().meta({ description: 'Whether nothing is left of them anywhere.' }),
      asked: z
        .strictObject({
          event: z.uuid(),
          at: timestamp,
          actor: actor.nullable(),
          client: z.string().nullable(),
          request: z.string().nullable(),
        })
        .nullable()
        .meta({
          description:
            'When they were deleted, by whom, and by which event; null where the log does not say so yet.',
        }),
      listedAt: timestamp
        .nullable()
        .meta({ description: 'When they were put on the erasure list, outside the database.' }),
      keyDestroyedAt: timestamp
        .nullable()
        .meta({ description: 'When the key of their data was destroyed, here and for the last time.' }),
      sealed: byType.meta({
        description: 'How many events hold something of theirs that nobody can open any more.',
      }),
      followed: byType.meta({ description: 'Data that was deleted together with the user.' }),
      parts: z
        .array(z.strictObject({ part: z.string(), left: count, isDone: z.boolean() }))
        .meta({ description: 'Where something of them could be, and how much is left there.' }),
      places: z.array(place).meta({
        description:
          'Every place where something of them could be: each table of the database, as its catalog and the domain say, and what is outside of it.',
      }),
      kept: z.strictObject(kept).meta({ description: 'Data that stays, with “Deleted user” as its author.' }),
    })
    .meta({ id: 'ErasureReport' });
export type ErasureReport = Readonly<z.infer<ReturnType<typeof reportFor>>>;

/** The counts depend on how the aggregates of the domain react to the deletion of a person. */
export const erasureReadsOf = (domain: Domain) =>
  ({
    getErasureOfUser: {
      method: 'GET',
      path: '/users/{userId}/erasure',
      role: 'query',
      summary: 'Report on the erasure of a deleted user',
      right: 'events.export',
      answer: {
        status: 200,
        description: 'The report. It holds nothing personal.',
        kind: 'item',
        schema: reportFor(Object.fromEntries(stayingWithout(domain).map(({ name }) => [name, count]))),
      },
    },
  }) as const satisfies Record<string, RestOperation>;
