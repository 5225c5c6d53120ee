import * as z from 'zod';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, ref, states } from '#kernel/declare/fields.ts';
import { message, sender } from '#kernel/sender/sender.ts';

/** Claims that a bank pays, and incidents that other systems report: each sender has a role of its own. */
const base = domain({
  name: 'payouts',
  roles: { employee: 'Claims.', bank: 'Pays.', monitor: 'Reports.' },
  user: { read: { signedIn: true } },
});
const { aggregate, user } = base;

const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    purpose: line(100),
    amount: integer(1, 1_000_000),
    reference: line(40).optional(),
    status: states('open', 'paid', 'failed'),
  },
  events: {
    filed: { creates: ['purpose', 'amount'] },
    paid: { changes: ['reference'], sets: { status: 'paid' } },
    failed: { sets: { status: 'failed' } },
  },
  commands: {
    file: { emits: 'filed' },
    pay: { emits: 'paid', when: 'open', requires: ['reference'] },
    fail: { emits: 'failed', when: 'open' },
    expire: { emits: 'failed', when: 'open', internal: true },
  },
  rights: {
    read: { employee: 'own', bank: true },
    file: { employee: 'own' },
    pay: { bank: true, admin: false },
    fail: { bank: { amount: { max: 1_000 } } },
  },
});

const incident = aggregate('incident', {
  fields: { title: line(100), source: line(60).optional() },
  events: { reported: { creates: ['title', 'source'] } },
  commands: { report: { emits: 'reported' } },
  rights: { read: { signedIn: true }, report: { monitor: true } },
});

const Transfer = z.object({
  data: z.object({ claim: z.int().positive(), reference: z.string() }),
});
const pay = message(claim, 'pay', {
  payload: Transfer,
  given: ({ data }) => ({ id: data.claim, form: { reference: data.reference } }),
});

const bank = sender(base, 'bank', {
  says: 'The bank of the company.',
  signature: { scheme: 'standard-webhooks', secrets: 'BANK_WEBHOOK_SECRETS' },
  as: 'bank',
  on: {
    'transfer.settled': pay,
    'transfer.failed': message(claim, 'fail', {
      payload: z.object({ data: z.object({ claim: z.int() }) }),
      given: ({ data }) => ({ id: data.claim }),
    }),
    'transfer.numbered': message(claim, 'fail', {
      payload: z.object({ number: z.string() }),
      given: ({ number }) => ({ id: Number(number) }),
    }),
    'transfer.odd': message(claim, 'fail', {
      payload: z.unknown(),
      given: () => {
        throw new Error('secret reasons');
      },
    }),
  },
});

const stripe = sender(base, 'stripe', {
  signature: { scheme: 'stripe', secrets: 'STRIPE_WEBHOOK_SECRET' },
  as: 'bank',
  refusals: 'acknowledge',
  on: {
    'payout.paid': message(claim, 'pay', {
      payload: z.object({ data: z.object({ object: z.object({ id: z.string(), claim: z.int() }) }) }),
      given: ({ data: { object } }) => ({ id: object.claim, form: { reference: object.id } }),
    }),
  },
});

const Issue = z.object({ issue: z.object({ title: z.string(), number: z.int() }) });
const github = sender(base, 'github', {
  signature: { scheme: 'github', secrets: 'GITHUB_WEBHOOK_SECRET' },
  as: 'monitor',
  on: {
    'issues.opened': message(incident, 'report', {
      payload: Issue,
      given: ({ issue }) => ({ form: { title: issue.title, source: `issue ${issue.number}` } }),
    }),
  },
});

const probe = sender(base, 'probe', {
  signature: {
    scheme: 'hmac',
    secrets: 'PROBE_SECRETS',
    header: 'X-Probe-Signature',
    digest: 'sha512',
    encoding: 'base64',
    prefix: 'v0=',
    signs: 'v0:{timestamp}:{body}',
    timestamp: 'X-Probe-Time',
    id: { field: 'alarm.id' },
    type: { header: 'X-Probe-Event' },
  },
  as: 'monitor',
  on: {
    alarm: message(incident, 'report', {
      payload: z.object({ alarm: z.object({ text: z.string().nullable() }) }),
      given: ({ alarm }, { id }) =>
        alarm.text === null ? undefined : { form: { title: alarm.text, source: `alarm ${id}` } },
    }),
  },
});

const identity = sender(base, 'identity', {
  signature: { scheme: 'jws', keys: 'IDENTITY_KEYS', issuer: 'https://id.example', audience: 'payouts' },
  as: 'monitor',
  on: {
    'https://id.example/events/takeover': message(incident, 'report', {
      payload: z.object({ sub: z.string() }),
      given: ({ sub }) => ({ form: { title: `Takeover of ${sub}` } }),
    }),
  },
});

const ledger = sender(base, 'ledger', {
  signature: { scheme: 'jws', keys: 'LEDGER_KEYS', header: 'X-JWS-Signature', id: { field: 'id' } },
  as: 'bank',
  on: { 'transfer.settled': pay },
});

export const payouts = assemble(base, [claim, incident], [], [bank, stripe, github, probe, identity, ledger]);
