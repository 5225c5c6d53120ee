import * as z from 'zod';
import { timestamp, token } from '#kernel/declare/values.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { typesOf } from '#shared/events/event-patterns.ts';
import { type Actor, actor } from '#shared/events/metadata.ts';
import { instant } from '#shared/instant.ts';
import { idParameter, PAGE, sortBy } from './lists.ts';
import type { RestOperation } from './operation.ts';

/** An event in its public form: in pages, in streams, and in webhooks. */
export const Event = z
  .strictObject({
    id: z.uuid().meta({
      description: 'The same in every stream, webhook and export, also if the event is delivered repeatedly.',
    }),
    type: z.string().meta({ examples: ['user.updated'] }),
    version: z.int().positive().meta({ description: 'Of the type: which fields the data has.' }),
    at: timestamp.meta({ description: 'When it happened.' }),
    cursor: z
      .string()
      .meta({ description: 'Its place in the log: go on after it by `after` or `Last-Event-ID`.' }),
    subject: z.string().meta({ description: 'The item of the event.', examples: ['user-7001'] }),
    actor: actor.nullable().meta({
      description:
        'The actor: a user, a part of the system, or unknown; null if the event does not name one.',
      examples: ['user:7001', 'system:process-manager'],
    }),
    client: z
      .string()
      .nullable()
      .exactOptional()
      .meta({ description: 'The client that they came by. For themself and administrators.' }),
    request: z
      .string()
      .exactOptional()
      .meta({ description: 'The request that did it. For themself and administrators.' }),
    correlation: z.string().exactOptional().meta({
      description: 'The same for all that follows from one request. For themself and administrators.',
    }),
    causation: z
      .string()
      .nullable()
      .exactOptional()
      .meta({ description: 'The id of the event that it follows from. For themself and administrators.' }),
    data: z.record(z.string(), z.json()).meta({
      description:
        'In full where you may read the item now, else the ids; personal fields are null once the person was erased.',
    }),
    parked: z.literal(true).exactOptional().meta({
      description: 'The item cannot be read just now: an operator has to look at one of its events.',
    }),
  })
  .meta({ id: 'Event' });
export type Event = Readonly<z.infer<typeof Event>>;

/** The part of the catalogue that filters depend on. */
type Told = Pick<Catalogue, 'publicTypes' | 'publicKinds' | 'references'>;
/** Without a domain, there are no filters. */
const NOTHING: Told = { publicTypes: [], publicKinds: [], references: [] };

const SHOWN_CHARACTERS_MAX = 40;
const shown = (name: string): string => name.slice(0, SHOWN_CHARACTERS_MAX);

const typesIn = (catalogue: Told) =>
  z
    .string()
    .transform((text) => [...new Set(text.split(','))].toSorted())
    .superRefine((names, context) => {
      const unknown = names.find((name) => typesOf(catalogue, name).length === 0);
      if (unknown !== undefined)
        context.addIssue({
          code: 'custom',
          message: `Must be types of events or patterns such as user.*, with commas between them; there is none named “${shown(unknown)}”.`,
        });
    })
    .meta({
      type: 'string',
      description: `Only these types, with commas between them. \`user.*\` stands for all types of users, \`*\` for all types. The types: ${catalogue.publicTypes.map((type) => `\`${type}\``).join(', ')}.`,
      examples: ['user.registered,user.updated', 'user.*'],
    });

const subjectIn = ({ publicKinds }: Told) =>
  z.string().regex(new RegExp(`^(?:${publicKinds.join('|')})-[A-Za-z0-9_.-]{1,200}$`), {
    error: 'Must be what events name as their subject, such as user-7001.',
  });

const TEXT_CHARACTERS_MIN = 2;
const TEXT_CHARACTERS_MAX = 200;
const text = z
  .string()
  .min(TEXT_CHARACTERS_MIN)
  .max(TEXT_CHARACTERS_MAX)
  .refine((value) => value.isWellFormed(), { error: 'Must be well-formed Unicode.' });

/** A time in the log, as the time of a change. */
const time = instant.meta({ examples: ['2026-11-21T15:04:05Z'] });

const filtersOf = (catalogue: Told) => ({
  types: typesIn(catalogue).optional(),
  actor: actor
    .optional()
    .meta({ description: 'Only what they did.', examples: ['user:7001', 'system:process-manager'] }),
  subject: subjectIn(catalogue)
    .optional()
    .meta({ description: 'Only what happened to this, as events name it.', examples: ['user-7001'] }),
  client: token
    .optional()
    .meta({ description: 'Only what was done through this client, where you see through which it was.' }),
  correlation: token.optional().meta({
    description:
      'Only what followed from one request, as events name it in `correlation`, where you see that.',
  }),
  text: text.optional().meta({
    description:
      'Only events with this text in the data that you may read, in any case. The search is not indexed.',
  }),
  // A domain may have a reference of the same name, which then counts.
  ...referencesIn(catalogue),
});

const referencesIn = ({ references }: Told) =>
  Object.fromEntries(
    references.map(({ name, says }) => [name, idParameter.optional().meta({ description: says })]),
  );

const after = PAGE.after.meta({
  description:
    'A cursor: what happened after it. Without one, a page begins with the first event, a stream now.',
});

const before = PAGE.before.meta({
  description: 'With `sort=-cursor`, a cursor: the page of what happened just before it.',
});

const sort = sortBy('cursor', '-cursor').meta({
  default: 'cursor',
  description:
    'The order of the log; with a minus, the latest first. `before` then leads to older events, and `after` to the page of events just after it.',
});

const since = time.optional().meta({
  description:
    'Begins with the first event that was made at this time or later. Of this and a cursor, what leads further counts.',
});
const until = time.optional().meta({
  description: 'The end: before the first event that was made later than this. A stream has none.',
});

export const SPAN = { since, until };

/** The parameters of an event stream. */
export const followedEvents = (catalogue: Told) => z.strictObject({ after, since, ...filtersOf(catalogue) });
export type EventFilter = {
  readonly types?: readonly string[] | undefined;
  readonly actor?: Actor | undefined;
  readonly subject?: string | undefined;
  readonly correlation?: string | undefined;
  readonly text?: string | undefined;
  /** `client`, unless the domain has a reference of that name, and the ids of referenced aggregates. */
  readonly [reference: string]: readonly string[] | string | number | undefined;
};

/** The event types that filters accept depend on the domain. */
export const eventOperations = (catalogue: Told) => ({
  listEvents: {
    ...EVENT_OPERATIONS.listEvents,
    query: z.strictObject({ limit: PAGE.limit, sort, after, before, since, until, ...filtersOf(catalogue) }),
  },
});

export const EVENT_OPERATIONS = {
  listEvents: {
    method: 'GET',
    path: '/events',
    role: 'query',
    summary: 'The events that you may read, oldest or latest first; or a stream of new events',
    right: 'events.read',
    query: z.strictObject({ limit: PAGE.limit, sort, after, before, since, until, ...filtersOf(NOTHING) }),
    answer: {
      status: 200,
      description:
        'A page of events, or, for `Accept: text/event-stream`, a stream without an end, which goes on after `Last-Event-ID`.',
      kind: 'list',
      schema: Event,
      isStreamed: true,
    },
  },
} as const satisfies Record<string, RestOperation>;
