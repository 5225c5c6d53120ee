import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, list, picture, prose, ref, states } from '#kernel/declare/fields.ts';
import { sum } from '#kernel/declare/view.ts';

/**
 * A desk with auditors, and with everything that they could be allowed by mistake: commands for everybody, rights that
 * read and write, requests of agents. Only one aggregate logs its reads, and not all of them.
 */
const base = domain({
  name: 'desk',
  roles: ['clerk', 'guest'],
  auditors: true,
  user: {
    read: { signedIn: true },
    fields: { phone: line(30).optional().personal() },
    fieldRights: { contact: { reads: ['phone'], writes: ['phone'], clerk: true, signedIn: 'caller' } },
  },
});
const { aggregate, user, view } = base;

const file = aggregate('file', {
  owner: 'clerk',
  label: 'title',
  fields: {
    clerk: ref(user),
    title: line(60).search('A'),
    secret: prose(200).optional(),
    scan: picture({ external: true }).optional(),
    pages: list({ text: line(80) }, { max: 9 }),
    status: states('open', 'closed'),
  },
  events: {
    opened: { creates: ['title', 'secret'] },
    changed: { changes: ['title', 'secret', 'scan'] },
    pageAdded: { adds: 'pages' },
    closed: { sets: { status: 'closed' } },
    shredded: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    change: { emits: 'changed' },
    addPage: { emits: 'pageAdded' },
    close: { emits: 'closed', confirm: 'person' },
    shred: { emits: 'shredded' },
  },
  rights: { read: { clerk: true }, write: { clerk: true } },
  fieldRights: { readSecret: { reads: ['secret'], clerk: 'own' } },
});

/** Below a file, and as visible. Its reads are logged in part, and served also if they cannot be. */
const bill = aggregate('bill', {
  parent: 'file',
  fields: { file: ref(file), amount: integer(0, 9_999), note: line(60).optional() },
  events: { made: { creates: ['amount', 'note'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { as: 'file' }, write: { clerk: true }, readers: { clerk: true } },
  reads: { log: ['amount'], ifUnwritable: 'serve' },
});

/** Everybody reads and writes it, also without signing in. */
const remark = aggregate('remark', {
  fields: { text: line(80) },
  events: { left: { creates: ['text'] }, changed: { changes: ['text'] } },
  commands: { leave: { emits: 'left' }, change: { emits: 'changed' } },
  rights: { read: { anyone: true }, write: { anyone: true } },
});

const spending = view('spending', {
  of: [bill],
  key: { bill: ref(bill) },
  values: { amount: sum() },
  from: { bill: { by: { bill: 'id' }, on: { made: { gives: { amount: 'amount' } } } } },
  read: { clerk: true },
});

export const audited = assemble(base, [file, bill, remark], [spending]);
