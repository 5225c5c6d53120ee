import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { isoText } from '#kernel/base/instant.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, RouteInfo } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, mayAlways, userIdOf } from '#shared/policy.ts';
import type { Reader } from '../rest/read-routes.ts';
import { runPrepared } from '../rows/statement.ts';

type Asked = Readonly<Record<string, string | number | boolean | undefined>>;
type RouteRead = (reader: Reader, asked: Asked) => Promise<ListAnswer>;

const ROWS_MAX = 1_000;

/** The custom reads of a domain, by name. */
export const routeReads = ({ routes }: Domain, pool: Pool): Readonly<Record<string, RouteRead>> =>
  Object.fromEntries(routes.map((route) => [route.name, readOf(route, pool)]));

const readOf = ({ path, right, text, given, gives }: RouteInfo, pool: Pool): RouteRead => {
  const statement = `select * from (${text}) found limit ${ROWS_MAX}`;
  const shown = Object.entries(gives);
  return async ({ caller }, asked) => {
    demandEverything(caller, right as Operation);
    const values = given.map((name) => (name === 'callerId' ? userIdOf(caller) : (asked[name] ?? null)));
    const rows = await runPrepared<Readonly<Record<string, unknown>>>(pool, statement, values);
    const items = rows.map((row) =>
      Object.fromEntries(shown.map(([name, def]) => [name, jsonValue(def, row[name])])),
    );
    return { kind: 'list', items, links: { self: selfOf(path, asked) } };
  };
};

/** No right narrows the rows of the statement, so a caller needs the right to all of them. */
const demandEverything = (caller: Caller, right: Operation): void => {
  if (mayAlways(caller, right)) return;
  throw new Rejection(caller.kind === 'anonymous' ? 'unauthenticated' : 'forbidden');
};

/** A sum of integers exceeds their range, so PostgreSQL returns it as text. */
const jsonValue = ({ kind }: FieldDef, value: unknown): unknown => {
  if (value === null || value === undefined) return null;
  if (kind === 'integer') return Number(value);
  return value instanceof Date ? isoText(value) : value;
};

const selfOf = (path: string, asked: Asked): string => {
  const query = Object.entries(asked).filter(([, value]) => value !== undefined);
  const given = new URLSearchParams(Object.fromEntries(query.map(([name, value]) => [name, String(value)])));
  return query.length === 0 ? path : `${path}?${given}`;
};
