import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, prose, ref, states } from '#kernel/declare/fields.ts';

/** Records that counsel can put under a hold: below folders, with personal data, and ended in every way there is. */
const base = domain({ name: 'records', roles: ['clerk', 'counsel'], user: { hold: { right: {} } } });
const { aggregate, user } = base;
const staff = { clerk: true, counsel: true } as const;

const folder = aggregate('folder', {
  label: 'title',
  fields: { title: line(100) },
  events: { opened: { creates: ['title'] }, shredded: { ends: true } },
  commands: { open: { emits: 'opened' }, shred: { emits: 'shredded' } },
  rights: { read: staff, write: staff },
});

const record = aggregate('record', {
  owner: 'author',
  parent: 'folder',
  fields: {
    author: ref(user),
    folder: ref(folder),
    text: prose(1_000).personal({ erased: '[deleted]' }),
    status: states('open', 'closed'),
  },
  events: {
    written: { creates: ['text'] },
    closed: { sets: { status: 'closed' } },
    deleted: { ends: true },
  },
  commands: {
    file: { emits: 'written' },
    close: { emits: 'closed', when: 'open' },
    delete: { emits: 'deleted', when: ['open', 'closed'] },
  },
  rights: { read: staff, write: staff },
  reads: 'logged',
  hold: { right: { counsel: true } },
  reactions: {
    folder: { shredded: { run: 'delete' } },
    author: { deleted: { run: 'delete', when: 'open' } },
  },
});

/** Its command ends a record in the same append. */
const purge = aggregate('purge', {
  fields: { record: ref(record), status: states('given', 'done') },
  events: { given: { creates: ['record'] }, done: { sets: { status: 'done' } } },
  commands: {
    give: { emits: 'given' },
    execute: {
      emits: 'done',
      also: { record: ['deleted'] },
      decide: ({ on }) => ['done', on('record', 'deleted')],
    },
  },
  rights: { read: staff, write: staff },
});

/** It is kept for ten years from its termination on, and destroyed then. */
const contract = aggregate('contract', {
  owner: 'keeper',
  fields: { keeper: ref(user), title: line(100), status: states('running', 'terminated') },
  events: {
    signed: { creates: ['title'] },
    terminated: { sets: { status: 'terminated' } },
    destroyed: { ends: true },
  },
  commands: {
    sign: { emits: 'signed' },
    terminate: { emits: 'terminated', when: 'running' },
    destroy: { emits: 'destroyed' },
  },
  rights: { read: staff, write: staff },
  hold: { right: { counsel: true } },
  retain: { for: '10 years', after: 'terminated', run: 'destroy' },
  reactions: { keeper: { deleted: { run: 'destroy' } } },
});

export const records = assemble(base, [folder, record, purge, contract]);
