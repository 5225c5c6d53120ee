import type { AggregateState } from '#kernel/decide/state.ts';
import type { Row } from '#kernel/registry/registry.ts';
import { graphqlClientOf } from '../graphql/graphql-client.ts';
import type { Checks } from './checks.ts';
import type { Actor, Made, Stage } from './stage.ts';

/** One version of an aggregate in its history. */
type Entry = { readonly version: number; readonly at: string; readonly cursor: string };
/** A value of `at`, and the version that it must lead to; undefined if the aggregate did not exist yet. */
type Moment = { readonly at: string; readonly version: number | undefined };

/**
 * Its number, the cursor of its event, and the last millisecond before the next version, which settles
 * versions of the same time.
 */
export const momentsOf = async (stage: Stage, made: Made): Promise<readonly Moment[]> => {
  const { status, body } = await stage.readAny<readonly Entry[]>(`${made.path}/history?limit=100`);
  if (status !== 200)
    throw new Error(`the history of ${made.situation.name} was not shown: ${JSON.stringify(body)}`);
  const entries = body.toReversed();
  const [first] = entries;
  const times = entries.flatMap(({ version, at }, index): readonly Moment[] => {
    const next = entries[index + 1];
    const time = next === undefined ? new Date().toISOString() : millisecondBefore(next.at);
    // Hidden events between two entries have changed the version before that time.
    const isNext = (next?.version ?? statesOf(made).size + 1) === version + 1;
    return time < at || !isNext ? [] : [{ at: time, version }];
  });
  // A history lacks internal events, of which the first may be one.
  const before = first?.version === 1 ? [{ at: millisecondBefore(first.at), version: undefined }] : [];
  return [
    ...entries.flatMap(({ version, cursor }) => [
      { at: `v${version}`, version },
      { at: cursor, version },
    ]),
    ...times,
    ...before,
  ];
};

const millisecondBefore = (at: string): string => new Date(Date.parse(at) - 1).toISOString();

/** The version that GraphQL shows at each of them. */
export const checkByGraphql = async (
  stage: Stage,
  checks: Checks,
  { made, moments }: { readonly made: Made; readonly moments: readonly Moment[] },
): Promise<void> => {
  const { kind, name } = made.situation;
  const fields = moments.map(
    ({ at }, index) => `m${index}: ${kind.field}(id: "${made.id}", at: ${JSON.stringify(at)}) { version }`,
  );
  const reader = await readerOfVersions(stage, made);
  if (reader === undefined) return;
  const { data, errors } = await graphqlClientOf(stage.installation)<Readonly<Record<string, Row | null>>>(
    `{ ${fields.join(' ')} }`,
    { token: reader.token },
  );
  for (const [index, { at, version }] of moments.entries()) {
    const shown = data?.[`m${index}`]?.version;
    // Rights by the state may have hidden a part of it then, which hides the version too.
    if (shown === null && !(await hasVersion(stage, `${made.path}?at=${encodeURIComponent(at)}`, reader)))
      continue;
    checks.equal(shown, version, `${name} at ${at} by GraphQL: ${JSON.stringify(errors)}`);
  }
};

/** True if REST shows this actor the version too. */
const hasVersion = async ({ read }: Stage, path: string, actor: Actor): Promise<boolean> => {
  const { status, headers } = await read(path, actor);
  return status === 200 && /^"\d+-/.test(headers.get('etag') ?? '');
};

/** An actor who sees the whole aggregate, and so its versions: an administrator, unless rights name them. */
const readerOfVersions = async (stage: Stage, { path }: Made): Promise<Actor | undefined> => {
  for (const actor of [stage.admin, ...stage.actors]) if (await hasVersion(stage, path, actor)) return actor;
  return undefined;
};

/** The states of the search, by version. */
export const statesOf = ({ situation }: Made): ReadonlyMap<number, AggregateState> =>
  new Map(situation.steps.flatMap(({ events }) => events).map(({ after }, index) => [index + 1, after]));
