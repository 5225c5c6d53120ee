import { randomUUID } from 'node:crypto';
import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql';
import { EventStoreDBClient, jsonEvent, NO_STREAM as NO_STREAM_YET } from '@eventstore/db-client';
import pg from 'pg';
import { v7 } from 'uuid';
import { createIdMaker } from '../command/new-id.ts';
import type { EventId, StreamName } from '../kernel/base/brands.ts';
import { openEventLog } from '../process/engines/open-event-log.ts';
import { REAL_TIME } from '../shared/clock/real-time.ts';
import { NO_STREAM } from '../shared/event-log/event-log.ts';

/** A way to append one event durably to a new stream. */
type Contender = {
  readonly title: string;
  open(url: string, writers: number): Promise<AsyncDisposable & { append(): Promise<unknown> }>;
};

const CONNECTIONS_MAX = 32;

/** Names as in the product, by increasing ids; the process id distinguishes four processes. */
const newId = createIdMaker(Date.now);
const newStream = (): string => `article-${newId()}.${process.pid}`;

const data = {
  articleId: 123_456_789,
  authorId: 987_654_321,
  title: 'On engines',
  body: 'An analytical one. '.repeat(12),
  tags: ['engines'],
};
const metadata = {
  version: 1,
  at: new Date().toISOString(),
  actor: 'user:1',
  client: 'bench',
  request: randomUUID(),
  $correlationId: randomUUID(),
};

const oursOn = (title: string): Contender => ({
  title,
  async open(url) {
    const log = await openEventLog({ url, clock: REAL_TIME });
    return {
      append: () =>
        log.append(newStream() as StreamName, NO_STREAM, [
          { id: v7() as EventId, type: 'article.drafted', data, metadata },
        ]),
      [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
    };
  },
});

const TABLE = `create table if not exists plain_event (
  position bigint generated always as identity primary key, stream text not null, version integer not null,
  id uuid not null unique, type text not null, data json not null, metadata json not null, recorded_at timestamptz not null default now(),
  unique (stream, version))`;
const INSERT =
  'insert into plain_event (stream, version, id, type, data, metadata) values ($1, 1, $2, $3, $4, $5)';
const values = () => [newStream(), v7(), 'article.drafted', JSON.stringify(data), JSON.stringify(metadata)];

const openPlain = async (url: string, writers: number): Promise<pg.Pool> => {
  const pool = new pg.Pool({ connectionString: url, max: Math.min(writers, CONNECTIONS_MAX) });
  // Several processes may get here at the same time.
  await pool
    .query(`select pg_advisory_lock(1)`)
    .then(() => pool.query(TABLE))
    .catch(() => pool.query(TABLE));
  return pool;
};

const plainInsert: Contender = {
  title: 'plain insert (positions can be overtaken)',
  async open(url, writers) {
    const pool = await openPlain(url, writers);
    return {
      append: () => pool.query({ name: 'plain', text: INSERT, values: values() }),
      [Symbol.asyncDispose]: () => pool.end(),
    };
  },
};

const lockPerAppend: Contender = {
  title: 'a lock per append',
  async open(url, writers) {
    const pool = await openPlain(url, writers);
    const append = async (): Promise<void> => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await client.query('select pg_advisory_xact_lock(2)');
        await client.query({ name: 'locked', text: INSERT, values: values() });
        await client.query('commit');
      } finally {
        client.release();
      }
    };
    return { append, [Symbol.asyncDispose]: () => pool.end() };
  },
};

/** Migrated before, as its documentation advises for production. */
const emmett: Contender = {
  title: 'Emmett 0.42',
  async open(url, writers) {
    const pool = new pg.Pool({ connectionString: url, max: Math.min(writers, CONNECTIONS_MAX) });
    const store = getPostgreSQLEventStore(url, {
      connectionOptions: { pool },
      schema: { autoMigration: 'None' },
    });
    await store.schema.migrate();
    const append = () =>
      store.appendToStream(newStream(), [{ type: 'article.drafted', data, metadata }], {
        expectedStreamVersion: 'STREAM_DOES_NOT_EXIST',
      });
    return {
      append,
      async [Symbol.asyncDispose]() {
        await store.close();
        await pool.end();
      },
    };
  },
};

/** One client sends all appends over one connection, in parallel. */
const eventStoreClient: Contender = {
  title: 'EventStoreDB, its client',
  async open(url) {
    const client = EventStoreDBClient.connectionString(url);
    const append = () =>
      client.appendToStream(newStream(), jsonEvent({ id: v7(), type: 'article.drafted', data, metadata }), {
        expectedRevision: NO_STREAM_YET,
      });
    return { append, [Symbol.asyncDispose]: () => client.dispose() };
  },
};

export const CONTENDERS = {
  ours: oursOn('ours'),
  plainInsert,
  lockPerAppend,
  emmett,
  oursOnEventStore: oursOn('ours on EventStoreDB'),
  eventStoreClient,
} as const satisfies Record<string, Contender>;
export type ContenderName = keyof typeof CONTENDERS;
