#!/usr/bin/env node
// Checks the signatures of persons in a file of events, without Annals, a network or a package:
//
//   node verify-signature.js batch.jsonl [https://annals.example]
//
// The file is the proof of an item or of an event, an export of the log, or the output of `annals log show --json`.
// The second argument is the address at which the persons sign.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const bytesOf = (text) => Buffer.from(text, 'base64url');

/** RFC 8785, for what JSON.parse returns. */
const canonical = (value) =>
  value === null || typeof value !== 'object'
    ? JSON.stringify(value)
    : Array.isArray(value)
      ? `[${value.map(canonical).join(',')}]`
      : `{${Object.keys(value)
          .sort()
          .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
          .join(',')}}`;

/** The events of a file, whichever kind of file it is. */
const eventsIn = (text) =>
  text.split('\n').flatMap((line) => {
    const extra = /^extra ([A-Za-z0-9+/=]+)$/.exec(line);
    if (extra === null && !line.startsWith('{')) return [];
    const found = JSON.parse(extra === null ? line : Buffer.from(extra[1], 'base64').toString());
    const event = typeof found.event === 'string' ? JSON.parse(found.event) : (found.event ?? found);
    return event.metadata === undefined || event.stream === undefined ? [] : [event];
  });

/** A proof by another key says nothing: compare the thumbprint (RFC 7638) with that of an earlier signature. */
const thumbprintOf = (key) => sha256(canonical(key)).toString('base64url');

/** The clocks of two machines may differ. */
const CLOCKS_MS = 60_000;

function* wrongPasskey({ key, authenticatorData, clientDataJSON, signature }, hash, origin) {
  const [data, client] = [bytesOf(authenticatorData), bytesOf(clientDataJSON)];
  const said = JSON.parse(client.toString());
  if (said.type !== 'webauthn.get') yield 'the passkey has made something else than a signature';
  if (said.challenge !== hash) yield 'the passkey has signed another statement';
  if (origin !== undefined && said.origin !== origin) yield `it was signed at ${said.origin}`;
  if (!data.subarray(0, 32).equals(sha256(new URL(said.origin).hostname)))
    yield 'the passkey is of another site';
  if ((data[32] & 0x05) !== 0x05) yield 'the device has not verified the person';
  const signed = Buffer.concat([data, sha256(client)]);
  const publicKey = createPublicKey({ key, format: 'jwk' });
  if (!verify(key.kty === 'OKP' ? null : 'sha256', signed, publicKey, bytesOf(signature)))
    yield 'the signature of the passkey is wrong';
}

function* wrongToken({ key, token }, hash, origin, { user, at }) {
  const [header, claims, signature] = token.split('.');
  const publicKey = createPublicKey({ key, format: 'jwk' });
  const signed = Buffer.from(`${header}.${claims}`);
  if (!verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytesOf(signature)))
    yield 'the signature of the authorization server is wrong';
  const { typ } = JSON.parse(bytesOf(header).toString());
  const { iss, sub, iat, statement } = JSON.parse(bytesOf(claims).toString());
  if (typ !== 'annals-signature') yield 'the token is no signature';
  if (statement !== hash) yield 'the authorization server has signed another statement';
  if (sub !== String(user)) yield `it is the signature of user ${sub}`;
  if (!(Math.abs(iat * 1_000 - Date.parse(at)) <= CLOCKS_MS)) yield 'it was signed at another time';
  if (origin !== undefined && iss !== origin) yield `it was signed at ${iss}`;
}

/** Whether a person has approved the request of an agent for this event, by a signature at the request. */
const isApproved = ({ stream, version }, { form: { approves } }) => {
  if (approves === undefined) return false;
  const [, , id] = approves.of.split('/');
  return (id === undefined || stream.endsWith(`-${id}`)) && version === (approves.version ?? 0) + 1;
};

/** Whether the statement is about this event: its item, the version before it, its time and its values. */
function* wrongPlace(event, stated, all) {
  const { stream, version, metadata, data } = event;
  const own = all.filter((each) => each.metadata.signature?.statement === metadata.signature.statement);
  const kind = stream.slice(0, stream.lastIndexOf('-'));
  const isOf = (each) =>
    each.stream === stated.item || (stated.version === null && version === 1 && kind === stated.item);
  if (own.some((each) => each.metadata.request !== metadata.request))
    yield 'the same signature is at events of another request';
  if (!own.some((each) => isOf(each) || isApproved(each, stated)))
    yield `it is the signature for ${stated.item}, which the file does not have`;
  const next = (stated.version ?? 0) + 1;
  if (isOf(event) && !own.some((each) => each.stream === stream && each.version === next))
    yield `it is the signature for version ${stated.version ?? 0}, and this is another change`;
  const { at } = metadata.signature;
  // A time that is none is in no order.
  const [from, signedAt, usedAt, until] = [stated.from, at, metadata.at, stated.until].map(Date.parse);
  if (!(from - CLOCKS_MS <= signedAt && signedAt <= until + CLOCKS_MS))
    yield `it was signed at ${at}, out of its time`;
  if (!(usedAt <= until + CLOCKS_MS)) yield `it was used at ${metadata.at}, out of its time`;
  if (!isOf(event)) return;
  if (metadata.actor !== `user:${stated.user}`) yield `the command was sent by ${metadata.actor}`;
  for (const [name, value] of Object.entries(stated.form)) {
    if (!(name in data) || typeof value?.hmac === 'string') continue;
    const shown = canonical(data[name]);
    const isSame =
      typeof value?.sha256 === 'string'
        ? value.sha256 === sha256(shown).toString('hex')
        : canonical(value) === shown;
    if (!isSame) yield `${name} is not what was signed`;
  }
}

const [file, origin] = process.argv.slice(2);
if (file === undefined) {
  console.error('Name a file: node verify-signature.js batch.jsonl');
  process.exit(2);
}
const events = eventsIn(readFileSync(file, 'utf8'));
const signed = events.filter(({ metadata }) => metadata.signature !== undefined);
let wrong = 0;
for (const event of signed) {
  const { statement, at, proof } = event.metadata.signature;
  const place = `${event.stream}, version ${event.version}, ${event.type}`;
  const faults = [];
  try {
    const stated = JSON.parse(statement);
    if (stated.annals !== 'signature') faults.push('it is not a statement of Annals');
    // A member that is there twice could be read in two ways.
    if (canonical(stated) !== statement) faults.push('the statement is not canonical');
    const hash = sha256(statement).toString('base64url');
    faults.push(
      ...(proof.means === 'passkey'
        ? wrongPasskey(proof, hash, origin)
        : wrongToken(proof, hash, origin, { user: stated.user, at })),
      ...wrongPlace(event, stated, events),
    );
    const by = `signed by user ${stated.user} as “${stated.meaning}” on ${at}, with a ${proof.means}`;
    if (faults.length === 0)
      console.log(
        `${place}: ${stated.command} ${by} (key ${thumbprintOf(proof.key)}): ${canonical(stated.form)}`,
      );
  } catch (error) {
    faults.push(`the signature is malformed: ${error.message}`);
  }
  for (const fault of faults) console.error(`${place}: ${fault}.`);
  wrong += faults.length;
}
console.log(`${events.length} events, ${signed.length} of them signed, ${wrong} faults.`);
process.exit(wrong === 0 ? 0 : 1);
