import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { cosign, type WitnessKey } from '../proof/tree/cosignature.ts';
import { keyIdOf } from '../proof/tree/note.ts';
import { policyLineOf } from '../proof/tree/policy.ts';
import { originOf } from '../proof/tree/tree-head.ts';
import { check, signer, test, vkey } from '../test/engines/check-fixture.ts';
import { aLog, EVENTS, ITEM, LOG, LOG_OF_ITEM } from '../test/proven-log.ts';

const jwk = { kty: 'OKP', crv: 'Ed25519', x: signer.key.publicKey.toString('base64url') };

test('a proof is checked with a key alone', async ({ proof }) => {
  const { exit, lines } = await check(proof.path, '--key', vkey);
  expect(exit).toBe(0);
  expect(lines).toEqual([
    `Proven: the log ${originOf(LOG)} has this event, in place 5 of ${EVENTS.length}.`,
    `article.drafted, version 1 of article-5, ${EVENTS[4]?.id}`,
    'Recorded at 2026-11-30T10:00:00.000Z by user:7, as the log says.',
    '{"title":"“Nº 4”"}',
  ]);
});

test.for([
  ['the answer of GET /audit/keys', JSON.stringify({ keys: [jwk] })],
  ['keys.jsonl', `${JSON.stringify({ id: 'one', publicKey: jwk })}\n`],
] as const)('the keys may be in %s', async ([name, text], { proof, save }) => {
  const keys = await save(`${name.replaceAll(/\W/g, '')}.json`, text);
  const { exit, output } = await check(proof.path, '--keys', keys, '--json');
  expect(exit).toBe(0);
  expect(JSON.parse(output)).toMatchObject({
    isProven: true,
    event: EVENTS[4],
    index: 4,
    checkpoint: { origin: originOf(LOG), size: EVENTS.length },
  });
});

test('a proof that is not right is refused with the reason, and another exit code than a wrong call', async ({
  proof,
  save,
}) => {
  const changed = await save('changed.tlog-proof', proof.text.replace('index 4', 'index 5'));
  const { exit, complaint } = await check(changed, '--key', vkey);
  expect(exit).toBe(1);
  expect(complaint).toContain(
    'Not proven. The log does not have this event in place 6: the event, or its proof, was changed.',
  );
});

test('the proof of an item says what it shows in one sentence, and what each event recorded', async ({
  save,
}) => {
  const path = await save('item.jsonl', (await aLog(LOG_OF_ITEM).proveItem(ITEM, signer)).join(''));
  const { exit, lines } = await check(path, '--key', vkey);
  expect(exit).toBe(0);
  expect(lines[0]).toBe(
    `Proven: article-77: 4 events, versions 1 to 4, in the log ${originOf(LOG)} as of entry 15, signed by the key ${keyIdOf(signer.key).toString('hex')}.`,
  );
  expect(lines[2]).toMatch(
    /^2\. article\.edited, .*, at 2026-11-30T10:01:00.000Z by user:7: \{"title":"Nº 2"\}$/,
  );
  expect(lines.slice(5)).toEqual([
    'Last recorded, by name:',
    'tags: ["x"] (version 1)',
    'title: "Nº 4" (version 4)',
    'It does not show that version 4 is the newest.',
    'It does not show that the log has no second event with the same version.',
  ]);
});

test('without a key, nothing is proven', async ({ proof }) => {
  const { exit, complaint } = await check(proof.path);
  expect(exit).toBe(64);
  expect(complaint).toContain('a proof is worth what its key is worth: give --key or --keys');
});

test.for([
  [['--key', 'x'], '--key must be a key such as'],
  [['--keys', '/nowhere/keys.json'], '/nowhere/keys.json'],
] as const)('%j is refused', async ([args, reason], { proof }) => {
  const { exit, complaint } = await check(proof.path, ...args);
  expect(exit).toBe(64);
  expect(complaint).toContain(reason);
});

test('a file without keys is refused', async ({ proof, save }) => {
  const { exit, complaint } = await check(proof.path, '--keys', await save('none.json', '{}'));
  expect(exit).toBe(64);
  expect(complaint).toContain('has no keys');
});

test('an address that answers without an end is refused', async ({ save }) => {
  const kept = await save('kept.checkpoint', aLog().noteOf(signer));
  const part = Buffer.alloc(65_536, 'x');
  await using server = createServer((_request, response) => {
    const endless = (function* () {
      while (!response.destroyed) yield part;
    })();
    Readable.from(endless).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit/log`;
  const { exit, complaint } = await check(url, '--since', kept, '--key', vkey);
  server.closeAllConnections();
  expect(exit).toBe(64);
  expect(complaint).toContain(`${url}/checkpoint answers with too much: it is no address of a log`);
});

/** A witness, and the line that a policy has of it. */
const aWitness = (name: string, atS: number) => {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = Buffer.from(String(pair.publicKey.export({ format: 'jwk' }).x), 'base64url');
  const key: WitnessKey = { name: `${name}.example`, algorithm: 'Ed25519', publicKey };
  const cosigned = (text: string) => cosign(text, { key, privateKey: pair.privateKey, atS }) ?? '';
  return { line: policyLineOf({ name, key, url: undefined }), cosigned };
};
const [W1, W2, W3] = [aWitness('w1', 1_800_000_000), aWitness('w2', 1_800_000_060), aWitness('w3', 1)];
const POLICY = `log ${vkey}\n${W1.line}\n${W2.line}\ngroup both all w1 w2\nquorum both\n`;
const headIn = (proof: string): string => {
  const note = proof.slice(proof.indexOf('\n\n') + 2);
  return note.slice(0, note.indexOf('\n\n') + 1);
};

test('the cosignatures of witnesses are checked by a policy, and say by when the event was there', async ({
  proof,
  save,
}) => {
  const head = headIn(proof.text);
  const witnessed = await save('witnessed.tlog-proof', proof.text + W1.cosigned(head) + W2.cosigned(head));
  const policy = await save('witnesses.policy', POLICY);
  const { exit, lines, complaint } = await check(witnessed, '--policy', policy);
  expect(exit, complaint).toBe(0);
  expect(lines.slice(4)).toEqual([
    'Witnessed by w1 (w1.example) at 2027-01-15T08:00:00.000Z.',
    'Witnessed by w2 (w2.example) at 2027-01-15T08:01:00.000Z.',
    'So the log had this event at 2027-01-15T08:01:00.000Z at the latest.',
  ]);
  const any = await save('any.policy', POLICY.replace('both all', 'both any'));
  const { output } = await check(witnessed, '--policy', any, '--json');
  expect(JSON.parse(output)).toMatchObject({ witnessed: { by: '2027-01-15T08:00:00.000Z' } });
  expect((await check(witnessed, '--key', vkey)).lines).toContain(
    'w1.example, w2.example have signed the checkpoint too: a policy says whom you trust.',
  );
});

test.for([
  ['lacks cosignatures', () => '', 'have cosigned the checkpoint: none of them.'],
  ['lacks one', W1.cosigned, 'have cosigned the checkpoint: only w1.'],
  [
    'has the cosignature of a foreign witness',
    (head: string) => W1.cosigned(head) + W3.cosigned(head),
    'only w1; the policy does not name w3.example.',
  ],
  [
    'has a cosignature of another head',
    (head: string) => W1.cosigned(head) + W2.cosigned(head.replace(/^11$/m, '12')),
    'The cosignature of the witness w2 is wrong: it, or the checkpoint, was changed.',
  ],
] as const)('a proof that %s is refused by one sentence', async ([name, lines, reason], { proof, save }) => {
  const path = await save(`${name}.tlog-proof`, proof.text + lines(headIn(proof.text)));
  const policy = await save('refusing.policy', POLICY);
  const { exit, complaint } = await check(path, '--policy', policy);
  expect(exit).toBe(1);
  expect(complaint).toMatch(/^[^\n]*Not proven\. [^\n]*\.$/);
  expect(complaint).toContain(reason);
});

test('a policy that is none is refused with its line', async ({ proof, save }) => {
  const policy = await save('wrong.policy', `${W1.line}\nquorum w2\n`);
  const { exit, complaint } = await check(proof.path, '--policy', policy);
  expect(exit).toBe(64);
  expect(complaint).toContain('Line 2 of the policy names “w2”, which is not defined');
});
