import type { EventId, Version, WebhookId } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Delivery, Shape } from '../deliver/delivery.ts';
import { type DisableThreshold, type RecordAnswer, type Recorded, recordResults } from './record.ts';
import { type Claim, claimRuns, type Release, releaseRuns, renewRuns } from './runs.ts';

/** The ledger for runs: concurrent requests of many runs share a statement. */
export type RunLedger = {
  /** Undefined if another process runs it, or it may not be sent to. */
  claim(webhookId: WebhookId): Promise<Claim | undefined>;
  take(wanted: Wanted): Promise<readonly Delivery[]>;
  /** Returns whether the run still has its webhook. */
  settle(settled: Settled): Promise<boolean>;
  record(recorded: Recorded): Promise<RecordAnswer>;
  /** Returns whether the run still has its webhook. */
  renew(run: Pick<Claim, 'webhookId' | 'epoch'>): Promise<boolean>;
  /** Returns whether there is more to send at once. */
  release(release: Release): Promise<boolean>;
};

const RECORDS_AT_ONCE_MAX = 500;

export const openRunLedger = (domain: Domain, pool: Pool, threshold: DisableThreshold): RunLedger => ({
  claim: batched(async (webhookIds) => {
    const claims = await claimRuns(domain, pool, webhookIds);
    return webhookIds.map((webhookId) => {
      const claim = claims.get(webhookId);
      // Of two concurrent requests, only one gets it.
      claims.delete(webhookId);
      return claim;
    });
  }),
  take: batched((wanted) => takeDue(pool, wanted)),
  settle: batched((settled) => settleShapes(pool, settled)),
  record: batched((recorded) => recordResults(pool, recorded, threshold), RECORDS_AT_ONCE_MAX),
  renew: batched(async (runs) => {
    const renewed = await renewRuns(pool, runs);
    return runs.map(({ webhookId }) => renewed.has(webhookId));
  }),
  release: batched(async (releases) => {
    const due = await releaseRuns(pool, releases);
    return releases.map(({ webhookId }) => due.has(webhookId));
  }),
});

type Waiting<Item, Answer> = { readonly item: Item; readonly asker: PromiseWithResolvers<Answer> };

const ITEMS_MAX = 1_000;

/**
 * Batches requests that arrive while the last batch is in progress; a single one starts at once. Results are
 * in the order of the items; a failure fails the whole batch.
 */
const batched = <Item, Answer>(
  workMany: (items: readonly Item[]) => Promise<readonly Answer[]>,
  itemsMax: number = ITEMS_MAX,
): ((item: Item) => Promise<Answer>) => {
  let waiting: Waiting<Item, Answer>[] = [];
  let isWorking = false;
  const work = async (): Promise<void> => {
    isWorking = true;
    // Requests of the same tick share a batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, itemsMax);
      waiting = waiting.slice(batch.length);
      try {
        const answers = await workMany(batch.map(({ item }) => item));
        // By contract, there are as many results as items.
        for (const [index, { asker }] of batch.entries()) asker.resolve(answers[index] as Answer);
      } catch (error) {
        for (const { asker } of batch) asker.reject(error);
      }
    }
    isWorking = false;
  };
  return (item) => {
    const asker = Promise.withResolvers<Answer>();
    waiting.push({ item, asker });
    if (!isWorking) void work();
    return asker.promise;
  };
};

/** The shape that the first attempt is about to send, with the epoch of its run. */
type Settled = {
  readonly webhookId: WebhookId;
  readonly epoch: number;
  readonly eventId: EventId;
  readonly shape: Shape;
};

/**
 * Stores shapes before they are sent, each only if its run still has its webhook, and returns which were
 * stored. Waits for the disk: even an attempt that is otherwise lost is repeated with the same body.
 */
const settleShapes = async (pool: Pool, settled: readonly Settled[]): Promise<readonly boolean[]> => {
  const { rows } = await pool.query<{ webhookId: WebhookId; epoch: number }>(
    `with given as materialized (
       select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[]) as given (webhook_id, epoch, event_id, shape)
     ), held as materialized (
       select webhook_id, run_epoch as epoch from webhook_ledger.endpoint
       where (webhook_id, run_epoch) in (select webhook_id, epoch from given) order by webhook_id for share
     ), kept as (
       update webhook_ledger.delivery as delivery set shape = given.shape
       from given join held using (webhook_id, epoch)
       where delivery.webhook_id = given.webhook_id and delivery.event_id = given.event_id and delivery.shape is null
     )
     select webhook_id as "webhookId", epoch from held`,
    [
      settled.map(({ webhookId }) => webhookId),
      settled.map(({ epoch }) => epoch),
      settled.map(({ eventId }) => eventId),
      settled.map(({ shape }) => shape),
    ],
  );
  const held = new Map(rows.map(({ webhookId, epoch }) => [webhookId, epoch]));
  return settled.map(({ webhookId, epoch }) => held.get(webhookId) === epoch);
};

/** A run’s request for deliveries of its webhook. */
type Wanted = {
  readonly webhookId: WebhookId;
  /** The version of the webhook that the run knows: of a changed one it gets nothing. */
  readonly version: Version;
  readonly isOrdered: boolean;
  readonly many: number;
  /** The deliveries that it already has. */
  readonly held: readonly EventId[];
};

type Row = {
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly tries: number;
  readonly shape: Shape | null;
  readonly change: string;
  readonly isDue: boolean;
};

const COLUMNS = 'due.webhook_id, due.event_id, due.tries, due.shape, due.position, due.next_at';
const DUE = `webhook_ledger.delivery due where due.webhook_id = wanted.webhook_id and due.state = 'due'`;

/**
 * Deliveries that several runs may send now: the longest due of each webhook; for an ordered one the oldest,
 * due or not.
 */
const TAKE = `
  select taken.webhook_id as "webhookId", taken.event_id as "eventId", taken.tries, taken.shape, message.change,
    taken.next_at <= now() as "isDue"
  from (
    -- With the offset, what is held is read once for each webhook, and not for each of its deliveries.
    select given.webhook_id, given.is_ordered, given.many, given.held::uuid[] as held
    from unnest($1::bigint[], $2::boolean[], $3::integer[], $4::text[], $5::bigint[]) as given (webhook_id, is_ordered, many, held, version)
    join webhook_ledger.endpoint on endpoint.webhook_id = given.webhook_id and endpoint.version = given.version offset 0
  ) as wanted
  cross join lateral (
    (select ${COLUMNS} from ${DUE} and not wanted.is_ordered and due.next_at <= now() and due.event_id <> all (wanted.held)
     order by due.next_at, due.position limit wanted.many)
    union all
    (select ${COLUMNS} from ${DUE} and wanted.is_ordered and due.event_id <> all (wanted.held)
     order by due.position limit wanted.many)
  ) taken
  join webhook_ledger.message on message.event_id = taken.event_id
  order by case when wanted.is_ordered then '-infinity' else taken.next_at end, taken.position`;

/** One result per request, in their order. */
const takeDue = async (pool: Pool, wanted: readonly Wanted[]): Promise<readonly (readonly Delivery[])[]> => {
  const { rows } = await pool.query<Row>({
    name: 'webhook-take-due',
    text: TAKE,
    values: [
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ isOrdered }) => isOrdered),
      wanted.map(({ many }) => many),
      wanted.map(({ held }) => `{${held.join(',')}}`),
      wanted.map(({ version }) => version),
    ],
  });
  const taken = Map.groupBy(rows, ({ webhookId }) => webhookId);
  const toDelivery = deliveryOf(new Map());
  return wanted.map(({ webhookId }) => beforeThoseThatWait(taken.get(webhookId) ?? []).map(toDelivery));
};

/** In an ordered webhook, nothing overtakes a delivery that waits for its retry. */
const beforeThoseThatWait = (rows: readonly Row[]): readonly Row[] => {
  const waiting = rows.findIndex(({ isDue }) => !isDue);
  return waiting < 0 ? rows : rows.slice(0, waiting);
};

/** Deliveries to several webhooks share one change object. */
const deliveryOf =
  (changes: Map<EventId, Change>) =>
  ({ webhookId, eventId, tries, shape, change: text }: Row): Delivery => {
    const change = changes.get(eventId) ?? (JSON.parse(text) as Change);
    changes.set(eventId, change);
    return { webhookId, eventId, attempts: tries, shape, change };
  };
