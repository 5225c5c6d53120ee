import * as z from 'zod';
import type { Membership } from '#kernel/decide/memberships.ts';
import type { EventId, Position, StreamName, UserId } from '#shared/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type MetadataContext, readMetadata } from '#shared/events/metadata.ts';
import { streamName } from '#shared/events/streams.ts';
import { userStream } from '../users/user.ts';

/** The event that something follows from. */
export type Cause = {
  readonly id: EventId;
  readonly metadata: MetadataContext;
  /** Of tasks that an earlier release noted, nobody knows it. */
  readonly position?: Position | undefined;
};

export type Link = { readonly parent: StreamName; readonly child: StreamName; readonly cause: Cause };

/** What an event means to the process manager, in terms of who belongs to whom. */
export type Step =
  | ({ readonly kind: 'join' } & Link)
  | ({ readonly kind: 'leave' } & Link)
  /** The parent is gone. A user is erased as well. */
  | {
      readonly kind: 'orphan';
      readonly parent: StreamName;
      readonly cause: Cause;
      readonly isErased: boolean;
    }
  /** The webhooks that were registered for a user before this position end; the user stays. */
  | {
      readonly kind: 'reclaim';
      readonly parent: StreamName;
      readonly cause: Cause;
      readonly position: Position;
    };

// Only ids are needed, and they stand in clear: nothing has to be unsealed, and a lost key holds up nothing.
const id = z.int().positive();
const userIds = z.object({ userId: id });

export type StepsOf = (event: RecordedEvent) => readonly Step[];

/**
 * The steps of an event, in their order; most events have none. Throws if the event is damaged, except if it
 * is the end of a parent: of that, its type and its stream say enough.
 */
export const stepsBy = (memberships: readonly Membership[]): StepsOf => {
  const joins = byType(memberships, ({ joins }) => [...joins]);
  const ends = byType(memberships, ({ end }) => [end]);
  const parents = new Map(memberships.map(({ parentEnd, parentKind }) => [parentEnd, parentKind]));
  return (event) => {
    const { type, stream, position } = event;
    if (type === 'account.reclaimed') {
      const { userId } = userIds.parse(event.data);
      return [{ kind: 'reclaim', parent: userStream(userId as UserId), cause: causeOf(event), position }];
    }
    const parent = parents.get(type);
    if (parent !== undefined) {
      if (!stream.startsWith(`${parent}-`)) return [];
      const orphan: Step = {
        kind: 'orphan',
        parent: stream,
        cause: { id: event.id, metadata: metadataOf(event) },
        isErased: parent === 'user',
      };
      return [...orNone(() => linksOf('leave', ends.get(type), event)), orphan];
    }
    return [...linksOf('join', joins.get(type), event), ...linksOf('leave', ends.get(type), event)];
  };
};

const byType = (memberships: readonly Membership[], typesOf: (membership: Membership) => readonly string[]) =>
  Map.groupBy(
    memberships.flatMap((membership) => typesOf(membership).map((type) => ({ type, membership }))),
    ({ type }) => type,
  );

const causeOf = ({ id, metadata }: RecordedEvent): Cause => ({ id, metadata: readMetadata(metadata) });

type Named = readonly { readonly membership: Membership }[] | undefined;

const linksOf = (kind: 'join' | 'leave', named: Named, event: RecordedEvent): readonly Step[] =>
  (named ?? []).map(({ membership }) => ({ kind, ...linkOf(membership, event.data), cause: causeOf(event) }));

const linkOf = (
  { kind, parentKind, parentKey }: Membership,
  data: RecordedEvent['data'],
): Pick<Link, 'parent' | 'child'> => ({
  parent: streamName(parentKind, id.parse(data[parentKey])),
  child: streamName(kind, id.parse(data[`${kind}Id`])),
});

/** A damaged end leaves its parent's list of children as it is: ending it again does nothing. */
const orNone = (read: () => readonly Step[]): readonly Step[] => {
  try {
    return read();
  } catch {
    return [];
  }
};

/** Of a deletion whose metadata is damaged, what is known all the same. */
const metadataOf = ({ id, metadata, recordedAt }: RecordedEvent): MetadataContext => {
  try {
    return readMetadata(metadata);
  } catch {
    const unknown = {
      actor: 'system:process-manager',
      client: null,
      request: id,
      correlation: id,
      causation: null,
    } as const;
    return { at: recordedAt.toISOString(), ...unknown };
  }
};

/** Steps of one kind that follow each other can be taken together. */
export const runsOf = (steps: readonly Step[]): readonly (readonly Step[])[] => {
  const runs: Step[][] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last?.[0]?.kind === step.kind) last.push(step);
    else runs.push([step]);
  }
  return runs;
};
