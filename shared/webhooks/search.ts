import type { Operation } from '#kernel/base/operation.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { type Caller, mayAlways, reachOf, rightByMethod, userIdOf } from '#shared/policy.ts';
import type { DeliverySearch, FailedFilter } from '#shared/rest/deliveries.ts';
import { BACKLOG_COUNTED_MAX } from '#shared/rest/webhook.ts';
import { DELIVERY, type DeliveryRow, type Stretch } from './deliveries.ts';
import { IS_DEAD, IS_RETRIED } from './failed.ts';

/** Deliveries of all webhooks that a caller may manage. */

export type FoundRow = DeliveryRow & { readonly url: string; readonly is_enabled: boolean };

const DIGITS = 16;

/** The latest event first; of one event, the latest webhook. */
export const foundKey = ({ position, webhook_id }: FoundRow): string =>
  [position, webhook_id].map((number) => String(number).padStart(DIGITS, '0')).join('.');

/** Numbers the values of a statement. */
class Values {
  readonly all: unknown[] = [];
  add(value: unknown): string {
    return `$${this.all.push(value)}`;
  }
}

const rightIn = (caller: Caller): Operation => rightByMethod(caller, 'webhook.manage', 'GET');

/** The webhooks `w` that a caller may manage: an administrator all of them, anybody else their own. */
const managed = (caller: Caller, webhookId: number | undefined, values: Values): string => {
  const mine = () =>
    reachOf(caller, rightIn(caller)).size === 0 ? 'false' : `t.owner_id = ${values.add(userIdOf(caller))}`;
  const conditions = [
    ...(mayAlways(caller, rightIn(caller)) ? [] : [mine()]),
    ...(webhookId === undefined ? [] : [`t.id = ${values.add(webhookId)}`]),
  ];
  return `(select t.id, t.url, t.is_enabled from ${LIVE_SCHEMA}.webhooks t where ${['true', ...conditions].join(' and ')}) w`;
};

/** The conditions of a state, in disjoint parts. */
const PARTS = {
  due: [`state = 'due'`],
  delivered: [`state = 'delivered'`],
  dead: [IS_DEAD],
  withheld: [`state in ('dead', 'withheld') and state = 'withheld'`],
  failed: [IS_DEAD, IS_RETRIED],
  any: [`state <> 'dropped'`],
} as const;

/** The expression of the index. */
const SUBJECT = `substring(m.change from '"stream":"([^"]*)"')`;

type Asked = { readonly caller: Caller; readonly filter: DeliverySearch };

/**
 * Whether to read change by change, with their deliveries: few webhooks, and states of few deliveries, have
 * an index of their own.
 */
const isByChange = ({ caller, filter: { webhookId, state, eventId, subject } }: Asked): boolean =>
  eventId !== undefined ||
  subject !== undefined ||
  (webhookId === undefined &&
    mayAlways(caller, rightIn(caller)) &&
    (state === undefined || state === 'delivered'));

/** The latest event first, which is the order of the log. */
export const searchDeliveries = async (
  pool: Pool,
  asked: Asked,
  stretch: Stretch<string>,
): Promise<readonly FoundRow[]> => {
  const { caller, filter } = asked;
  const { webhookId, state = 'any' } = filter;
  const values = new Values();
  const webhooks = managed(caller, webhookId, values);
  const position = isByChange(asked) ? 'm.position' : 'd.position';
  const conditions = [...narrowed(filter, values), ...within(stretch, position, values)];
  const direction = stretch.isBackward ? 'asc' : 'desc';
  const limit = `limit ${values.add(stretch.rowsMax)}`;
  const selects = PARTS[state].map((part) => {
    const where = `where ${[part, ...conditions].join(' and ')}`;
    const columns = `select ${DELIVERY}, w.url, w.is_enabled`;
    const order = `order by ${position} ${direction}, d.webhook_id ${direction} ${limit}`;
    return position === 'm.position'
      ? `${columns} from webhook_ledger.message m join webhook_ledger.delivery d using (event_id) join ${webhooks} on w.id = d.webhook_id
          ${where} ${order}`
      : // A page of each webhook, merged.
        `${columns} from ${webhooks} cross join lateral (
          select * from webhook_ledger.delivery d ${where} and d.webhook_id = w.id order by d.position ${direction} ${limit}) d ${order}`;
  });
  const text = `select * from (${selects.map((select) => `(${select})`).join(' union all ')}) page
    order by position ${direction}, webhook_id ${direction} ${limit}`;
  return (await pool.query<FoundRow>(text, values.all)).rows;
};

const narrowed = (
  { type, eventId, subject, ...planned }: DeliverySearch,
  values: Values,
): readonly string[] => [
  ...(type === undefined ? [] : [`d.type = ${values.add(type)}`]),
  ...(eventId === undefined ? [] : [`d.event_id = ${values.add(eventId)}`]),
  ...(subject === undefined ? [] : [`${SUBJECT} = ${values.add(subject)}`]),
  ...plannedIn(planned, values),
];

const plannedIn = (
  { since, until }: Pick<DeliverySearch, 'since' | 'until'>,
  values: Values,
): readonly string[] => [
  ...(since === undefined ? [] : [`d.created_at >= ${values.add(since)}`]),
  ...(until === undefined ? [] : [`d.created_at < ${values.add(until)}`]),
];

/** The first column of an index is the position alone. */
const within = ({ after, before }: Stretch<string>, position: string, values: Values): readonly string[] =>
  (
    [
      [after, '<'],
      [before, '>'],
    ] as const
  ).flatMap(([key, sign]) => {
    if (key === undefined) return [];
    const [at, webhookId] = key.split('.').map((digits) => values.add(Number(digits)));
    return [`${position} ${sign}= ${at}`, `(${position}, d.webhook_id) ${sign} (${at}, ${webhookId})`];
  });

export type FailedRow = {
  readonly webhookId: number;
  readonly url: string;
  readonly dead: number;
  readonly retrying: number;
};

export const failedKey = ({ webhookId }: FailedRow): number => webhookId;

/** The number of failed deliveries of each webhook that has any. */
export const countFailed = async (
  pool: Pool,
  { caller, filter }: { readonly caller: Caller; readonly filter: FailedFilter },
  { after, before, isBackward, rowsMax }: Stretch<number>,
): Promise<readonly FailedRow[]> => {
  const values = new Values();
  const webhooks = managed(caller, filter.webhookId, values);
  const planned = plannedIn(filter, values);
  const counted = (part: string): string =>
    `(select count(*) from (select from webhook_ledger.delivery d
       where ${[part, ...planned, 'd.webhook_id = w.id'].join(' and ')} limit ${BACKLOG_COUNTED_MAX}) counted)`;
  const conditions = [
    'dead + retrying > 0',
    ...(after === undefined ? [] : [`w.id < ${values.add(after)}`]),
    ...(before === undefined ? [] : [`w.id > ${values.add(before)}`]),
  ];
  const { rows } = await pool.query<FailedRow>(
    `select w.id as "webhookId", w.url, dead, retrying
     from ${webhooks} cross join lateral (select ${counted(IS_DEAD)} as dead, ${counted(IS_RETRIED)} as retrying) failed
     where ${conditions.join(' and ')} order by w.id ${isBackward ? 'asc' : 'desc'} limit ${values.add(rowsMax)}`,
    values.all,
  );
  return rows;
};
