import * as z from 'zod';
import type { EventId, Position, StreamName, UserId } from '#kernel/base/brands.ts';
import { type MetadataContext, readMetadata } from '#kernel/base/events/metadata.ts';
import { kindIn } from '#kernel/base/events/streams.ts';
import { type Belonging, belongingIn, type Membership } from '#kernel/decide/memberships.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { userStream } from '../users/user.ts';

/** The event that caused a task. */
export type Cause = {
  readonly id: EventId;
  readonly metadata: MetadataContext;
  /** Unknown for tasks that an earlier release recorded. */
  readonly position?: Position | undefined;
};

export type Link = Belonging & { readonly cause: Cause };

/** The meaning of an event for memberships. */
export type Step =
  | ({ readonly kind: 'join' } & Link)
  | ({ readonly kind: 'leave' } & Link)
  /** The parent has ended. A user is erased as well. */
  | {
      readonly kind: 'orphan';
      readonly parent: StreamName;
      readonly cause: Cause;
      readonly isErased: boolean;
    }
  /** The webhooks that were registered for a user before this position end; the user remains. */
  | {
      readonly kind: 'reclaim';
      readonly parent: StreamName;
      readonly cause: Cause;
      readonly position: Position;
    };

// Ids suffice, and they are in clear: nothing is decrypted, and a lost key delays nothing.
const userIds = z.object({ userId: z.int().positive() });

export type StepsOf = (event: RecordedEvent) => readonly Step[];

/**
 * The steps of an event in order; most events have none. Throws if the event is damaged, unless it is the end
 * of a parent, for which type and stream suffice.
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
      if (kindIn(stream) !== parent) return [];
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
  (named ?? []).map(({ membership }) => {
    const belonging = belongingIn(membership, event.data);
    if (belonging === undefined) throw new Error('The event lacks the ids of a child and its parent.');
    return { kind, ...belonging, cause: causeOf(event) };
  });

/** A damaged end leaves its child in the parent’s list: ending it again has no effect. */
const orNone = (read: () => readonly Step[]): readonly Step[] => {
  try {
    return read();
  } catch {
    return [];
  }
};

/** The readable parts of the metadata, if those of a deletion are damaged. */
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

/** Groups consecutive steps of one kind, which can be executed together. */
export const runsOf = (steps: readonly Step[]): readonly (readonly Step[])[] => {
  const runs: Step[][] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last?.[0]?.kind === step.kind) last.push(step);
    else runs.push([step]);
  }
  return runs;
};
