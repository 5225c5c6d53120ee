import type { AggregateState } from '#kernel/decide/state.ts';
import type { Row } from '#kernel/registry/registry.ts';
import { graphqlClientOf } from '../graphql/graphql-client.ts';
import type { Checks } from './checks.ts';
import type { Made, Stage } from './stage.ts';

/** One version of something, as its history tells of it. */
type Entry = { readonly version: number; readonly at: string; readonly cursor: string };
/**
 * A way of asking for what something was, and the version that it must lead to; none if there was nothing
 * yet.
 */
type Moment = { readonly at: string; readonly version: number | undefined };

/**
 * By its number, by the cursor of its event, and by the last moment before the next: so what was written at
 * the same time makes no difference.
 */
export const momentsOf = async (stage: Stage, made: Made): Promise<readonly Moment[]> => {
  const { status, body } = await stage.read<readonly Entry[]>(`${made.path}/history?limit=100`, stage.admin);
  if (status !== 200)
    throw new Error(`the history of ${made.situation.name} was not shown: ${JSON.stringify(body)}`);
  const entries = body.toReversed();
  const [first] = entries;
  const times = entries.flatMap(({ version, at }, index): readonly Moment[] => {
    const next = entries[index + 1];
    const time = next === undefined ? new Date().toISOString() : millisecondBefore(next.at);
    return time < at ? [] : [{ at: time, version }];
  });
  const before = first === undefined ? [] : [{ at: millisecondBefore(first.at), version: undefined }];
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

/** The version that GraphQL shows of each moment. */
export const checkByGraphql = async (
  stage: Stage,
  checks: Checks,
  { made, moments }: { readonly made: Made; readonly moments: readonly Moment[] },
): Promise<void> => {
  const { kind, name } = made.situation;
  const fields = moments.map(
    ({ at }, index) => `m${index}: ${kind.field}(id: "${made.id}", at: ${JSON.stringify(at)}) { version }`,
  );
  const { data, errors } = await graphqlClientOf(stage.installation)<Readonly<Record<string, Row | null>>>(
    `{ ${fields.join(' ')} }`,
    {
      token: stage.admin.token,
    },
  );
  for (const [index, { at, version }] of moments.entries())
    checks.equal(
      data?.[`m${index}`]?.version,
      version,
      `${name} at ${at} by GraphQL: ${JSON.stringify(errors)}`,
    );
};

/** What the search had, version by version. */
export const statesOf = ({ situation }: Made): ReadonlyMap<number, AggregateState> =>
  new Map(situation.steps.flatMap(({ told }) => told).map(({ after }, index) => [index + 1, after]));
