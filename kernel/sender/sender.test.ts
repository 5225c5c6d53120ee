import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, list, ref, states } from '../declare/fields.ts';
import type { Signature } from '../registry/sender-info.ts';
import { type AnySender, message, sender } from './sender.ts';

const base = domain({ name: 'tried', roles: ['clerk', 'bank'] });
const { aggregate, user } = base;
const claim = aggregate('claim', {
  fields: {
    purpose: line(50),
    approver: ref(user),
    payer: ref(user).optional(),
    notes: list({ text: line(50), author: ref(user) }, { max: 5 }),
    status: states('open', 'paid'),
  },
  events: {
    filed: { creates: ['purpose', 'approver'] },
    edited: { changes: ['purpose'] },
    paid: { sets: { status: 'paid', payer: 'caller' } },
    taken: { sets: { approver: 'caller' } },
    noted: { adds: 'notes', sets: { author: 'caller' } },
  },
  commands: {
    file: { emits: 'filed' },
    edit: { emits: 'edited' },
    pay: { emits: 'paid', when: 'open' },
    take: { emits: 'taken' },
    note: { emits: 'noted' },
    expire: { emits: 'paid', internal: true },
  },
  rights: {
    read: { bank: true },
    write: { clerk: true, bank: true },
    file: { clerk: true },
  },
});
const other = aggregate('other', {
  fields: { title: line(5) },
  events: { made: { creates: ['title'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { anyone: true }, write: { bank: true } },
});
const payload = z.object({ claim: z.int() });
const pay = message(claim, 'pay', { payload, given: (given) => ({ id: given.claim }) });
const signature = { scheme: 'github', secrets: 'BANK_SECRETS' } as const;
const usual = { signature, as: 'bank', on: { paid: pay } } as const;

const assembled = (...senders: readonly AnySender[]) => assemble(base, [claim], [], senders);
const declared = (more: object, name = 'bank') => sender(base, name, { ...usual, ...more });
// The compiler refuses these as well.
const untyped = message as unknown as (aggregate: unknown, command: string, more: unknown) => typeof pay;

describe('a sender', () => {
  test('is resolved with its operation', () => {
    const [resolved] = assembled(declared({ says: 'A bank.' })).senders ?? [];
    expect(resolved).toMatchObject({
      name: 'bank',
      role: 'bank',
      acknowledgesRefusals: false,
      operationId: 'receiveBank',
      operation: { method: 'POST', path: '/inbox/bank', role: 'command', right: null },
    });
    expect(resolved?.operation.bodySays).toContain('`paid` (pay claim)');
  });

  test.for<[string, AnySender, string]>([
    ['a name of other letters', declared({}, 'My_Bank'), 'its name must be'],
    ['an unknown role', declared({ as: 'bnak' }), 'acts `as` bnak, which is not a role'],
    ['administrators', declared({ as: 'admin' }), 'use one of clerk, bank'],
    ['everybody', declared({ as: 'anonymous' }), 'use one of clerk, bank'],
    ['no messages', declared({ on: {} }), 'maps 0 types of messages'],
    ['an unknown answer', declared({ refusals: 'drop' }), "write 'refuse' or 'acknowledge'"],
    ['a mapping by hand', declared({ on: { paid: { run: 'pay' } } }), 'is not made by `message('],
    [
      'no schema',
      declared({ on: { paid: untyped(claim, 'pay', { payload: {}, given: () => undefined }) } }),
      'has a `payload` that is no schema',
    ],
    [
      'an unknown command',
      declared({ on: { paid: untyped(claim, 'pai', { payload, given: () => undefined }) } }),
      'leads to pai, which is not a command of claim: did you mean pay?',
    ],
    [
      'a command of timers',
      declared({ on: { paid: untyped(claim, 'expire', { payload, given: () => undefined }) } }),
      'which only timers and reactions send',
    ],
    [
      'a command that needs a user',
      declared({ on: { paid: message(claim, 'take', { payload, given: () => undefined }) } }),
      'sets approver to `caller`, but a sender is no user',
    ],
    [
      'an item that needs a user',
      declared({ on: { paid: message(claim, 'note', { payload, given: () => undefined }) } }),
      'sets notes.author to `caller`',
    ],
    [
      'a command without a right',
      declared({ on: { paid: message(claim, 'file', { payload, given: () => undefined }) } }),
      'leads to file of claim, to which bank has no right: give it one, as `file: { bank: true }`',
    ],
    [
      'an aggregate of another domain',
      declared({ on: { paid: message(other, 'make', { payload, given: () => undefined }) } }),
      'leads to other, which is not an aggregate of the domain: use one of claim',
    ],
    [
      'users',
      declared({ on: { paid: untyped(user, 'register', { payload, given: () => undefined }) } }),
      'leads to user, which is not an aggregate',
    ],
  ])('with %s is refused', ([, given, says]) => {
    expect(() => assembled(given)).toThrow(says);
  });

  test('is declared once', () => {
    expect(() => assembled(declared({}), declared({}))).toThrow('There are two senders named bank');
  });

  test('takes a command that sets an optional field to the caller', () => {
    expect(assembled(declared({})).senders).toHaveLength(1);
  });
});

describe('a signature', () => {
  const hmac = {
    ...{ scheme: 'hmac', secrets: 'BANK_SECRETS', header: 'X-Signature' },
    ...{ id: { header: 'X-Id' }, type: { field: 'event.type' } },
  } as const;
  test.for<[string, object, string]>([
    ['no scheme', {}, 'has no known `scheme`'],
    ['another scheme', { scheme: 'basic' }, 'use standard-webhooks, github, stripe, hmac or jws'],
    [
      'a secret in the source',
      { scheme: 'stripe', secrets: 'whsec_abc' },
      'the secret itself is never in the source',
    ],
    ['no secret', { scheme: 'github' }, 'the name of a setting'],
    ['no header', { ...hmac, header: undefined }, 'the header with the digest'],
    ['no id', { ...hmac, id: undefined }, 'needs `id`'],
    ['no type', { ...hmac, type: undefined }, 'needs `type`'],
    [
      'a place of both kinds',
      { ...hmac, id: { header: 'X-Id', field: 'id' } },
      'must be a header or a field',
    ],
    ['a weak digest', { ...hmac, digest: 'sha1' }, "write 'sha256' or 'sha512'"],
    ['another encoding', { ...hmac, encoding: 'utf8' }, "write 'hex' or 'base64'"],
    ['no body in what it signs', { ...hmac, signs: '{id}' }, 'must contain {body}'],
    ['a strange word in what it signs', { ...hmac, signs: '{url}{body}' }, 'must contain {body}'],
    ['a time without a header', { ...hmac, signs: '{timestamp}.{body}' }, 'name both, or neither'],
    ['a time that is not signed', { ...hmac, timestamp: 'X-Time' }, 'name both, or neither'],
    ['a signed id in the body', { ...hmac, id: { field: 'id' }, signs: '{id}{body}' }, 'must be in a header'],
    ['no algorithm', { scheme: 'jws', keys: 'BANK_KEYS', algorithms: ['none'] }, 'takes the algorithm none'],
    [
      'a shared secret',
      { scheme: 'jws', keys: 'BANK_KEYS', algorithms: ['HS256'] },
      'for a shared secret use hmac',
    ],
  ])('with %s is refused', ([, given, says]) => {
    expect(() => assembled(declared({ signature: given as Signature }))).toThrow(says);
  });
});

test('the compiler knows commands and their forms', () => {
  // @ts-expect-error There is no such command.
  message(claim, 'pai', { payload, given: () => undefined });
  // @ts-expect-error Only timers send it.
  message(claim, 'expire', { payload, given: () => undefined });
  // @ts-expect-error It changes an existing claim.
  message(claim, 'pay', { payload, given: () => ({}) });
  // @ts-expect-error It has no form.
  message(claim, 'pay', { payload, given: () => ({ id: 1, form: { purpose: 'x' } }) });
  // @ts-expect-error The purpose is a text.
  message(claim, 'file', { payload, given: () => ({ form: { purpose: 5 } }) });
  // @ts-expect-error The message has no such field.
  message(claim, 'pay', { payload, given: (given) => ({ id: given.calim }) });
  // @ts-expect-error There is no such role.
  sender(base, 'bank', { ...usual, as: 'bnak' });
  expect(
    message(claim, 'file', { payload, given: () => ({ form: { purpose: 'x', approverId: 1 } }) }).kind,
  ).toBe('claim');
});
