import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  type CosignatureAlgorithm,
  cosign,
  cosignatureIn,
  isLogSignedBy,
  parseWitnessKey,
  textOfWitnessKey,
  type WitnessKey,
} from './cosignature.ts';
import ML_DSA from './ml-dsa-44.vector.json' with { type: 'json' };
import { type Note, parseNote, parseVerifierKey } from './note.ts';

/** Made by litewitness, a witness of others (filippo.io/torchwood 0.9.0). */
const LITEWITNESS = 'witness.example/w1+37eb72bb+BKFYpEEZW4xonBO70FXJWgn1INX9Ra+yS1xo0VomcoJi';
const COSIGNED = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa +8XzmpIGifmt9Pzxb/YCFlKJGHyaCwaxszFVT6zfr81vgoxE09TAtsGbWP5naw3BSMtwjjCS6qP6SHIpz7xUVIscCAw=
— witness.example/w1 N+tyuwAAAABrDWMHDB3dNnSRR3HniPBKSDFjAuMskixlLCYp+mbktUC/OQtoAF77T63YDYNMWUmr5ORVnrJxm9kPE8Vn/tdqeVkYCg==
`;

const keyOf = (text: string): WitnessKey => {
  const key = parseWitnessKey(text);
  if (key === undefined) throw new Error(`${text} is no key of a witness`);
  return key;
};

const noteOf = (text: string): Note => {
  const note = parseNote(text);
  if (note === undefined) throw new Error('this is no note');
  return note;
};

test.each([
  ['Ed25519', LITEWITNESS, COSIGNED, { is: 'right', atS: 1_796_039_431 }],
  // From the tests of torchwood 0.10.0, where a log signs so, without a time.
  ['ML-DSA-44', ML_DSA.vkey, ML_DSA.note, { is: 'absent' }],
] as const)(
  'a cosignature of others by %s is verified, and none of a changed head',
  (_, vkey, text, found) => {
    const key = keyOf(vkey);
    expect(cosignatureIn(noteOf(text), key)).toEqual(found);
    expect(isLogSignedBy(noteOf(text), key)).toBe(true);
    const size = /^\d+$/m;
    expect(cosignatureIn(noteOf(text.replace(size, '2')), key)).toEqual({ is: 'wrong' });
    expect(textOfWitnessKey(key)).toBe(vkey);
  },
);

const PAIRS = { Ed25519: 'ed25519', 'ML-DSA-44': 'ml-dsa-44' } as const;

const aWitness = (algorithm: CosignatureAlgorithm, name = 'witness.example/w2') => {
  const kind = PAIRS[algorithm];
  const pair = kind === 'ed25519' ? generateKeyPairSync(kind) : generateKeyPairSync(kind);
  const { x, pub } = pair.publicKey.export({ format: 'jwk' });
  const key = { name, algorithm, publicKey: Buffer.from(String(x ?? pub), 'base64url') };
  return { key, privateKey: pair.privateKey satisfies KeyObject };
};

const ALGORITHMS = ['Ed25519', 'ML-DSA-44'] as const;
const HEAD = noteOf(COSIGNED).text;

test.each(ALGORITHMS)('a witness cosigns by %s, beside others', (algorithm) => {
  const witness = aWitness(algorithm);
  const line = cosign(HEAD, { ...witness, atS: 1_800_000_000 });
  const note = noteOf(`${COSIGNED}${line}`);
  expect(cosignatureIn(note, keyOf(textOfWitnessKey(witness.key)))).toEqual({
    is: 'right',
    atS: 1_800_000_000,
  });
  expect(cosignatureIn(note, keyOf(LITEWITNESS)).is).toBe('right');
  expect(cosignatureIn(note, aWitness(algorithm).key)).toEqual({ is: 'absent' });
  const earlier = cosign(HEAD, { ...witness, atS: 1_700_000_000 });
  expect(cosignatureIn(noteOf(`${COSIGNED}${line}${earlier}`), witness.key)).toEqual({
    is: 'right',
    atS: 1_700_000_000,
  });
});

test.each(ALGORITHMS)('a signature by %s without a time is no cosignature', (algorithm) => {
  const witness = aWitness(algorithm);
  const [timeless, line] = [0, 1_800_000_000].map((atS) => cosign(HEAD, { ...witness, atS }));
  expect(cosignatureIn(noteOf(`${COSIGNED}${timeless}`), witness.key)).toEqual({ is: 'absent' });
  expect(cosignatureIn(noteOf(`${COSIGNED}${timeless}${line}`), witness.key)).toEqual({
    is: 'right',
    atS: 1_800_000_000,
  });
});

test.each(ALGORITHMS)('a changed time, or a cosignature of another log by %s, is wrong', (algorithm) => {
  const witness = aWitness(algorithm);
  const line = cosign(HEAD, { ...witness, atS: 1_800_000_000 }) ?? '';
  const [, , encoded = ''] = line.trim().split(' ');
  const bytes = Buffer.from(encoded, 'base64');
  bytes.writeUInt8(bytes.readUInt8(11) ^ 1, 11);
  const changed = line.replace(encoded, bytes.toString('base64'));
  expect(cosignatureIn(noteOf(`${COSIGNED}${changed}`), witness.key)).toEqual({ is: 'wrong' });
  const other = cosign(HEAD.replace('sofa', 'desk'), { ...witness, atS: 1_800_000_000 });
  expect(cosignatureIn(noteOf(`${COSIGNED}${other}`), witness.key)).toEqual({ is: 'wrong' });
});

test('lines of extensions are signed by Ed25519, and refused by ML-DSA-44, which would not cover them', () => {
  const text = `${HEAD}more\n`;
  const at = { atS: 1_800_000_000 };
  expect(cosign(text, { ...aWitness('ML-DSA-44'), ...at })).toBeUndefined();
  const witness = aWitness('Ed25519');
  const note = noteOf(`${text}\n${cosign(text, { ...witness, ...at })}`);
  expect(cosignatureIn(note, witness.key).is).toBe('right');
  const changed = noteOf(`${text}\n${cosign(text, { ...witness, ...at })}`.replace('more', 'less'));
  expect(cosignatureIn(changed, witness.key)).toEqual({ is: 'wrong' });
});

test.each([
  ['of a log', 'example.com/behind-the-sofa+fbc5f39a+AXw/6j3g0Cr81K9DbgyngglY5Nr1YdYOeGzWkiiZZu5g'],
  ['with the id of another', LITEWITNESS.replace('37eb72bb', '37eb72bc')],
  ['that is cut', LITEWITNESS.slice(0, -4)],
])('a key %s is none of a witness', (_, text) => {
  expect(parseWitnessKey(text)).toBeUndefined();
});

test('a key of a witness is none of a log', () => {
  expect(parseVerifierKey(LITEWITNESS)).toBeUndefined();
});
