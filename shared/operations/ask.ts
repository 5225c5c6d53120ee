import { v7 } from 'uuid';
import type { StreamName, Version } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { Rejection } from '#shared/rejection.ts';
import type { OrderKind } from './orders.ts';

export type NewOrder = {
  readonly kind: OrderKind;
  readonly stream?: StreamName;
  readonly version?: Version;
};

export type Asking = {
  readonly by: string;
  readonly client: string | null;
  readonly request: string;
  /** Digests of the key and its owner, and of what was asked for; the same key is the same order. */
  readonly key: { readonly digest: string; readonly content: string } | undefined;
};

/** More than that nobody has asked for by hand. */
const OPEN_MAX = 1_000;

/** Orders are asked for one after the other, so that what is counted here is true. Far below what anybody asks for. */
const ONE_AT_A_TIME = `select pg_advisory_xact_lock(hashtext('annals orders of operators'))`;

/** Puts an order to the others, unless it is there; `demand` refuses one that is of no use. Answers with its id. */
export const askFor = (pool: Pool, order: NewOrder, asking: Asking, demand: (connection: Connection) => Promise<void>): Promise<string> =>
  inTransaction(pool, async (connection) => {
    await connection.query(ONE_AT_A_TIME);
    const known = asking.key && (await findByKey(connection, asking.key));
    if (known !== undefined) return known;
    await demandRoom(connection, order);
    await demand(connection);
    const id = v7();
    await connection.query(
      `insert into operations.asked (id, kind, stream, version, asked_by, client, request, key_digest, content_digest)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        ...[id, order.kind, order.stream ?? null, order.version ?? null, asking.by, asking.client, asking.request],
        ...[asking.key?.digest ?? null, asking.key?.content ?? null],
      ],
    );
    return id;
  });

const findByKey = async (connection: Connection, { digest, content }: NonNullable<Asking['key']>): Promise<string | undefined> => {
  const { rows } = await connection.query<{ id: string; isSame: boolean }>(
    'select id, content_digest = $2 as "isSame" from operations.asked where key_digest = $1',
    [digest, content],
  );
  if (rows[0]?.isSame === false) throw new Rejection('idempotency_key_reused');
  return rows[0]?.id;
};

/** A verification goes through everything: a second one beside it would find the same. */
const demandRoom = async (connection: Connection, { kind }: NewOrder): Promise<void> => {
  const { rows } = await connection.query<{ open: number; verifying: string | null }>(
    `select count(*) as open, (array_agg(id::text order by id) filter (where kind = 'verify'))[1] as verifying
     from operations.asked where state in ('waiting', 'running')`,
  );
  const [{ open, verifying } = { open: 0, verifying: null }] = rows;
  if (kind === 'verify' && verifying !== null) throw new Rejection('verification_under_way', { order: verifying });
  if (open >= OPEN_MAX) throw new Rejection('too_many_orders');
};
