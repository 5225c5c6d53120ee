import pg from 'pg';
import { v7 } from 'uuid';
import { publishing } from '../domain/publishing.ts';
import type { EventId, StreamName, UserId } from '../shared/brands.ts';
import { openPool } from '../shared/database/pool.ts';
import { openEventLog } from '../shared/event-log/open.ts';
import type { AnnalsEvent } from '../shared/events/catalogue.ts';
import { type Codec, createCodec } from '../shared/events/codec.ts';
import { type MasterKey, parseMasterKey } from '../shared/keys/master-key.ts';
import { openPostgresKeyStore } from '../shared/keys/postgres/postgres-key-store.ts';

export const MASTER_KEY = Buffer.alloc(32, 9).toString('base64');

const masterKey: MasterKey = parseMasterKey(MASTER_KEY);
const BATCH = 2_000;
/** Later events are about what is recent, as on a real site. */
const RECENT = 1_000;

/** Fills an empty database with a log as the command side would have written it, of users, articles, comments, and reservations. */
export const fillLog = async (url: string, count: number): Promise<void> => {
  await using log = await openEventLog({ url });
  await using pool = openPool({ url, applicationName: 'annals-bench', connectionsMax: 4 });
  await using keys = await openPostgresKeyStore({ pool, masterKey, cacheLifetimeMs: 600_000, cacheKeysMax: 1_000_000 });
  const codec = createCodec({ keys, domain: publishing });
  if ((await log.head()) > 0) throw new Error('the log is not empty');
  const events = history();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let position = 0; position < count; position += BATCH) {
      const size = Math.min(BATCH, count - position);
      const batch = Array.from({ length: size }, () => events.next().value as Planned);
      await store(client, codec, { batch, position });
    }
    await client.query('vacuum analyze event_log.event');
  } finally {
    await client.end();
  }
};

type Planned = { readonly stream: string; readonly version: number; readonly event: AnnalsEvent };

const CONTEXT = {
  actor: 'user:7001',
  client: 'web',
  request: '0198c0de-0000-7000-8000-000000000000',
  correlation: '0198c0de-0000-7000-8000-000000000000',
  causation: null,
} as const;

const EPOCH_MS = Date.UTC(2026, 0, 1);

const store = async (client: pg.Client, codec: Codec, { batch, position }: { batch: readonly Planned[]; position: number }) => {
  const rows = await Promise.all(
    batch.map(async ({ stream, version, event }, index) => {
      const at = new Date(EPOCH_MS + (position + index) * 1_000).toISOString();
      const encoded = await codec.encode(event, { ...CONTEXT, at }, v7() as EventId, stream as StreamName);
      const [data, metadata] = [JSON.stringify(encoded.data), JSON.stringify(encoded.metadata)];
      const bytes = Buffer.byteLength(data) + Buffer.byteLength(metadata);
      return { position: position + index + 1, stream, version, id: encoded.id, type: encoded.type, data, metadata, bytes };
    }),
  );
  await client.query(
    `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select position, stream, version, id, type, data::json, metadata::json, bytes
     from json_to_recordset($1) as p (position bigint, stream text, version integer, id uuid, type text, data text, metadata text, bytes integer)`,
    [JSON.stringify(rows)],
  );
};

/** The same history each time: the choices are of a generator of its own. */
function* history(): Generator<Planned> {
  const random = randomOf(7);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const recent = <Item>(items: readonly Item[]): Item => pick(items.slice(-RECENT));
  const versions = new Map<string, number>();
  const planned = (stream: string, given: { readonly type: string; readonly data: object }): Planned => {
    const version = (versions.get(stream) ?? 0) + 1;
    versions.set(stream, version);
    // Those of the domain are declared, and have no types here.
    const event = given as AnnalsEvent;
    return { stream, version, event };
  };
  const users: UserId[] = [];
  const articles: { articleId: number; authorId: UserId }[] = [];
  const comments: { commentId: number; articleId: number; authorId: UserId }[] = [];
  let nextId = 1_000;
  const text = (words: number) => Array.from({ length: words }, () => pick(WORDS)).join(' ');
  for (let n = 0; ; n += 1) {
    const kind = n < 200 ? 0 : n < 400 ? 10 : random() * 100;
    nextId += 1;
    if (kind < 5) {
      const userId = nextId as UserId;
      users.push(userId);
      yield planned(`user-${userId}`, {
        type: 'user.registered',
        data: { userId, name: `Person ${userId}`, email: `person-${userId}@example.com`, role: 'author' },
      });
    } else if (kind < 24) {
      const article = { articleId: nextId, authorId: recent(users) };
      articles.push(article);
      const data = { ...article, title: text(6), body: text(150), tags: [pick(WORDS), `tag-${nextId % 97}`], cover: null };
      yield planned(`article-${nextId}`, { type: 'article.drafted', data });
      yield planned(`article-${nextId}`, { type: 'article.published', data: article });
      n += 1;
    } else if (kind < 32) {
      const article = recent(articles);
      yield planned(`article-${article.articleId}`, { type: 'article.edited', data: { ...article, title: text(6) } });
    } else if (kind < 34) {
      const userId = recent(users);
      yield planned(`user-${userId}`, { type: 'user.updated', data: { userId, name: `Renamed ${nextId}` } });
    } else if (kind < 80) {
      const comment = { commentId: nextId, articleId: recent(articles).articleId, authorId: recent(users) };
      comments.push(comment);
      yield planned(`comment-${nextId}`, { type: 'comment.added', data: { ...comment, text: text(20) } });
    } else if (kind < 84 && comments.length > 0) {
      const comment = recent(comments);
      yield planned(`comment-${comment.commentId}`, { type: 'comment.edited', data: { ...comment, text: text(20) } });
    } else {
      const digest = `${nextId}`;
      const data = { digest, seed: digest, at: new Date(EPOCH_MS).toISOString(), by: 'command-1' };
      yield planned(`command-${digest}`, { type: 'command.reserved', data });
    }
  }
}

const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const WORDS =
  `the of and a to in is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would
their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my
now over such our man me even most made after also did many off before must well back through years much where your way down should because long each just state those
people too mr how little good world make very year still see own work men day get here old life both between being under three never know same last another while us
might great go come since against right came take used himself few house american use place during high without again home around small however found mrs part school
thought went say general once upon war every left got united number course war until always away something fact water public though less put think almost hand enough far
took head yet better set told nothing night end why called going system didn find look asked later point knew next city business case given group toward young days let
room present side social several order national program form face second possible rather per among large need interest often children early felt big best thing means white
engine analytical difference machine number operation cards mill store columns punched weaving algebraic patterns jacquard loom calculus formula bernoulli note diagram`
    .split(/\s+/)
    .filter((word) => word.length > 0);
