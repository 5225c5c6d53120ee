import * as z from 'zod';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { kindIn, streamName } from '#kernel/base/events/streams.ts';
import { wire } from '#kernel/base/names.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { isMovable, type Membership } from '#kernel/decide/memberships.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import { type EventLog, FIRST, type RecordedEvent } from '#shared/event-log/event-log.ts';
import { type AnnalsEvent, catalogueOf } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import { decodeClear } from '#shared/events/decode-clear.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read' | 'append'>;
  readonly codec: Pick<Codec, 'encode'>;
  readonly memberships: readonly Membership[];
};

type Ending = {
  readonly stream: StreamName;
  /** The parent that has ended, or was reclaimed; undefined if it is not known. */
  readonly parent?: StreamName | undefined;
  readonly eventId: EventId;
  readonly metadata: MetadataContext;
};

const ATTEMPTS_MAX = 12;

/**
 * Ends an aggregate whose parent has ended. An article that was published meanwhile stays, and so does a child
 * that has another parent now. Types, ids and carried fields are in clear, so that neither a lost key nor one
 * unreadable event keeps a child alive.
 */
export const endChild = async (
  dependencies: Dependencies,
  { stream, parent, eventId, metadata }: Ending,
): Promise<void> => {
  const { domain, eventLog, codec } = dependencies;
  const memberships = dependencies.memberships.filter(
    ({ kind, parentKind }) =>
      kindIn(stream) === kind && (parent === undefined || kindIn(parent) === parentKind),
  );
  const [first] = memberships;
  if (first === undefined) {
    // An earlier release noted the parent of a child that can move since: its reaction ends it. A release that
    // knows more aggregates may have noted others.
    if (domain.kinds[kindIn(stream)] !== undefined) return;
    throw new Error(`${stream} has no parent that can be deleted`);
  }
  const kind = domain.kinds[first.kind];
  const isSure = memberships.length === 1 && (parent !== undefined || kind === undefined || !isMovable(kind));
  const read = readChild(dependencies, stream, memberships);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const { version, bound, ids, carried } = await read();
    if (version === undefined || bound.length === 0) return;
    if (ids === undefined)
      throw new Error(`No event of ${stream} has all of its ids, so its end cannot be recorded.`);
    const asked = bound.filter((each) => parent === undefined || parentIn(each, ids) === parent);
    const ending = isSure ? asked[0] : await firstEnded(eventLog, asked, ids);
    if (ending === undefined) return;
    try {
      const data = { ...ids, ...carried(ending) };
      const event = await codec.encode(
        { type: ending.end, data } as unknown as AnnalsEvent,
        metadata,
        eventId,
        stream,
      );
      await eventLog.append(stream, version, [event]);
      return;
    } catch (error) {
      if (!(error instanceof StaleVersion)) throw error;
    }
  }
  throw new Error(`${stream} was changed during each of ${ATTEMPTS_MAX} attempts to end it.`);
};

type Ids = Readonly<Record<string, number>>;
type Child = {
  readonly version: Version | undefined;
  /** The memberships that apply now. */
  readonly bound: readonly Membership[];
  readonly ids: Ids | undefined;
  /** The carried fields of an end, folded from the readable events. */
  carried(ending: Membership): Row;
};

/** Reads the stream once; each further call reads only what was appended since. */
const readChild = (
  { domain, eventLog }: Dependencies,
  stream: StreamName,
  memberships: readonly Membership[],
): (() => Promise<Child>) => {
  const idsOf = z.object(
    Object.fromEntries((memberships[0]?.ids ?? []).map((name) => [name, z.int().positive()])),
  );
  const fold = foldCarried(domain, memberships);
  const statuses = new Map<Membership, string>();
  let version: Version | undefined;
  let ids: Ids | undefined;
  return async () => {
    const from = version === undefined ? FIRST : ((version + 1) as Version);
    for await (const page of eventLog.read(stream, from))
      for (const event of page) {
        version = event.version;
        for (const membership of memberships)
          if (membership.changes.has(event.type)) statuses.set(membership, event.type);
        // A move changes them.
        ids = idsOf.safeParse(event.data).data ?? ids;
        fold.take(event);
      }
    const bound = memberships.filter((each) => each.joins.has(statuses.get(each) ?? ''));
    return { version, bound, ids, carried: fold.carried };
  };
};

const parentIn = ({ parentKind, parentKey }: Membership, ids: Ids): StreamName =>
  streamName(parentKind, ids[parentKey] as number);

/** Of several parents, the first that has ended in a way that ends the child. */
const firstEnded = async (
  eventLog: Pick<EventLog, 'read'>,
  bound: readonly Membership[],
  ids: Ids,
): Promise<Membership | undefined> => {
  for (const membership of bound) {
    for await (const page of eventLog.read(parentIn(membership, ids)))
      if (page.some(({ type }) => type === membership.parentEnd)) return membership;
  }
  return undefined;
};

const foldCarried = (domain: Domain, memberships: readonly Membership[]) => {
  const kind = memberships.some(({ carries }) => carries.length > 0)
    ? domain.kinds[memberships[0]?.kind ?? '']
    : undefined;
  const catalogue = catalogueOf(domain);
  const evolve = kind && deciderOf(domain, kind).evolve;
  // The creation may be the unreadable event.
  let state: AggregateState = { status: 'present', fields: {}, lostUploads: '' };
  return {
    take(event: RecordedEvent): void {
      if (evolve === undefined) return;
      const clear = decodeClear(catalogue, event);
      if (clear === undefined) return;
      const { type, data, at, origin } = clear;
      state = evolve(state, { type, data, metadata: { at, actor: origin.actor } });
    },
    carried({ carries }: Membership): Row {
      const { fields } = state as { readonly fields?: Row };
      return Object.fromEntries(
        carries.map((field) => [wire(field, kind?.fields[field]), fields?.[field] ?? null]),
      );
    },
  };
};
