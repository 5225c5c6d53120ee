import { parse, validate } from 'graphql';
import type { Row } from '#kernel/registry/registry.ts';
import { schemaOf } from '../../query/graphql/schema/schema.ts';
import { sourcesOf } from '../../query/rows/sources.ts';
import { graphqlClientOf } from '../graphql/graphql-client.ts';
import { GROUPS, type Known, randomQuery } from '../graphql/random-query.ts';
import type { Checks } from './checks.ts';
import { executeReference } from './graphql-reference.ts';
import { type Rows, readRows } from './graphql-rows.ts';
import { askingAs, openSeenRows } from './seen-rows.ts';
import { type Actor, isCrowded, type Stage } from './stage.ts';

const QUERIES = 25;
const RETRIES_MAX = 3;
/** The second actor of a role owns less, and is refused the same fields. */
const QUERIES_OF_SECOND = 10;
const queriesOf = ({ key }: Actor): number => (key.endsWith(' 2') ? QUERIES_OF_SECOND : QUERIES);
/** Cursors are opaque, PostgreSQL searches words, and addresses are signed for each response. */
const OMITTED = new RegExp(`^(cursor|startCursor|endCursor|after|before|search)$|Address$|${GROUPS.source}`);
/** A query that its role can never read is refused as a whole, and so is one that is too costly. */
const REFUSED = new Set(['unauthenticated', 'forbidden', 'insufficient_scope', 'too_costly']);

/** The planner has no plan for this field, and leaves a query with it to the resolvers. */
const RESOLVED = 'eventTypes';
const WAYS = {
  planner: (query: string): string => query,
  resolvers: (query: string): string => query.replace('{', `{ ${RESOLVED} { type } `),
};

/**
 * Compares the responses to random queries, for every reader, by the planner and by the resolvers, with those
 * of graphql-js over the same rows.
 */
export const checkQueries = async (stage: Stage, checks: Checks): Promise<void> => {
  const { domain, found, installation, actors, random } = stage;
  const { DATABASE_URL = '' } = installation.settings;
  if (!isCrowded(domain)) for (const situation of found.situations) await stage.shared(situation);
  await stage.read('/me', stage.admin);
  const schema = schemaOf(domain);
  const graphql = graphqlClientOf(installation);
  let rows = await readRows(domain, DATABASE_URL);
  const seenRows = openSeenRows(stage);
  const answered = { planner: 0, resolvers: 0 };
  for (const actor of actors)
    for (let count = 0; count < queriesOf(actor); count += 1) {
      const { text, variables, isOdd } = randomQuery(random, schema, knownOf(stage, rows));
      if (isOdd || validate(schema, parse(text)).length > 0) continue;
      const expected = async () => {
        const asking = { ...askingAs(stage, seenRows, actor), find: rows.find };
        const { data, errors } = await executeReference({ domain, schema, rows, asking }, text, variables);
        return { data: JSON.stringify(data), isWhole: errors === undefined, first: errors?.[0]?.message };
      };
      let wanted: Awaited<ReturnType<typeof expected>> | undefined;
      for (const way of ['planner', 'resolvers'] as const) {
        const sent = WAYS[way](text);
        const answer = async () => {
          const { data, errors } = await graphql<Row | null>(sent, { token: actor.token, variables });
          const isRefused =
            data == null && errors?.every(({ extensions }) => REFUSED.has(extensions.code)) === true;
          const { [RESOLVED]: _, ...shown } = data ?? {};
          return {
            ...{ isRefused, errors },
            seen: { data: JSON.stringify(data && shown), isWhole: errors === undefined },
          };
        };
        let actual = await answer();
        if (actual.isRefused) continue;
        wanted ??= await expected();
        // Timers and reactions may have changed rows meanwhile.
        for (let tries = RETRIES_MAX; tries > 0 && actual.seen.data !== wanted.data; tries -= 1) {
          rows = await readRows(domain, DATABASE_URL);
          wanted = await expected();
          actual = await answer();
        }
        const { first, ...whole } = wanted;
        checks.equal(
          actual.seen,
          whole,
          `${sent} ${JSON.stringify(variables)} by ${actor.key} (${first}): ${JSON.stringify(actual.errors)}`,
        );
        answered[way] += 1;
      }
    }
  const asked = actors.reduce((sum, actor) => sum + queriesOf(actor), 0);
  checks.equal(
    Math.min(answered.planner, answered.resolvers) > asked / 4,
    true,
    `enough random queries were answered both ways: ${JSON.stringify(answered)}`,
  );
};

const knownOf = ({ domain }: Stage, rows: Rows): Known => {
  const { all } = sourcesOf(domain);
  const ids = all.flatMap((source) => rows.of(source).map(({ id }) => String(id)));
  const words = new Map(
    all.flatMap((source) =>
      source.filters.flatMap(({ name, by, column }): readonly (readonly [string, readonly unknown[]])[] => {
        if (by === 'words' || by === 'id') return [];
        const values = rows.of(source).flatMap((row) => [row[column]].flat());
        return values.length === 0 ? [] : [[name, values] as const];
      }),
    ),
  );
  return { ids, cursors: new Map(), searches: [], words, omitted: OMITTED };
};
