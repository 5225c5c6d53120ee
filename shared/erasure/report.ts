import { dirname } from 'node:path';
import type { EventId, UserId } from '#kernel/base/brands.ts';
import { readMetadata } from '#kernel/base/events/metadata.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { selectKeyState } from '#shared/keys/postgres/statements.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import type { ReadModels } from './copies.ts';
import { countInReadModels, countInVerifications } from './count-copies.ts';
import type { ErasureList } from './erasure-list.ts';
import { eventsSince, readEnds } from './events-since.ts';
import { countOf } from './looks.ts';
import { placesOf } from './places.ts';
import { endingWith, type Naming, stayingWithout } from './references.ts';
import { countOfLook, looksOf, TABLES } from './tables-of-product.ts';
import { type UploadsOf, uploadsOf } from './uploads.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read' | 'follow' | 'head'>;
  readonly erasures: Pick<ErasureList, 'read' | 'path'>;
  /** The storage of uploads; without it, the report does not check that they are gone. */
  readonly blobs?: Pick<Blobs, 'find'> | undefined;
};

/**
 * The report on an erasure, and its remaining work; undefined for a user who was not deleted. It is computed
 * from the log and the present data, and holds no personal data. Reads the log from the user’s registration
 * to its end.
 */
export const reportErasure = async (
  { domain, pool, eventLog, erasures, blobs }: Dependencies,
  userId: UserId,
  signal: AbortSignal,
): Promise<ErasureReport | undefined> => {
  const [listed, key, { first, deletion }] = await Promise.all([
    erasures.read().then((all) => all.find((each) => each.userId === userId)),
    selectKeyState(pool, userId),
    readEnds(eventLog, userId),
  ]);
  if (!deletion && !listed && !key?.destroyedAt) return undefined;
  const uploads = uploadsOf(domain, userId);
  const inLog = await countInLog(eventLog, { userId, deletion: deletion?.id, first, uploads }, signal);
  const isKeyDestroyed = key === undefined || key.destroyedAt !== null;
  const sealed = inLog.sealed.reduce((sum, { events }) => sum + events, 0);
  const places = await placesOf({ pool, domain, blobs, auditDir: dirname(erasures.path) }, userId, {
    ...{ sealed, uploads, isKeyDestroyed },
    hasKey: key !== undefined,
  });
  const [left, kept] = await Promise.all([
    countLeft({ domain, pool, tables: tablesOf(domain) }, userId),
    countKept({ domain, pool }, userId),
  ]);
  const parts = [
    { part: 'erasure list', left: listed ? 0 : 1 },
    // A user who never had a key has nothing to open.
    { part: 'key', left: isKeyDestroyed ? 0 : 1 },
    { part: 'deletion in the log', left: deletion ? 0 : 1 },
    ...left,
    ...['uploads', 'exports in AUDIT_DIR'].map((part) => ({
      part,
      left: places.find(({ place }) => place === part)?.left ?? 0,
    })),
  ].map((part) => ({ ...part, isDone: part.left === 0 }));
  return {
    userId,
    // The places were counted before the parts: data that was erased in between was there.
    isDone: parts.every(({ isDone }) => isDone) && places.every((place) => place.left === 0),
    asked: deletion ? askedBy(deletion) : null,
    listedAt: listed?.at ?? null,
    keyDestroyedAt: key?.destroyedAt?.toISOString() ?? null,
    ...inLog,
    parts,
    places: [...places],
    kept,
  };
};

const askedBy = ({ id, metadata, recordedAt }: RecordedEvent): ErasureReport['asked'] => {
  try {
    const { at, actor, client, request } = readMetadata(metadata);
    return { event: id, at, actor, client, request };
  } catch {
    // Damaged, but the deletion itself is certain.
    return { event: id, at: recordedAt.toISOString(), actor: null, client: null, request: null };
  }
};

type Asked = {
  readonly userId: UserId;
  readonly deletion: EventId | undefined;
  readonly first: RecordedEvent | undefined;
  readonly uploads: UploadsOf;
};

/**
 * Counts the events that nobody can open any more, by type, and the aggregates deleted because of this
 * deletion.
 */
const countInLog = async (
  eventLog: Pick<EventLog, 'follow' | 'head'>,
  { userId, deletion, first, uploads }: Asked,
  signal: AbortSignal,
): Promise<Pick<ErasureReport, 'sealed' | 'followed'>> => {
  const [sealed, followed] = [new Map<string, number>(), new Map<string, number>()];
  const take = (event: RecordedEvent): void => {
    const { type, data, metadata } = event;
    uploads.take(event);
    const { personal } = data as { personal?: { subject?: unknown } };
    if (personal?.subject === userId) count(sealed, type);
    if (deletion !== undefined && metadata.$causationId === deletion) count(followed, type);
  };
  for await (const page of eventsSince(eventLog, first, signal)) for (const event of page) take(event);
  signal.throwIfAborted();
  return { sealed: byType(sealed), followed: byType(followed) };
};

const count = (counts: Map<string, number>, type: string): void =>
  void counts.set(type, (counts.get(type) ?? 0) + 1);

const byType = (counts: ReadonlyMap<string, number>): ErasureReport['sealed'] =>
  [...counts]
    .map(([type, events]) => ({ type, events }))
    .toSorted((one, other) => (one.type < other.type ? -1 : 1));

type Left = Pick<ErasureReport['parts'][number], 'part' | 'left'>;

/** The counted tables of the roles. */
const PARTS = [
  { part: 'webhooks', text: `select count(*) from ${LIVE_SCHEMA}.webhooks where owner_id = $1` },
  ...Object.values(TABLES)
    .flatMap(looksOf)
    .map((look) => ({ part: look.part, text: countOfLook(look) })),
];

type Erased = ReadModels & { readonly domain: Domain };

/** The remaining data of a person, by place; empty once all roles have applied their deletion. */
export const countLeft = async (
  { domain, pool, tables }: Erased,
  userId: UserId,
): Promise<readonly Left[]> => {
  const versions = [...(await countInReadModels({ pool, tables }, userId))].map(([part, left]) => ({
    part,
    left,
  }));
  const ending = endingWith(domain).map((naming) => ({ part: naming.says, text: countOfNaming(naming) }));
  const endings = ending.map(async ({ part, text }) => ({ part, left: await countOf(pool, text, userId) }));
  const parts = PARTS.map(async ({ part, text }) => ({ part, left: await countOf(pool, text, userId) }));
  const verifications = countInVerifications({ pool, tables }, userId).then((left) => ({
    part: 'verifications',
    left,
  }));
  return Promise.all([...versions, verifications, ...endings, ...parts]);
};

/** The data that stays, without the person. */
const countKept = async (
  { domain, pool }: Omit<Erased, 'tables'>,
  userId: UserId,
): Promise<ErasureReport['kept']> =>
  Object.fromEntries(
    await Promise.all(
      stayingWithout(domain).map(
        async (naming) => [naming.name, await countOf(pool, countOfNaming(naming), userId)] as const,
      ),
    ),
  );

const countOfNaming = ({ kind, where }: Naming): string =>
  `select count(*) from ${LIVE_SCHEMA}.${kind.table} t where ${where}`;
