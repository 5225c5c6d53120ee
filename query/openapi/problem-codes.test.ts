import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { REJECTIONS } from '#kernel/base/rejection.ts';
import { HTTP_PROBLEMS } from '#kernel/base/rest/http-problem.ts';
import { type PartName, withParts } from '#kernel/registry/parts.ts';
import { payouts } from '../../test/toy/payouts.ts';
import { records } from '../../test/toy/records.ts';
import { problemCodesOf } from './problem-codes.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const codesWith = (...parts: readonly PartName[]): readonly string[] =>
  problemCodesOf(withParts(publishing, parts));

/** The codes that the sources of a room throw. */
const thrownIn = (...patterns: readonly string[]): readonly string[] => {
  const files = globSync(patterns, { cwd: ROOT }).filter((path) => !path.includes('.test.'));
  const texts = files.map((path) => readFileSync(`${ROOT}${path}`, 'utf8'));
  return texts.flatMap((text) =>
    [...text.matchAll(/new (?:HttpProblem|Rejection)\(\s*'(\w+)'/g)].map(([, code = '']) => code),
  );
};

test('with all parts, every code of the kernel is described', () => {
  const described = [...problemCodesOf(publishing), ...problemCodesOf(withParts(payouts, ['inbox']))];
  const known = [...Object.keys(HTTP_PROBLEMS), ...Object.keys(REJECTIONS)].filter(
    (code) => !OF_SOME_DOMAINS.has(code),
  );
  expect(known.filter((code) => !described.some((each) => each === code))).toEqual([]);
});

/** No command of publishing records a reason, needs a person who confirms or signs it, or releases a hold. */
const OF_SOME_DOMAINS: ReadonlySet<string> = new Set([
  'reason_required',
  ...['signature_required', 'signature_invalid', 'signer_required'],
  ...['confirmation_required', 'person_required', 'asker_not_allowed', 'request_outdated'],
  'person_releases',
]);

test('without parts, none that only parts answer with', () => {
  const foreign = [
    'stream_conflict',
    'preflight_required',
    'too_slow',
    'webhook_disabled',
    'client_id_taken',
    'verification_under_way',
  ];
  expect(codesWith().filter((code) => foreign.includes(code))).toEqual([]);
});

test('each code of the inbox is described where the domain has senders', () => {
  const described: readonly string[] = problemCodesOf(withParts(payouts, ['inbox']));
  const thrown = thrownIn('inbox/**/*.ts');
  expect(thrown).toContain('invalid_signature');
  expect(thrown.filter((code) => !described.includes(code))).toEqual([]);
});

describe('each code that a room throws is described where the room is served', () => {
  test.for([
    ['the core', [], ['edge/**/*.ts', 'kernel/decide/*.ts', 'command/{aggregates,handling,users}/*.ts']],
    ['GraphQL with webhooks', ['graphql', 'webhooks'], ['query/graphql/**/*.ts', 'query/sse/*.ts']],
    ['streams', ['streams'], ['query/sse/*.ts', 'query/changes/*.ts']],
    ['webhooks', ['webhooks'], ['command/webhooks/*.ts', 'webhook-dispatcher/rest/*.ts']],
    ['accounts', ['accounts'], ['auth/{clients,personal-tokens,managed-accounts}/*.ts']],
    ['the proof', ['proof'], ['proof/rest/*.ts']],
  ] as const)('%s', ([, parts, rooms]) => {
    const thrown = thrownIn(...rooms);
    expect(thrown.length).toBeGreaterThan(0);
    const described = codesWith(...parts);
    expect(thrown.filter((code) => !described.includes(code) && !OF_SOME_DOMAINS.has(code))).toEqual([]);
  });

  test('those of holds, where the domain has some', () => {
    expect(problemCodesOf(records)).toEqual(
      expect.arrayContaining(['person_releases', 'record_held', 'user_data_held', 'contract_retained']),
    );
  });
});
