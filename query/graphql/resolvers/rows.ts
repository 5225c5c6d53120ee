import { always } from '#kernel/conditions/expression.ts';
import { conditionSql } from '#kernel/conditions/sql.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Role } from '#shared/events/fields.ts';
import { type Caller, type Operation, reachOf } from '#shared/policy.ts';
import { writerFor } from '../../condition-text.ts';
import { Parameters, runPlannedAnew, runPrepared } from '../../statement.ts';
import type { WebhookRow as Webhook } from '../../webhooks/representation.ts';
import { WEBHOOK_COLUMNS } from '../../webhooks/statements.ts';
import { ANSWER_BYTES_MAX } from '../documents/limits.ts';
import type { Context } from './context.ts';

/** The rows that fields are resolved from, read for many parents by one statement. */

type Common = {
  readonly id: number;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Of a row as of then: in which what it leads to is read. */
  readonly asOf?: Context;
};
export type UserRow = Common & {
  readonly type: 'User';
  readonly name: string | null;
  readonly email: string | null;
  readonly role: Role;
  readonly deleted_at: Date | null;
};
export type PostRow = Common & {
  readonly type: 'Post';
  readonly author_id: number;
  readonly title: string;
  readonly tags: readonly string[];
  readonly cover: string | null;
  readonly status: 'draft' | 'published';
  readonly published_at: Date | null;
};
export type CommentRow = Common & {
  readonly type: 'Comment';
  readonly article_id: number;
  readonly author_id: number;
  readonly text: string | null;
};
export type WebhookRow = Common & Omit<Webhook, 'url'> & { readonly type: 'Webhook'; readonly url: string | null };
export type Row = UserRow | PostRow | CommentRow | WebhookRow;

const COMMON = 't.id, t.version, t.created_at, t.updated_at';
const TABLES = {
  User: { name: 'read_model.users', columns: `'User' as type, ${COMMON}, t.name, t.email, t.role, t.deleted_at` },
  Post: {
    name: 'read_model.articles',
    columns: `'Post' as type, ${COMMON}, t.author_id, t.title, t.tags, t.cover, t.status, t.published_at`,
  },
  Comment: { name: 'read_model.comments', columns: `'Comment' as type, ${COMMON}, t.article_id, t.author_id, t.text` },
  Webhook: { name: 'read_model.webhooks', columns: `'Webhook' as type, ${WEBHOOK_COLUMNS}` },
} as const;
type Rows = { readonly User: UserRow; readonly Post: PostRow; readonly Comment: CommentRow; readonly Webhook: WebhookRow };
export type TypeName = keyof Rows;

export const findRows = async <Type extends TypeName>(
  pool: Pool,
  type: Type,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Rows[Type]>> => {
  const { name, columns } = TABLES[type];
  const rows = await runPrepared<Rows[Type]>(pool, `select ${columns} from ${name} t where t.id = any($1::bigint[])`, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
};

/** Texts are long, so that they are read for those alone of whom they are asked; null where all of them together are too long. */
export const findBodies = async (pool: Pool, ids: readonly number[]): Promise<ReadonlyMap<number, string | null>> => {
  const rows = await runPrepared<{ readonly id: number; readonly body: string | null }>(
    pool,
    `select id, case when sum(octet_length(body)) over () <= $2::bigint then body end as body from read_model.articles where id = any($1::bigint[])`,
    [ids, ANSWER_BYTES_MAX],
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
};

/** Which rows of a type a field asks for, and in which order. */
export type Asked = {
  readonly filter: RowFilter;
  readonly column: 'created_at' | 'published_at';
  readonly descending: boolean;
  /** Nothing beyond these places, which are left out themselves. */
  readonly after: Place | undefined;
  readonly before: Place | undefined;
  /** Whether the rows at the end are asked for. */
  readonly isBackward: boolean;
  readonly rowsMax: number;
};

export type Place = { readonly at: string; readonly id: number };

/** Of posts or of webhooks. */
export type RowFilter = {
  readonly status?: string | null;
  readonly tag?: string | null;
  readonly author?: number | null;
  readonly search?: string | null;
  readonly owner?: number | null;
  readonly enabled?: boolean | null;
};

/** The column by which rows belong to their parents; without it, all rows belong to the query itself, under the id 0. */
export type ParentColumn = 'author_id' | 'article_id' | 'owner_id' | undefined;
export const NO_PARENT = 0;

export type ListOf<Type extends TypeName> = { readonly type: Type; readonly parent: ParentColumn; readonly asked: Asked };

/** The rows of each parent, in the order in which they were asked for: from the end, where the end was asked for. */
export const listRows = async <Type extends TypeName>(
  { pool, caller }: { readonly pool: Pool; readonly caller: Caller },
  { type, parent, asked }: ListOf<Type>,
  parents: readonly number[],
): Promise<ReadonlyMap<number, readonly Rows[Type][]>> => {
  const { columns } = TABLES[type];
  const parameters = new Parameters();
  const ids = parameters.add(parents);
  const { column, descending, isBackward, rowsMax } = asked;
  const direction = descending !== isBackward ? 'desc' : 'asc';
  const from = fromWhere({ type, parent, caller, parameters }, asked);
  const places = [placeCondition(asked, 'after', parameters), placeCondition(asked, 'before', parameters)].join('');
  const text = `select p.id as parent, x.* from unnest(${ids}::bigint[]) as p (id) cross join lateral (
    select ${columns} ${from}${places} order by t.${column} ${direction}, t.id ${direction} limit ${parameters.add(rowsMax)}::bigint) x
    order by x.${column} ${direction}, x.id ${direction}`;
  const rows = await runPlannedAnew<Rows[Type] & { parent: number }>(pool, text, parameters.values);
  return Map.groupBy(rows, (row) => row.parent);
};

export const countRows = async <Type extends TypeName>(
  { pool, caller }: { readonly pool: Pool; readonly caller: Caller },
  { type, parent, asked }: ListOf<Type>,
  parents: readonly number[],
): Promise<ReadonlyMap<number, number>> => {
  const parameters = new Parameters();
  const ids = parameters.add(parents);
  const from = fromWhere({ type, parent, caller, parameters }, asked);
  const text = `select p.id, (select count(*) ${from})::integer as count from unnest(${ids}::bigint[]) as p (id)`;
  const rows = await runPlannedAnew<{ id: number; count: number }>(pool, text, parameters.values);
  return new Map(rows.map(({ id, count }) => [id, count]));
};

type Source = { readonly type: TypeName; readonly parent: ParentColumn; readonly caller: Caller; readonly parameters: Parameters };

/** What somebody wrote must have its author to stand in a list, who is not there while they are parked. */
const fromWhere = ({ type, parent, caller, parameters }: Source, { filter, column }: Asked): string => {
  const belongs = parent === undefined ? [] : [`t.${parent} = p.id`];
  const conditions = [...belongs, ...readable(type, caller, parameters), ...filtered(type, filter, parameters)];
  const ordered = column === 'published_at' ? [`t.status = 'published'`] : [];
  const author = type === 'Post' || type === 'Comment' ? ' join read_model.users u on u.id = t.author_id' : '';
  return `from ${TABLES[type].name} t${author} where ${[...conditions, ...ordered, 'true'].join(' and ')}`;
};

const READING = { User: 'user.read', Post: 'article.read', Comment: 'comment.read', Webhook: 'webhook.manage' } as const satisfies Record<
  TypeName,
  Operation
>;

const ALIVE: Readonly<Record<TypeName, readonly string[]>> = {
  User: ['t.deleted_at is null'],
  Post: [],
  Comment: [],
  // One without an address is about to go with its owner.
  Webhook: ['t.url is not null'],
};

/** Rights to comments depend on the article alone, and whoever resolves that has asked for them. */
const readable = (type: TypeName, caller: Caller, parameters: Parameters): readonly string[] => {
  const alive = ALIVE[type];
  const reach = reachOf(caller, READING[type]);
  if (reach.size === 0) return ['false'];
  if (caller.kind === 'system' || reach.has(always) || !(type === 'Post' || type === 'Webhook')) return alive;
  if (type === 'Webhook') return [...alive, caller.kind === 'user' ? `t.owner_id = ${parameters.add(caller.userId)}::bigint` : 'false'];
  const { domain, rights } = caller.policy;
  const kind = rights.get(READING[type])?.kind;
  if (kind === undefined) return ['false'];
  // PostgreSQL refuses a value that no condition names.
  const writer = writerFor(() => `${parameters.add(caller.kind === 'user' ? caller.userId : null)}::bigint`);
  const conditions = [...reach].map((each) => conditionSql(writer, each, { domain, kind, row: 't' }));
  return [...alive, `(${conditions.join(' or ')})`];
};

const filtered = (type: TypeName, filter: RowFilter, parameters: Parameters): readonly string[] => {
  const { status, tag, author, search, owner, enabled } = filter;
  if (type === 'Webhook')
    return [
      ...((owner ?? null) === null ? [] : [`t.owner_id = ${parameters.add(owner)}::bigint`]),
      ...((enabled ?? null) === null ? [] : [`t.is_enabled = ${parameters.add(enabled)}`]),
    ];
  if (type !== 'Post') return [];
  return [
    ...((status ?? null) === null ? [] : [`t.status = ${parameters.add(status)}`]),
    ...((tag ?? null) === null ? [] : [`t.tags @> array[${parameters.add(tag)}]`]),
    ...((author ?? null) === null ? [] : [`t.author_id = ${parameters.add(author)}::bigint`]),
    ...((search ?? null) === null ? [] : [`t.search @@ websearch_to_tsquery('simple', ${parameters.add(search)})`]),
  ];
};

const placeCondition = ({ column, descending, ...places }: Asked, side: 'after' | 'before', parameters: Parameters): string => {
  const place = places[side];
  if (!place) return '';
  const comparison = descending === (side === 'after') ? '<' : '>';
  return ` and (t.${column}, t.id) ${comparison} (${parameters.add(place.at)}::timestamptz, ${parameters.add(place.id)}::bigint)`;
};
