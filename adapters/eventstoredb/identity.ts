import { randomUUID } from 'node:crypto';
import type { EventId, LogIdentity, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { DEFAULT_LOG_PREFIX } from '#shared/event-log/default-prefix.ts';
import { LogNotBegun, StaleVersion, StreamCut } from '#shared/event-log/errors.ts';
import { NO_STREAM, type Seen } from '#shared/event-log/event-log.ts';
import type { LogOwner } from '#shared/event-log/owner/owner.ts';
import { type Appender, eventOfLog } from './append.ts';
import { NO_PREFIX, type StreamPrefix, settingOf, streamPrefixOf } from './own-streams.ts';
import { ask, demandNeverWritten, isOfDeleted, type Reader, readPage } from './read.ts';
import { IDENTITY_STREAM, positionOf } from './record.ts';

export type Owning = {
  /** The EVENT_LOG_PREFIX. */
  readonly prefix?: string | undefined;
  /** Without one, the log is opened for whoever owns it. */
  readonly owner?: LogOwner | undefined;
};

/** The identity of a log, as its stream has it. */
type Identity = {
  readonly identity: LogIdentity;
  /** Its first record. */
  readonly begin: Seen;
  /** Undefined for a log from before owners were recorded, or if no installation has started on it yet. */
  readonly owner: string | undefined;
  /** All that it has had. */
  readonly owners: ReadonlySet<string>;
  readonly version: Version;
};

type Found = {
  readonly prefix: StreamPrefix;
  readonly known: Identity | undefined;
  /** The log is only looked at. */
  readonly isOfAnother?: true;
};

/**
 * Finds the log of an installation on a server, and refuses that of another. Writes nothing. A log from before
 * there were prefixes keeps its names.
 */
export const findIdentity = async (
  whole: Reader,
  { prefix: setting = DEFAULT_LOG_PREFIX, owner }: Owning,
): Promise<Found> => {
  const isDefault = setting === DEFAULT_LOG_PREFIX;
  // A copy never has the names of such a log.
  const former = owner?.isOfCopy ? undefined : await readIdentity(whole, NO_PREFIX);
  // The log may have been copied to a prefix.
  if (former && isOf(former, owner) && (owner?.follows ?? former.identity) === former.identity) {
    if (!isDefault) throw new StartRefused(keepsItsNames(setting));
    return { prefix: NO_PREFIX, known: former };
  }
  const prefix = streamPrefixOf(setting);
  const known = await readIdentity(whole, prefix);
  // Without a database that knows it, the former one may be the log of a lost one.
  const there = known ?? (isDefault ? former : undefined);
  if (owner?.follows !== undefined && owner.follows !== there?.identity) {
    if (there === undefined) await demandUncut(whole, `${prefix}${IDENTITY_STREAM}`);
    throw new StartRefused(isElsewhere(owner.follows, setting));
  }
  if (there === undefined) {
    // Only an installation begins one, so that it is never without an owner.
    if (owner && (owner.looksOnly || owner.id === undefined))
      throw new LogNotBegun(`at EVENT_LOG_URL with EVENT_LOG_PREFIX ${setting}`);
    return { prefix, known: undefined };
  }
  const found: Found = { prefix: known ? prefix : NO_PREFIX, known: there };
  const isOwn = owner === undefined || isOf(there, owner) || (known && known.owner === undefined);
  if (isOwn || owner.takesOver === there.identity) return found;
  if (owner.looksOnly) return { ...found, isOfAnother: true };
  throw new StartRefused(isOfAnother(there.identity, found.prefix));
};

/** A database from a backup of before it had an id is that of the owner as well; one that was replaced is not. */
const isOf = ({ identity, owner, owners }: Identity, asked: LogOwner | undefined): boolean =>
  asked !== undefined &&
  ((owner !== undefined && owner === asked.id) ||
    (asked.follows === identity && (asked.id === undefined || !owners.has(asked.id))));

type Keeping = { readonly reader: Reader; readonly appender: Appender; readonly found: Found };

/**
 * Names the owner of a log that has none, and creates a log that does not exist. If several processes do so at
 * the same time, one writes it and all read it; the owner of one of them remains.
 */
export const keepIdentity = async (
  keeping: Keeping,
  owning: Owning,
): Promise<{ readonly identity: LogIdentity; readonly begin: Seen | undefined }> => {
  const { found } = keeping;
  const { prefix, known } = found;
  if (known === undefined || !isKept(known, owning.owner))
    return keepIdentity(
      { ...keeping, found: { prefix, known: await writeIdentity(keeping, owning) } },
      owning,
    );
  return { identity: known.identity, begin: prefix === NO_PREFIX ? undefined : known.begin };
};

const isKept = (known: Identity, owner: LogOwner | undefined): boolean =>
  owner?.id === undefined || owner.looksOnly === true || known.owner === owner.id;

/** Writes who owns the log, unless somebody else is faster, and returns what is there then. */
const writeIdentity = async (
  { reader, appender, found: { prefix, known } }: Keeping,
  { prefix: setting = DEFAULT_LOG_PREFIX, owner }: Owning,
): Promise<Identity> => {
  const about: JsonObject = owner?.id === undefined ? {} : { owner: owner.id };
  await write(
    appender,
    known?.version ?? NO_STREAM,
    known ? ['log.owned', about] : ['log.identified', { identity: randomUUID(), prefix: setting, ...about }],
  );
  const kept = await readIdentity({ ...reader, prefix: NO_PREFIX }, prefix);
  if (!kept)
    throw new Error(
      `the log's identity was written to ${prefix}${IDENTITY_STREAM}, but cannot be read there`,
    );
  // A command that has no owner yet may have been faster.
  if (kept.owner !== undefined && !isKept(kept, owner))
    throw new StartRefused(isOfAnother(kept.identity, prefix));
  return kept;
};

const write = async (
  appender: Appender,
  expected: Version,
  [type, data]: readonly [type: string, data: JsonObject],
): Promise<void> => {
  try {
    const events = [eventOfLog(type, data)];
    await appender.append({ stream: IDENTITY_STREAM as StreamName, expected, events });
  } catch (error) {
    if (!(error instanceof StaleVersion)) throw error;
  }
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const readIdentity = async (whole: Reader, prefix: StreamPrefix): Promise<Identity | undefined> => {
  const stream = `${prefix}${IDENTITY_STREAM}`;
  const { events } = await ask(whole, `a read of ${stream}`, () =>
    readPage(whole, stream, { from: 0n }),
  ).catch((error: unknown) => {
    throw isOfDeleted(error) ? new StartRefused(isCut(stream), { cause: error }) : error;
  });
  const [first] = events;
  if (!first) return undefined;
  if (first.revision > 0n) throw new StartRefused(isCut(stream));
  const identity = textIn(first.data, 'identity');
  if (identity === undefined || !UUID.test(identity))
    throw new Error(`the first event of ${stream} does not name the log: it was not written by Annals`);
  const owners = events.flatMap(({ data }) => textIn(data, 'owner') ?? []);
  return {
    identity: identity as LogIdentity,
    begin: { position: positionOf(first), id: first.id as EventId },
    owner: owners.at(-1),
    owners: new Set(owners),
    version: events.length as Version,
  };
};

/** Without the stream, the database would seem to follow another log. */
const demandUncut = (whole: Reader, stream: string): Promise<void> =>
  demandNeverWritten(whole, stream as StreamName).catch((error: unknown) => {
    throw error instanceof StreamCut ? new StartRefused(isCut(stream), { cause: error }) : error;
  });

/** Where the log with a prefix begins. */
export const readBegin = async (whole: Reader, prefix: StreamPrefix): Promise<Position | undefined> => {
  const stream = `${prefix}${IDENTITY_STREAM}`;
  const { events } = await readPage(whole, stream, { from: 0n, countMax: 1 });
  return events[0] && positionOf(events[0]);
};

const textIn = (data: unknown, name: string): string | undefined => {
  const value: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined;
  return typeof value === 'string' ? value : undefined;
};

const isOfAnother = (identity: LogIdentity, prefix: StreamPrefix): string => {
  const setting = settingOf(prefix);
  return (
    `The event log at EVENT_LOG_URL ${setting === undefined ? 'without a prefix' : `with EVENT_LOG_PREFIX ${setting}`} belongs to another installation: set another EVENT_LOG_PREFIX, and the event log of this one begins beside it. ` +
    'If the database of that installation is lost and this one replaces it, `npm run annals -- erasure lost-keys` shows that log, ' +
    `and \`npm run annals -- erasure lost-keys --erase --log ${identity}\` takes it over.`
  );
};

const isCut = (stream: string): string =>
  `The stream ${stream}, which names the event log, was limited or deleted on the server at EVENT_LOG_URL: remove $maxCount, $maxAge and $tb from its metadata. If its first event was scavenged, or the stream deleted permanently, restore the server from a backup.`;

const keepsItsNames = (setting: string): string =>
  `The event log of this installation has no prefix, because it is from an earlier release, and EVENT_LOG_PREFIX is ${setting}: remove EVENT_LOG_PREFIX.`;

const isElsewhere = (identity: LogIdentity, setting: string): string =>
  `The database follows the event log ${identity}, but EVENT_LOG_URL with EVENT_LOG_PREFIX ${setting} has another or none: set both back, or set DATABASE_URL to the database that belongs to them.`;
