import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, ref, states, word } from '#kernel/declare/fields.ts';

const department = () => word(/^[a-z]{1,20}$/, 'Must be 1 to 20 small letters.');

/** A domain with rights by an attribute of the users themselves: their department. */
const base = domain({
  name: 'departments',
  roles: ['member'],
  user: {
    read: { anyone: true },
    fields: { department: department().optional() },
    fieldRights: { changeDepartment: { writes: ['department'] } },
  },
});
const { aggregate, user } = base;

const report = aggregate('report', {
  owner: 'author',
  fields: {
    author: ref(user),
    department: department().filter(),
    title: line(100).search('A'),
    cost: integer(0, 1_000_000).optional(),
    status: states('draft', 'filed').filter(),
  },
  events: {
    drafted: { creates: ['department', 'title', 'cost'] },
    edited: { changes: ['department', 'title'] },
    filed: { sets: { status: 'filed' }, subscribe: true },
  },
  facts: { ours: { department: { caller: 'department' } } },
  commands: {
    draft: { emits: 'drafted', when: 'ours' },
    edit: { emits: 'edited', when: 'draft' },
    file: { emits: 'filed', when: 'draft' },
  },
  rights: { read: { member: ['filed', 'ours'] }, write: { member: 'ours' } },
  fieldRights: { readCost: { reads: ['cost'], member: 'ours' } },
});

const remark = aggregate('remark', {
  parent: 'report',
  owner: 'author',
  fields: { report: ref(report), author: ref(user), text: line(100) },
  events: { made: { creates: ['text'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { member: ['own', { report: 'ours' }] }, write: { member: { report: 'ours' } } },
});

export const departments = assemble(base, [report, remark]);
