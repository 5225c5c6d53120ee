import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { ADDRESSES } from '../../test/policy-addresses.ts';
import { textOfWitnessKey } from './cosignature.ts';
import { verifierKeyOf } from './note.ts';
import { parsePolicy, policyLineOf } from './policy.ts';

const keyBytes = (): Buffer =>
  Buffer.from(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
const vkey = (name: string): string =>
  textOfWitnessKey({ name, algorithm: 'Ed25519', publicKey: keyBytes() });
const [X1, X2, X3, Y1, Y2] = ['x1', 'x2', 'x3', 'y1', 'y2'].map((name) => vkey(`${name}.example`));
const LOG = verifierKeyOf({ name: 'log.example', publicKey: keyBytes() });

/** The example of the specification, with its groups in two levels. */
const GROUPS = `# Two of three, and one of two.
log ${LOG}

witness X1 ${X1}
witness X2 ${X2} https://x2.example/submit/
  witness\tX3 ${X3}
group X-witnesses 2 X1 X2 X3

witness Y1 ${Y1}
witness Y2 ${Y2}
group Y-witnesses any Y1 Y2

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`;

test.each([
  [['X1', 'X3', 'Y2'], true],
  [['X1', 'X2', 'X3', 'Y1', 'Y2'], true],
  [['X1', 'X2', 'X3'], false],
  [['X1', 'Y1', 'Y2'], false],
  [[], false],
])('the witnesses %j: %s', (names, isReached) => {
  expect(parsePolicy(GROUPS).isReached(new Set(names))).toBe(isReached);
});

test('a policy has logs, and witnesses with their addresses', () => {
  const { logs, witnesses } = parsePolicy(GROUPS);
  expect(logs.map(verifierKeyOf)).toEqual([LOG]);
  expect(witnesses.map(({ name, url }) => [name, url])).toEqual([
    ['X1', undefined],
    ['X2', 'https://x2.example/submit'],
    ...['X3', 'Y1', 'Y2'].map((name) => [name, undefined]),
  ]);
  const [, second] = witnesses;
  expect(second && policyLineOf(second)).toBe(`witness X2 ${X2} https://x2.example/submit`);
});

test.each(ADDRESSES.right)('%s is an address', (address) => {
  const [witness] = parsePolicy(`witness X1 ${X1} ${address}\nquorum X1`).witnesses;
  expect(URL.canParse(witness?.url ?? '')).toBe(true);
});

test.each(ADDRESSES.wrong)('%s is no address', (address) => {
  for (const line of [`witness X1 ${X1} ${address}`, `log ${LOG} ${address}`])
    expect(() => parsePolicy(`${line}\nquorum none`)).toThrow('has an address that is no http or https URL');
});

test('nobody must have cosigned if the quorum is none', () => {
  expect(parsePolicy('quorum none\n').isReached(new Set())).toBe(true);
});

test.each([
  ['', 'The policy has no line “quorum”.'],
  ['quorum a', 'Line 1 of the policy names “a”, which is not defined.'],
  ['quorum none\nquorum none', 'Line 2 of the policy is a second line “quorum”.'],
  [`witness a ${X1}\nwitness a ${X2}`, 'has a name that is taken or missing: “a”.'],
  [`witness none ${X1}`, 'has a name that is taken or missing: “none”.'],
  [`witness a ${X1}\nwitness b ${X1}`, 'Line 2 of the policy has a key that another line has.'],
  [`witness a ${LOG}`, 'Line 1 of the policy has no key of a witness that this Node can check:'],
  [`log ${X1}`, 'Line 1 of the policy has no key of a log:'],
  [
    `witness a ${X1} ftp://a`,
    'has an address that is no http or https URL of a witness or a log: “ftp://a”.',
  ],
  [`witness a ${X1} https://me:secret@a`, 'has an address that is no http or https URL'],
  [`witness a ${X1}\ngroup g 2 a`, 'needs any, all, or a number from 1 to that of its members: “2”.'],
  [`witness a ${X1}\ngroup g any a\ngroup h any a`, 'names “a”, which is in a group already.'],
  ['group g all', 'needs any, all, or a number'],
  ['group g any b', 'names “b”, which is not defined before it.'],
  ['witnes a', 'begins with “witnes”, and not with log, witness, group or quorum.'],
  ['quorum none\r', 'The policy has control characters.'],
])('the policy %j is refused by a sentence', (text, sentence) => {
  expect(() => parsePolicy(text)).toThrow(sentence);
});
