import type { EventId, WebhookId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Delivery, Shape } from '../deliver/delivery.ts';

/** What a run wants of its webhook. */
export type Wanted = {
  readonly webhookId: WebhookId;
  readonly isOrdered: boolean;
  readonly many: number;
  /** What it has already. */
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

/** What several runs may send now: of each webhook what is due longest, and of an ordered one the oldest, whether they are due or not. */
const TAKE = `
  select taken.webhook_id as "webhookId", taken.event_id as "eventId", taken.tries, taken.shape, message.change,
    taken.next_at <= now() as "isDue"
  from (
    -- With the offset, what is held is read once for each webhook, and not for each of its deliveries.
    select webhook_id, is_ordered, many, held::uuid[] as held
    from unnest($1::bigint[], $2::boolean[], $3::integer[], $4::text[]) as given (webhook_id, is_ordered, many, held) offset 0
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

/** An answer for each, in their order. */
export const takeDue = async (pool: Pool, wanted: readonly Wanted[]): Promise<readonly (readonly Delivery[])[]> => {
  const { rows } = await pool.query<Row>({
    name: 'webhook-take-due',
    text: TAKE,
    values: [
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ isOrdered }) => isOrdered),
      wanted.map(({ many }) => many),
      wanted.map(({ held }) => `{${held.join(',')}}`),
    ],
  });
  const taken = Map.groupBy(rows, ({ webhookId }) => webhookId);
  const toDelivery = deliveryOf(new Map());
  return wanted.map(({ webhookId }) => beforeThoseThatWait(taken.get(webhookId) ?? []).map(toDelivery));
};

/** In order, nothing overtakes what waits for its next attempt. */
const beforeThoseThatWait = (rows: readonly Row[]): readonly Row[] => {
  const waiting = rows.findIndex(({ isDue }) => !isDue);
  return waiting < 0 ? rows : rows.slice(0, waiting);
};

/** What several webhooks are told of is one change for all of them. */
const deliveryOf =
  (changes: Map<EventId, Change>) =>
  ({ webhookId, eventId, tries, shape, change: text }: Row): Delivery => {
    const change = changes.get(eventId) ?? (JSON.parse(text) as Change);
    changes.set(eventId, change);
    return { webhookId, eventId, attempts: tries, shape, change };
  };
