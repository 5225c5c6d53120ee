import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UserId, Version } from '#kernel/base/brands.ts';
import { lookAlikeAddress, sameAddress } from '#kernel/base/same-address.ts';
import { describeDecider } from '../../test/decider-properties.ts';
import { given } from '../../test/given.ts';
import type { ClaimCommand } from '../claims/claim.ts';
import { claimName } from '../claims/claims.ts';
import { type EmailClaimEvent, emailClaim, emailStream } from './email-claim.ts';

const [ada, ben] = [1, 2] as [UserId, UserId];
const at = '2026-01-02T03:04:05.678Z';
const atVersion = (userVersion: number, userId = ada) => ({ userId, userVersion: userVersion as Version });
const claim = (version: number, id = ada): ClaimCommand => ({
  type: 'Claim',
  id,
  version: version as Version,
  at,
});
const release = (version: number, id = ada): ClaimCommand => ({
  type: 'Release',
  id,
  version: version as Version,
});
const claimed = (userVersion: number, userId = ada): EmailClaimEvent => ({
  type: 'email.claimed',
  data: { ...atVersion(userVersion, userId), at },
});
const released: EmailClaimEvent = { type: 'email.released', data: { userId: ada } };

describe('names', () => {
  test('the stream', () => expect(emailStream('x')).toBe('email-x'));
  test('the claim, by its version', () =>
    expect(claimName(emailStream('x'), 3 as Version)).toBe('email-x@3'));
  test.each([
    ['Ada@Example.com', 'ada@example.com'],
    ['jo\u0308rg@example.com', 'j\u00f6rg@example.com'],
    ['\u212b@example.com', '\u00e5@example.com'],
    ['ada@xn--bcher-kva.example', 'ada@b\u00fccher.example'],
    ['ada@XN--BCHER-KVA.example', 'ada@B\u00dcCHER.example'],
  ])('%j is the same address as %j', (one, other) => expect(sameAddress(one)).toBe(sameAddress(other)));
  test.each([
    ['\uff21da@example.com', 'ada@example.com'],
    ['\u{1d41a}da@ex\uff41mple.com', 'ada@example.com'],
    ['o\ufb03ce@example.com', 'office@example.com'],
    ['ada@xn--bcher-kva.example', 'ADA@b\u00fccher.example'],
  ])('%j looks like %j', (one, other) => expect(lookAlikeAddress(one)).toBe(lookAlikeAddress(other)));
  test('mail goes by the spelling', () =>
    expect(sameAddress('\uff41da@example.com')).not.toBe(sameAddress('ada@example.com')));
  // Claims are named by the address.
  test.each([
    'j\u00f6rg@b\u00fccher.example',
    'a@1.10',
    'a@0x7f.11',
    'a@xn--a.example',
    'xn--bcher-kva@example.com',
  ])('the claim of %j keeps its name', (address) =>
    expect([sameAddress(address), lookAlikeAddress(address)]).toEqual([address, address]),
  );
});

describe('claiming', () => {
  test('a free address', () =>
    given(emailClaim, [])
      .when(claim(0))
      .yields([claimed(0)]));
  test('an address that became free', () =>
    given(emailClaim, [claimed(0), released])
      .when(claim(0, ben))
      .yields([claimed(0, ben)]));
  test('again for the same append', () =>
    given(emailClaim, [claimed(2)])
      .when(claim(2))
      .changesNothing());
  test('again, late', () =>
    given(emailClaim, [claimed(2)])
      .when(claim(1))
      .changesNothing());
  test('again, after the user’s stream moved on', () =>
    given(emailClaim, [claimed(2)])
      .when(claim(3))
      .yields([claimed(3)]));
});

describe('releasing', () => {
  test('by the holder, once the claiming append came or cannot come any more', () =>
    given(emailClaim, [claimed(0)])
      .when(release(1))
      .yields([released]));
  test('while the claiming append may still come', () =>
    given(emailClaim, [claimed(1)])
      .when(release(1))
      .changesNothing());
  test('a claim that was renewed since it was read', () =>
    given(emailClaim, [claimed(0), claimed(4)])
      .when(release(2))
      .changesNothing());
  test('by another', () =>
    given(emailClaim, [claimed(0)])
      .when(release(1, ben))
      .changesNothing());
  test('what is free', () => given(emailClaim, []).when(release(1)).changesNothing());
  test('again', () =>
    given(emailClaim, [claimed(0), released])
      .when(release(1))
      .changesNothing());
});

test('the state names the holders', () =>
  given(emailClaim, [claimed(0), claimed(2), claimed(0, ben)]).is({
    holders: { 1: { version: 2 as Version, at }, 2: { version: 0 as Version, at } },
  }));

describe('in general', () => {
  const id = fc.constantFrom(ada, ben);
  const version = fc.nat({ max: 4 }).map((each) => each as Version);
  describeDecider<typeof emailClaim.initial, ClaimCommand, EmailClaimEvent>(
    emailClaim,
    fc.oneof<fc.Arbitrary<ClaimCommand>[]>(
      fc.record({ type: fc.constant('Claim'), id, version, at: fc.constant(at) }),
      fc.record({ type: fc.constant('Release'), id, version }),
    ),
  );
});
