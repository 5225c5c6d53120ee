import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { POLICY } from '../../../test/engines/policy.ts';
import { schema } from '../../../test/engines/schema.ts';
import type { Plan } from './compile.ts';
import { mappingsOf } from './mappings.ts';
import { createPlans } from './plans.ts';
import { readableOf } from './readable.ts';
import { variablesOf } from './variables.ts';

const MAPPINGS = mappingsOf(POLICY.domain, readableOf(POLICY));

const plansOf = (text: string, findPlan = createPlans(schema, MAPPINGS)) => {
  const document = parse(text);
  const [operation] = document.definitions;
  if (operation?.kind !== 'OperationDefinition') throw new Error('the first definition is no operation');
  return (given: Readonly<Record<string, unknown>>): Plan | undefined => {
    const variables = variablesOf(schema, operation, given);
    return variables && findPlan(document, operation, variables);
  };
};

test('an operation has one plan for each shape of its variables', () => {
  const plan = plansOf('query ($id: ID!, $with: Boolean!) { user(id: $id) { id name @include(if: $with) } }');
  expect(plan({ id: '1', with: true })).toBe(plan({ id: '2', with: true }));
  expect(plan({ id: '1', with: true })?.text).not.toBe(plan({ id: '1', with: false })?.text);
});

test('a connection of which only the type is asked for still checks who may order it', () => {
  const plan = plansOf('{ postsConnection(sort: CREATED_AT_ASC) { __typename } }');
  expect(plan({})?.text).toContain('read_model');
});

test('one limit applies to the plans of all operations, however many shapes each has', () => {
  const bytesMax = 1_000_000;
  const findPlan = createPlans(schema, MAPPINGS, bytesMax);
  const flags = ['a', 'b', 'c', 'd', 'e'];
  const parameters = flags.map((flag) => `$${flag}: Boolean!`);
  const members = flags.map((flag) => `${flag}: users(limit: 0) @include(if: $${flag}) { ...U }`);
  const fragment =
    'fragment U on User { id name email posts(limit: 0) { id title body author { name } comments(limit: 0) { text } } }';
  const found = [0, 1, 2].flatMap((number) => {
    const plan = plansOf(`query (${parameters}) { ${members.join(' ')} } ${fragment} # ${number}`, findPlan);
    const shapes = Array.from({ length: 2 ** flags.length }, (_, bits) =>
      Object.fromEntries(flags.map((flag, index) => [flag, (bits & (1 << index)) !== 0])),
    );
    return shapes.map((shape) => ({ first: plan(shape), again: () => plan(shape) }));
  });
  // The latest first, because a miss caches a new plan and evicts another.
  const kept = found.toReversed().filter(({ first, again }) => again() === first);
  const characters = kept.reduce((sum, { first }) => sum + (first?.text.length ?? 0), 0);
  expect(kept.length).toBeGreaterThan(3);
  expect(characters).toBeLessThan(bytesMax);
  expect(kept.length).toBeLessThan(found.length / 2);
});
