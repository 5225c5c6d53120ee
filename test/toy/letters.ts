import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, prose, ref, states } from '#kernel/declare/fields.ts';

/** Letters that agents may prepare, and that persons confirm: a creation, an edit with personal data, and an action. */
const base = domain({ name: 'letters', roles: ['writer', 'clerk'] });

const office = base.aggregate('office', {
  label: 'name',
  fields: { name: line(100), head: ref(base.user) },
  events: { opened: { creates: ['name', 'head'] } },
  commands: { open: { emits: 'opened' } },
  rights: { read: { signedIn: true }, write: {} },
});

const letter = base.aggregate('letter', {
  owner: 'author',
  fields: {
    author: ref(base.user),
    office: ref(office),
    text: prose(5_000).personal({ erased: '[deleted]' }),
    status: states('draft', 'sent'),
  },
  events: {
    written: { creates: ['office', 'text'] },
    edited: { changes: ['text'] },
    sent: { sets: { status: 'sent' } },
    removed: { ends: true },
  },
  facts: { ofMyOffice: { office: { head: 'caller' } } },
  commands: {
    create: { emits: 'written', confirm: 'person' },
    edit: { emits: 'edited', when: 'draft', confirm: 'person' },
    send: { emits: 'sent', when: 'draft', confirm: 'person' },
    remove: { emits: 'removed' },
  },
  rights: {
    read: { signedIn: ['own', 'ofMyOffice'] },
    write: { signedIn: 'own', clerk: ['own', 'ofMyOffice'] },
    send: { scope: 'send', clerk: 'ofMyOffice' },
  },
  reactions: { author: { deleted: { run: 'remove' } } },
});

/** The form of its creation can also send it. */
const memo = base.aggregate('memo', {
  owner: 'author',
  fields: { author: ref(base.user), title: line(100), status: states('draft', 'sent') },
  events: { noted: { creates: ['title'] }, sent: { sets: { status: 'sent' } } },
  commands: {
    note: { emits: 'noted', next: ['send'] },
    send: { emits: 'sent', when: 'draft', confirm: 'person' },
  },
  rights: { read: { signedIn: 'own' }, write: { signedIn: 'own' } },
});

/** Administrators may not read it, and clerks may not read one of its fields. Its change needs a reason too. */
const dossier = base.aggregate('dossier', {
  owner: 'author',
  fields: { author: ref(base.user), grade: line(20), salary: line(20).optional() },
  events: { opened: { creates: ['grade', 'salary'] }, revised: { changes: ['grade', 'salary'] } },
  commands: {
    open: { emits: 'opened' },
    revise: { emits: 'revised', confirm: 'person', reason: 'required' },
  },
  rights: {
    read: { signedIn: true, admin: false },
    write: { clerk: true, writer: 'own', admin: false },
  },
  fieldRights: { readSalary: { reads: ['salary'], writer: 'own' } },
});

export const letters = assemble(base, [office, letter, memo, dossier]);
