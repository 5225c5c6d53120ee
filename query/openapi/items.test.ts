import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { Rejection } from '#kernel/base/rejection.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { ABSENT } from '#kernel/decide/state.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import { ofAggregates, operationsOf } from '#shared/rest/operations.ts';
import { expenses } from '../../test/toy/expenses.ts';
import { openApiDocument } from './document.ts';
import { examplesOf } from './examples.ts';
import { problemsOf } from './problems.ts';

/** The OpenAPI document of a domain with lists of items. */
const OPTIONS = {
  domain: expenses,
  publicUrl: 'https://annals.example',
  issuerUrl: 'https://issuer.example',
  requireIfMatch: false,
};
const operations: Readonly<Record<string, RestOperation>> = operationsOf(expenses);
const schemas = new Map(
  Object.values(operations)
    .flatMap(({ body = {}, answer }) => [...Object.values(body), answer.schema])
    .flatMap((schema) =>
      schema?.meta()?.id === undefined ? [] : [[schema.meta()?.id, schema] as [string, z.ZodType]],
    ),
);

test('an independent validator accepts it', async () => {
  const { errors, valid } = await new Validator().validate(
    structuredClone<object>(openApiDocument(OPTIONS)) as Record<string, unknown>,
  );
  expect([errors, valid]).toEqual([undefined, true]);
});

const EXAMPLES = examplesOf(expenses);
test('every form of an item has an example', () => {
  const ofItems = [...schemas.keys()].filter((name) => /Claim(Item|Approver|Label)/.test(name));
  expect(ofItems.length).toBeGreaterThan(8);
  expect(Object.keys(EXAMPLES)).toEqual(expect.arrayContaining(ofItems));
});
test.each(Object.keys(EXAMPLES).filter((name) => name.includes('Claim')))(
  'the example of %s is one',
  (name) => {
    expect(() => schemas.get(name)?.parse(EXAMPLES[name])).not.toThrow();
  },
);

const number = fc.integer({ min: 1, max: 9 });
const FORMS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  draft: fc.constant({ purpose: 'x' }),
  edit: fc.constant({ purpose: 'y' }),
  addItem: fc.record({
    category: fc.constant('other'),
    amount: fc.constantFrom(1, 2, 900_000),
    note: fc.constant(null),
  }),
  changeItem: fc.record({ itemId: number, amount: fc.constantFrom(2, 900_000) }),
  moveItem: fc.record({ itemId: number, before: fc.option(number) }),
  removeItem: fc.record({ itemId: number }),
  nameApprover: fc.record({ approverId: number, upTo: fc.option(number) }),
  changeLimit: fc.record({ approverId: number, upTo: number }),
  dismissApprover: fc.record({ approverId: number }),
  addLabel: fc.record({ word: fc.constantFrom('a', 'b'), colour: fc.constantFrom('red', 'blue') }),
  removeLabel: fc.record({ word: fc.constantFrom('a', 'b', 'c') }),
};

test('every operation declares all refusals of its command', () => {
  const kind = expenses.kinds.claim as Kind;
  const { decide, evolve } = deciderOf(expenses, kind);
  const names = Object.keys(kind.commands);
  const commandOf = (some: readonly string[]) =>
    fc
      .constantFrom(...some)
      .chain((name) => (FORMS[name] ?? fc.constant({})).map((form) => ({ name, form })));
  const [present, ended] = [
    commandOf(names.filter((name) => name !== 'delete' && name !== 'draft')),
    commandOf(names),
  ];
  const refused = new Map(names.map((name) => [name, new Set<string>()]));
  const run = (all: readonly { readonly name: string; readonly form: object }[]) => {
    let state = ABSENT as ReturnType<typeof evolve>;
    for (const { name, form } of all) {
      try {
        for (const event of decide(
          { type: typeOfCommand(kind, name), claimId: 8, employeeId: 1, ...form },
          state,
        ))
          state = evolve(state, event);
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
        refused.get(name)?.add(error.code);
      }
    }
  };
  const [draft, end] = [
    { name: 'draft', form: { purpose: 'x' } },
    { name: 'delete', form: {} },
  ];
  const some = fc.tuple(
    fc.array(present, { minLength: 60, maxLength: 120 }),
    fc.array(ended, { minLength: 20 }),
  );
  fc.assert(
    fc.property(some, ([before, after]) => run([draft, ...before, end, ...after])),
    { numRuns: 200 },
  );
  const options = { requireIfMatch: false, policy: policyOf(expenses) };
  for (const [id, operation] of ofAggregates(expenses)) {
    if (operation.use.does !== 'command' || operation.use.kind !== kind) continue;
    const described = [...problemsOf(operation, options).values()].flat();
    // The id of a new aggregate is not in the request.
    const codes = [...(refused.get(operation.use.command.name) ?? [])].filter((code) => code !== 'id_taken');
    expect(described, id).toEqual(expect.arrayContaining(codes));
  }
  expect(
    Object.fromEntries([...refused].map(([name, codes]) => [name, [...codes].toSorted()])),
  ).toMatchObject({
    addItem: expect.arrayContaining([
      'claim_deleted',
      'claim_items_full',
      'claim_not_affordable',
      'claim_not_draft',
    ]) as unknown,
    addLabel: ['claim_deleted', 'claim_label_exists'],
    moveItem: expect.arrayContaining(['claim_item_not_found', 'claim_not_draft']) as unknown,
    nameApprover: expect.arrayContaining(['claim_approver_exists', 'claim_approvers_full']) as unknown,
  });
});

test('a change of personal data declares that its owner may be deleted', () => {
  const refusalsOf = (id: string) => operations[id]?.refusals;
  expect(
    [refusalsOf('addClaimItem'), refusalsOf('editClaimItem')].every((codes) =>
      codes?.includes('user_deleted'),
    ),
  ).toBe(true);
  expect(
    [refusalsOf('moveClaimItem'), refusalsOf('addClaimLabel')].some((codes) =>
      codes?.includes('user_deleted'),
    ),
  ).toBe(false);
});
