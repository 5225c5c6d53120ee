import { parked } from '#edge/http/parked.ts';
import type { ItemAnswer } from '#edge/rest/reads/answer.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { deleted, notFound, Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Caller, may } from '#shared/policy.ts';
import { notingNothing } from '#shared/read-log/noted.ts';
import type { Reader } from '../rest/read-routes.ts';
import { type Kind, pathOf, readingOf } from './aggregates.ts';
import { isAuditor } from './auditor.ts';
import type { FindPosition } from './find-position.ts';
import { pastLinks } from './links.ts';
import type { OpenPast, Past } from './past.ts';
import { presentOf } from './present.ts';

type PastItem = {
  readonly kind: Kind;
  /** Reads the item as it is now; throws if the caller may not. */
  now(reader: Reader): Promise<unknown>;
};

type Opening = { readonly domain: Domain; readonly findPosition: FindPosition; readonly openPast: OpenPast };

/** An aggregate in the past: for callers who may read it now and could have then, and for auditors. */
export const createItemOpener =
  ({ domain, findPosition, openPast }: Opening) =>
  async ({ kind, now }: PastItem, reader: Reader, at: string) => {
    const { caller, charge } = reader;
    const isAuditing = isAuditor(caller, readingOf(domain, kind));
    const isThereNow = await mayReadNow(() => now(reader), isAuditing);
    const id = pathId(reader.id);
    if (id === undefined) throw new Rejection(notFound(kind));
    const past = await openPast(await findPosition(at, charge, streamName(kind, id)), charge);
    return {
      id,
      past,
      isThereNow,
      ...(await demandThen({ domain, past }, { kind, id, caller, isAuditing })),
    };
  };

export const createItemReader = ({ domain, ...opening }: Opening) => {
  const open = createItemOpener({ domain, ...opening });
  return async (then: PastItem, reader: Reader, at: string): Promise<ItemAnswer> => {
    const { kind } = then;
    const { id, past, isThereNow, shown, changedAt } = await open(then, reader, at);
    const { version, item } = shown;
    const self = pathOf(domain, kind, id);
    return {
      kind: 'item',
      version,
      item: {
        ...item,
        _links: pastLinks(domain, item._links, { at: past.cursor, latest: isThereNow ? self : undefined }),
      },
      headers: {
        'As-Of': past.cursor,
        // Callers who do not get the version must not learn the time of hidden changes either.
        ...(version !== undefined && { 'Memento-Datetime': new Date(changedAt).toUTCString() }),
        ...(isThereNow && { Link: `<${self}>; rel="original latest-version"` }),
      },
    };
  };
};

/** True if the caller may read it now. Auditors see earlier states of an aggregate that is parked now. */
export const mayReadNow = async (read: () => Promise<unknown>, isAuditing: boolean): Promise<boolean> => {
  try {
    await notingNothing(read);
    return true;
  } catch (error) {
    const isAbsent = error instanceof Rejection || (error instanceof HttpProblem && error.code === 'parked');
    if (isAuditing && isAbsent) return false;
    throw error;
  }
};

type Wanted = {
  readonly kind: Kind;
  readonly id: number;
  readonly caller: Caller;
  readonly isAuditing: boolean;
};

const demandThen = async (
  { domain, past }: { readonly domain: Domain; readonly past: Past },
  { kind, id, caller, isAuditing }: Wanted,
) => {
  const { state, row, cut, changedAt = 0 } = await past.find(kind, id);
  if (state === 'parked') throw parked(cut);
  if (state === 'absent') throw new HttpProblem('not_there_then');
  const shown = row && (await presentOf(domain, kind)(past, row, caller));
  // An aggregate that is readable now was not deleted then, so only auditors get here.
  if (shown === undefined)
    throw new Rejection(state === 'gone' || isAuditing ? deleted(kind) : notFound(kind));
  if (!isAuditing && !may(caller, readingOf(domain, kind), shown.resource))
    throw new Rejection(notFound(kind));
  return { shown, changedAt };
};
