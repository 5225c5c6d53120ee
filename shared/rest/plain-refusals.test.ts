import { expect, test } from 'vitest';
import * as z from 'zod';
import { parametersOf } from '#edge/http/parameters.ts';
import { parseInput } from '#edge/http/parse-input.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { DESCRIBED } from '../../test/engines/operations.ts';

const ALL = Object.entries(DESCRIBED);
const BODIES = ALL.flatMap(([id, { body = {} }]) =>
  Object.entries(body)
    .filter(([type]) => type.endsWith('json'))
    .map(([type, schema]) => [`${id} ${type}`, schema] as const),
);
const QUERIES = ALL.flatMap(([id, { query }]) => (query === undefined ? [] : [[id, query] as const]));

const LONG = 'x'.repeat(200_000);
const WRONG = [
  ...[null, true, 0, -1, 1.5, 1e300, '', 'x', ' ', LONG],
  ...[[], [1], [null], [''], ['x', 'x'], Array.from({ length: 2_000 }, () => 'x'), {}, { x: 1 }, [{}]],
];

/** The words of the library, which mean nothing to the sender. */
const OF_THE_LIBRARY =
  /invalid input|invalid option|expected|received|too (small|big)|unrecognized|invalid string/i;

const detailsOf = (refused: () => unknown): readonly string[] => {
  try {
    refused();
    return [];
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return (error.extensions.errors as readonly { detail: string }[]).map(({ detail }) => detail);
  }
};

const namesIn = (schema: z.ZodType): readonly string[] => {
  const { properties = {}, items } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    properties?: object;
    items?: { properties?: object };
  };
  return Object.keys({ ...properties, ...items?.properties });
};

const wrongBodies = (schema: z.ZodType): readonly unknown[] => [
  ...WRONG,
  ...namesIn(schema).flatMap((name) => WRONG.flatMap((value) => [{ [name]: value }, [{ [name]: value }]])),
];

test.each(BODIES)('%s is refused in plain sentences', (_, schema) => {
  const details = wrongBodies(schema).flatMap((body) => detailsOf(() => parseInput(schema, body)));
  expect(details.length).toBeGreaterThan(0);
  const ofTheLibrary = details.filter((detail) => OF_THE_LIBRARY.test(detail));
  expect([...new Set(ofTheLibrary)]).toEqual([]);
});

test.each(QUERIES)('the parameters of %s are refused in plain sentences', (_, schema) => {
  const queries = Object.keys(schema.shape).flatMap((name) => WRONG.map((value) => ({ [name]: value })));
  const details = queries.flatMap((query) => detailsOf(() => parametersOf(schema, query)));
  expect(details.length).toBeGreaterThan(0);
  const ofTheLibrary = details.filter((detail) => OF_THE_LIBRARY.test(detail));
  expect([...new Set(ofTheLibrary)]).toEqual([]);
});
