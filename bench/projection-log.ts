import pg from 'pg';
import { v7 } from 'uuid';
import type { EventId, StreamName } from '../kernel/base/brands.ts';
import { openEventLog } from '../process/engines/open-event-log.ts';
import { REAL_TIME } from '../shared/clock/real-time.ts';
import { openPool } from '../shared/database/pool.ts';
import { type Codec, createCodec } from '../shared/events/codec.ts';
import { type MasterKey, parseMasterKey } from '../shared/keys/master-key.ts';
import { openPostgresKeyStore } from '../shared/keys/postgres/postgres-key-store.ts';
import { EPOCH_MS, HISTORIES, type HistoryName, type Planned } from './histories.ts';

export const MASTER_KEY = Buffer.alloc(32, 9).toString('base64');

const masterKey: MasterKey = parseMasterKey(MASTER_KEY);
const BATCH = 2_000;

/** Fills an empty database with a log as the command side would have written it. */
export const fillLog = async (
  url: string,
  count: number,
  name: HistoryName = 'publishing',
): Promise<void> => {
  const { domain, history } = HISTORIES[name];
  await using log = await openEventLog({ url, clock: REAL_TIME });
  await using pool = openPool({ url, applicationName: 'annals-bench', connectionsMax: 4 });
  await using keys = await openPostgresKeyStore({
    pool,
    masterKey,
    cacheLifetimeMs: 600_000,
    cacheKeysMax: 1_000_000,
  });
  const codec = createCodec({ keys, domain });
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

const CONTEXT = {
  actor: 'user:7001',
  client: 'web',
  request: '0198c0de-0000-7000-8000-000000000000',
  correlation: '0198c0de-0000-7000-8000-000000000000',
  causation: null,
} as const;

const store = async (
  client: pg.Client,
  codec: Codec,
  { batch, position }: { batch: readonly Planned[]; position: number },
) => {
  const rows = await Promise.all(
    batch.map(async ({ stream, version, event }, index) => {
      const at = new Date(EPOCH_MS + (position + index) * 1_000).toISOString();
      const encoded = await codec.encode(event, { ...CONTEXT, at }, v7() as EventId, stream as StreamName);
      const [data, metadata] = [JSON.stringify(encoded.data), JSON.stringify(encoded.metadata)];
      const bytes = Buffer.byteLength(data) + Buffer.byteLength(metadata);
      return {
        position: position + index + 1,
        stream,
        version,
        id: encoded.id,
        type: encoded.type,
        data,
        metadata,
        bytes,
      };
    }),
  );
  await client.query(
    `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select position, stream, version, id, type, data::json, metadata::json, bytes
     from json_to_recordset($1) as p (position bigint, stream text, version integer, id uuid, type text, data text, metadata text, bytes integer)`,
    [JSON.stringify(rows)],
  );
};
