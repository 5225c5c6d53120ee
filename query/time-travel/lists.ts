import { parked } from '#edge/http/parked.ts';
import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { deleted, notFound, Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { withReferences } from '../kinds/rows.ts';
import { type Picked, readListUpTo } from '../lists/list.ts';
import { type Order, stretchOfPage, type Walk } from '../lists/walk.ts';
import { mayListUnder } from '../reads/reads.ts';
import type { Reader } from '../rest/read-routes.ts';
import type { Source } from '../rows/source.ts';
import { demandSource, isPresent, type Row, sourcesOf } from '../rows/sources.ts';
import { type Kind, pathOf } from './aggregates.ts';
import { isAuditor } from './auditor.ts';
import { type Candidate, findPast, type Part } from './candidates.ts';
import { refused } from './find-position.ts';
import { pastLinks } from './links.ts';
import type { Past } from './past.ts';
import { presentOf } from './present.ts';

type Asked = {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly sort?: string | undefined;
  readonly [filter: string]: string | number | boolean | undefined;
};

type ListThen<Row> = {
  readonly kind: Kind;
  readonly path: string;
  readonly asked: Asked;
  readonly parts: readonly Part[];
  look(candidate: Candidate): Promise<Row | undefined>;
};

type Found = { readonly id: number; readonly created_at: Date; readonly item: object };

/**
 * A page of a list in the past. Its links name the position, so that all pages are of the same time, however
 * the client named it.
 */
export const readPastList = async <Row extends { readonly id: number; readonly created_at: Date }>(
  {
    domain,
    pool,
    past,
    reader,
  }: { readonly domain: Domain; readonly pool: Pool; readonly past: Past; readonly reader: Reader },
  { kind, path, asked, parts, look }: ListThen<Row>,
): Promise<ListAnswer> => {
  const present = presentOf(domain, kind);
  const show = async (candidate: Candidate): Promise<Found | undefined> => {
    const row = await look(candidate);
    const shown = row && (await present(past, row as never, reader.caller));
    if (!shown) return undefined;
    const latest = candidate.is_removed ? undefined : pathOf(domain, kind, candidate.id);
    return {
      id: row.id,
      created_at: row.created_at,
      item: { ...shown.item, _links: pastLinks(domain, shown.item._links, { at: past.cursor, latest }) },
    };
  };
  const read = async (walk: Walk<'created_at'>): Promise<Picked<Found>> => {
    const { found, stoppedAt } = await findPast({ pool, past, parts, ...stretchOfPage(walk), look: show });
    return { rows: found, stoppedAt: stoppedAt && { ...stoppedAt, item: {} } };
  };
  const isNewestFirst =
    asked.sort === undefined ? domain.kinds[kind]?.oldestFirst !== true : asked.sort.startsWith('-');
  const order: Order<'created_at'> = { column: 'created_at', descending: isNewestFirst };
  const list = await readListUpTo<'created_at', Found>({
    path,
    asked: { ...asked, at: past.cursor },
    order,
    read,
    represent: ({ item }) => item,
  });
  return { ...list, headers: { 'As-Of': past.cursor } };
};

/** Refuses what has no index over the past: a text search, and any order but by creation. */
export const demandCreationOrder = ({ q, sort }: Asked): void => {
  if (q !== undefined) throw refused('A list with `at` cannot be searched: omit q.');
  if (sort !== undefined && !sort.endsWith('createdAt'))
    throw refused('A list with `at` is ordered by creation: omit sort, or use createdAt or -createdAt.');
};

type Parent = {
  readonly domain: Domain;
  /** The source of what is listed, and the kind of its parent. */
  readonly source: Source;
  readonly kind: Kind;
  readonly past: Past;
  readonly reader: Reader;
};

/**
 * The parent of a list in the past: for callers who may read it now and could have then, and for auditors.
 */
export const demandParent = async ({ domain, source, kind, past, reader }: Parent): Promise<number> => {
  const { caller } = reader;
  const above = demandSource(sourcesOf(domain), kind);
  const id = pathId(reader.id) ?? 0;
  const { state, row, cut } = await past.find(kind, id);
  if (state === 'parked') throw parked(cut);
  if (state === 'absent') throw new HttpProblem('not_there_then');
  if (state === 'gone' || !row || !isPresent(above, row)) throw new Rejection(deleted(kind));
  if (!source.parent || isAuditor(caller, source.right)) return id;
  const whole = await withReferences(above, row, (target, other) => past.row<Row>(target.name, other));
  if (!whole || !mayListUnder(domain, source, whole, caller)) throw new Rejection(notFound(kind));
  return id;
};
