import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { date, file, flag, integer, line, list, picture, ref, states } from '#kernel/declare/fields.ts';

/**
 * A domain of one aggregate with days, and with uploads: of its own, of its items, and of items that not
 * everybody may read.
 */
const base = domain({
  name: 'receipts',
  roles: ['employee', 'clerk'],
  user: { read: { anyone: true } },
});
const { aggregate, user } = base;

const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    purpose: line(200).example('Strasbourg'),
    dueOn: date().optional().filter().example('2026-01-31'),
    bornOn: date().optional().personal(),
    overview: picture().optional(),
    contract: file({ types: ['application/pdf', 'image/png'], bytesMax: 20_000_000 }).optional(),
    items: list(
      {
        spentOn: date().default('2026-01-01'),
        amount: integer(1, 1_000_000).example(4_200),
        receipt: picture().optional(),
        photo: picture({ external: true }).optional(),
        invoice: file({ types: ['application/pdf', 'text/csv'], bytesMax: 200_000 }).optional(),
      },
      { max: 5 },
    ),
    notes: list({ text: line(200), internal: flag().default(false), scan: picture().optional() }, { max: 5 }),
    status: states('draft', 'submitted'),
  },
  events: {
    drafted: { creates: ['purpose', 'dueOn', 'bornOn'] },
    edited: { changes: ['purpose', 'dueOn', 'overview', 'contract'] },
    cleared: { sets: { overview: null } },
    itemAdded: { adds: 'items' },
    itemChanged: { updates: 'items' },
    itemRemoved: { removes: 'items' },
    noteAdded: { adds: 'notes' },
    noteChanged: { updates: 'notes' },
    noteRemoved: { removes: 'notes' },
    submitted: { sets: { status: 'submitted' } },
    deleted: { ends: true },
  },
  commands: {
    draft: { emits: 'drafted' },
    edit: { emits: 'edited', when: 'draft' },
    clear: { emits: 'cleared' },
    addItem: { emits: 'itemAdded', when: 'draft' },
    changeItem: { emits: 'itemChanged', when: 'draft' },
    removeItem: { emits: 'itemRemoved' },
    addNote: { emits: 'noteAdded' },
    changeNote: { emits: 'noteChanged' },
    removeNote: { emits: 'noteRemoved' },
    submit: { emits: 'submitted' },
    delete: { emits: 'deleted' },
  },
  rights: {
    read: { employee: 'own', clerk: ['own', 'submitted'] },
    write: { signedIn: 'own' },
    addNote: { clerk: ['own', 'submitted'] },
    changeNote: { employee: 'own', clerk: ['own', 'submitted'] },
  },
  fieldRights: { readInternal: { items: { notes: { internal: true } }, clerk: true } },
  reactions: { employee: { deleted: { run: 'delete' } } },
});

export const receipts = assemble(base, [claim]);
