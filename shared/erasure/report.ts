import type { Domain } from '#kernel/registry/registry.ts';
import type { EventId, UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { readMetadata } from '#shared/events/metadata.ts';
import { streamName } from '#shared/events/streams.ts';
import { selectKeyState } from '#shared/keys/postgres/statements.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import type { ErasureList } from './erasure-list.ts';
import { countKept, countLeft } from './leavings.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read' | 'follow' | 'head'>;
  readonly erasures: Pick<ErasureList, 'read'>;
};

/**
 * What was erased of somebody, and what is left to be; nothing of somebody who was not deleted. It is made of the log and of what there is
 * now, and holds no personal data. The log is read from where they were registered to its end.
 */
export const reportErasure = async (
  { domain, pool, eventLog, erasures }: Dependencies,
  userId: UserId,
  signal: AbortSignal,
): Promise<ErasureReport | undefined> => {
  const [listed, key, { first, deletion }] = await Promise.all([
    erasures.read().then((all) => all.find((each) => each.userId === userId)),
    selectKeyState(pool, userId),
    readEnds(eventLog, userId),
  ]);
  if (!deletion && !listed && !key?.destroyedAt) return undefined;
  const inLog = await countInLog(eventLog, { userId, deletion: deletion?.id, first }, signal);
  const [left, kept] = await Promise.all([
    countLeft({ domain, pool, tables: tablesOf(domain) }, userId),
    countKept({ domain, pool }, userId),
  ]);
  const parts = [
    { part: 'erasure list', left: listed ? 0 : 1 },
    // Of somebody who never had one, there is nothing to open.
    { part: 'key', left: key === undefined || key.destroyedAt ? 0 : 1 },
    { part: 'deletion in the log', left: deletion ? 0 : 1 },
    ...left,
  ].map((part) => ({ ...part, isDone: part.left === 0 }));
  return {
    userId,
    isDone: parts.every(({ isDone }) => isDone),
    asked: deletion ? askedBy(deletion) : null,
    listedAt: listed?.at ?? null,
    keyDestroyedAt: key?.destroyedAt?.toISOString() ?? null,
    ...inLog,
    parts,
    kept,
  };
};

type Ends = { readonly first: RecordedEvent | undefined; readonly deletion: RecordedEvent | undefined };

/** Their first event, and that of their deletion. */
const readEnds = async (eventLog: Pick<EventLog, 'read'>, userId: UserId): Promise<Ends> => {
  let first: RecordedEvent | undefined;
  let deletion: RecordedEvent | undefined;
  for await (const page of eventLog.read(streamName('user', userId))) {
    first ??= page[0];
    deletion ??= page.find(({ type }) => type === 'user.deleted');
  }
  return { first, deletion };
};

const askedBy = ({ id, metadata, recordedAt }: RecordedEvent): ErasureReport['asked'] => {
  try {
    const { at, actor, client, request } = readMetadata(metadata);
    return { event: id, at, actor, client, request };
  } catch {
    // Damaged: that they were deleted is certain all the same.
    return { event: id, at: recordedAt.toISOString(), actor: null, client: null, request: null };
  }
};

type Asked = { readonly userId: UserId; readonly deletion: EventId | undefined; readonly first: RecordedEvent | undefined };

/** What nobody can open any more, by the type of event, and what was deleted because of the deletion. */
const countInLog = async (
  eventLog: Pick<EventLog, 'follow' | 'head'>,
  { userId, deletion, first }: Asked,
  signal: AbortSignal,
): Promise<Pick<ErasureReport, 'sealed' | 'followed'>> => {
  const [sealed, followed] = [new Map<string, number>(), new Map<string, number>()];
  const take = ({ type, data, metadata }: RecordedEvent): void => {
    const { personal } = data as { personal?: { subject?: unknown } };
    if (personal?.subject === userId) count(sealed, type);
    if (deletion !== undefined && metadata.$causationId === deletion) count(followed, type);
  };
  if (first !== undefined) take(first);
  const head = await eventLog.head();
  // A log is followed after one of its events: between two of them some engines know no position.
  if (first !== undefined && first.position < head) {
    for await (const page of eventLog.follow(first.position, signal)) {
      for (const event of page) take(event);
      if ((page.at(-1)?.position ?? head) >= head) break;
    }
  }
  signal.throwIfAborted();
  return { sealed: byType(sealed), followed: byType(followed) };
};

const count = (counts: Map<string, number>, type: string): void => void counts.set(type, (counts.get(type) ?? 0) + 1);

const byType = (counts: ReadonlyMap<string, number>): ErasureReport['sealed'] =>
  [...counts].map(([type, events]) => ({ type, events })).toSorted((one, other) => (one.type < other.type ? -1 : 1));
