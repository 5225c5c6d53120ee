import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, list, prose, ref, states } from '#kernel/declare/fields.ts';

/** Batches of a medicine, which persons release, recall and certify by their signature. */
const base = domain({ name: 'batches', roles: ['maker', 'releaser'] });
const { aggregate, user } = base;

const batch = aggregate('batch', {
  owner: 'maker',
  label: 'product',
  names: { plural: 'batches' },
  fields: {
    maker: ref(user),
    product: line(100),
    verdict: line(50).optional(),
    report: prose(5_000).optional(),
    note: prose(1_000).optional().personal({ of: 'maker' }),
    status: states('made', 'released', 'recalled'),
    samples: list({ code: line(20) }, { max: 9 }),
  },
  events: {
    made: { creates: ['product', 'note'] },
    noted: { changes: ['note'] },
    released: { changes: ['verdict', 'report'], sets: { status: 'released' } },
    recalled: { sets: { status: 'recalled' } },
    sampled: { adds: 'samples' },
    scrapped: { ends: true },
    ended: { ends: true },
  },
  commands: {
    make: { emits: 'made' },
    note: { emits: 'noted', signed: { meaning: 'authorship' } },
    release: {
      emits: 'released',
      when: 'made',
      requires: ['verdict'],
      signed: { meaning: 'approval' },
      says: 'Release the batch',
    },
    recall: {
      emits: 'recalled',
      when: 'released',
      signed: { meaning: 'responsibility' },
      confirm: 'person',
      reason: 'required',
    },
    sample: { emits: 'sampled', signed: { meaning: 'review' } },
    scrap: { emits: 'scrapped', signed: { meaning: 'responsibility' } },
    end: { emits: 'ended', internal: true },
  },
  rights: { read: { signedIn: true }, write: { maker: 'own', releaser: true } },
  reactions: { maker: { deleted: { run: 'end' } } },
});

/** Its creation is signed. */
const certificate = aggregate('certificate', {
  fields: { batch: ref(batch), text: line(200) },
  events: { issued: { creates: ['batch', 'text'] }, ended: { ends: true } },
  commands: {
    issue: { emits: 'issued', signed: { meaning: 'certification' } },
    end: { emits: 'ended', internal: true },
  },
  rights: { read: { signedIn: true }, write: { releaser: true } },
  reactions: { batch: { scrapped: { run: 'end' }, ended: { run: 'end' } } },
});

export const batches = assemble(base, [batch, certificate]);
