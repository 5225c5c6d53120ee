import type { StreamName } from '#shared/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec, DecodedEvent } from '#shared/events/codec.ts';
import { ARTICLES } from '#shared/read-model/articles.ts';
import type { Change } from '#shared/read-model/change.ts';
import { COMMENTS, type CommentEvent } from '#shared/read-model/comments.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import { USERS } from '#shared/read-model/users.ts';
import { WEBHOOKS } from '#shared/read-model/webhooks.ts';
import { rowOf, type TableName } from './aggregates.ts';
import { exceptionsAmong, park } from './parked.ts';
import { type Prepared, prepare } from './prepared.ts';
import { removalOf } from './removed.ts';
import { write } from './rows.ts';
import { isOf, takeIn } from './take-in.ts';

/**
 * Takes events into the read model that comes first in the connection's search path. Answers with the aggregates that had to be
 * parked. However the log is cut into batches, the read model ends the same.
 */
export const project = async (connection: Connection, codec: Codec, events: readonly RecordedEvent[]): Promise<readonly Parked[]> =>
  projectPrepared(connection, await prepare(codec, events));

/** The same, for events that were decoded in advance. */
export const projectPrepared = async (connection: Connection, { own, decoded, damaged }: Prepared): Promise<readonly Parked[]> => {
  if (own.length === 0) return [];
  const { parked, isSkipped } = await exceptionsAmong(connection, new Set(own.map(({ stream }) => stream)));
  const damages = firstOfEach(damaged.filter((event) => !parked.has(event.stream) && !isSkipped(event)));
  // Also what comes before the damage, because that may be refused and then stands for the whole stream.
  const whole = decoded.filter((event) => !parked.has(event.stream) && !isSkipped(event) && isBefore(event, damages.get(event.stream)));
  const refused = await takeIn(connection, whole);
  await moveVersionsOn(connection, own.filter(isSkipped));
  const parkings = [...new Map([...damages, ...refused.map((each) => [each.stream, each] as const)]).values()];
  await park(connection, parkings);
  await eraseTexts(connection, {
    departures: decoded.filter(isDeparture),
    comments: whole.filter(isOf<CommentEvent>(...WRITING)),
    webhooks: whole.filter(isOf<Registered>('webhook.registered')),
  });
  return parkings;
};

type Registered = DecodedEvent<'webhook.registered'>;

const WRITING = ['comment.added', 'comment.edited'] as const;

/** That somebody is gone counts, whatever became of their aggregate. */
const isDeparture = ({ type }: { readonly type: string }): boolean => type === 'user.deleted';

const isBefore = ({ version }: DecodedEvent, damage: Parked | undefined): boolean => damage === undefined || version < damage.version;

const firstOfEach = (damaged: readonly Parked[]): ReadonlyMap<StreamName, Parked> => {
  const first = new Map<StreamName, Parked>();
  for (const each of damaged) if (!first.has(each.stream)) first.set(each.stream, each);
  return first;
};

/** An event that is left out is there all the same, so that the version which clients are shown is the one to write against. */
const moveVersionsOn = async (connection: Connection, skipped: readonly RecordedEvent[]): Promise<void> => {
  const to = (table: TableName): readonly Change<never>[] =>
    skipped.flatMap(({ stream, version }) => {
      const row = rowOf(stream);
      return row?.table === table ? [{ kind: 'patch' as const, row: { id: row.id, version } }] : [];
    });
  await write<string>(connection, USERS, to('users'));
  await write<string>(connection, ARTICLES, to('articles'));
  await write<string>(connection, COMMENTS, to('comments'));
  await write<string>(connection, WEBHOOKS, to('webhooks'));
};

type Texts = {
  readonly departures: readonly DecodedEvent[];
  readonly comments: readonly CommentEvent[];
  readonly webhooks: readonly Registered[];
};

/** What a deleted user wrote or registered is theirs: it goes with them, also where it is taken in later, so that every replay ends the same. */
const eraseTexts = async (connection: Connection, { departures, comments, webhooks }: Texts): Promise<void> => {
  const gone = departures.flatMap(({ stream }) => rowOf(stream)?.id ?? []);
  const written = comments.map(({ data }) => data.commentId);
  if (gone.length > 0) {
    await connection.query('insert into departed select distinct unnest($1::bigint[]) on conflict do nothing', [gone]);
    await connection.query('update comments set text = null where author_id = any($1) and text is not null', [gone]);
    await connection.query(removalOf(WEBHOOKS, 'delete from webhooks t where owner_id = any($1)'), [gone]);
  }
  if (written.length > 0) {
    await connection.query(
      'update comments c set text = null from departed d where c.id = any($1) and d.user_id = c.author_id and c.text is not null',
      [written],
    );
  }
  const registered = webhooks.map(({ data }) => data.webhookId);
  if (registered.length > 0) {
    const removal = removalOf(WEBHOOKS, 'delete from webhooks t using departed d where t.id = any($1) and d.user_id = t.owner_id');
    await connection.query(removal, [registered]);
  }
};
