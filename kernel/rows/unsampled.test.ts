import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, ref } from '../declare/fields.ts';
import { definitionOf } from './definition.ts';

const unsampledOf = (subject: ReturnType<typeof line>) => {
  const base = domain({ name: 'letters', roles: ['writer'] });
  const letter = base.aggregate('letter', {
    owner: 'writer',
    fields: {
      writer: ref(base.user),
      subject,
      title: line(9).search('A'),
      note: line(9).optional().personal(),
    },
    events: { sent: { creates: ['subject', 'title', 'note'] } },
    commands: { send: { emits: 'sent' } },
    rights: { read: { anyone: true }, write: { writer: true } },
  });
  return definitionOf(assemble(base, [letter]).kinds.letter as never).unsampled;
};

test('PostgreSQL samples no personal column, nor the words of one that can be searched', () => {
  expect(unsampledOf(line(9).personal().search('B'))).toBe(
    'alter table letters alter column subject set statistics 0, alter column note set statistics 0, alter column search set statistics 0',
  );
  expect(unsampledOf(line(9).search('B'))).toBe('alter table letters alter column note set statistics 0');
});
