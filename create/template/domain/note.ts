import { line, markdown, ref, states } from 'annals';
import { aggregate, user } from './base.ts';

const content = ['title', 'text'] as const;

export const note = aggregate('note', {
  owner: 'author',
  fields: {
    author: ref(user),
    title: line(200),
    text: markdown(10_000).optional(),
    status: states('draft', 'published'),
  },
  events: {
    created: { creates: content },
    edited: { changes: content },
    published: { sets: { status: 'published' } },
    deleted: { ends: true },
  },
  commands: {
    create: { emits: 'created' },
    edit: { emits: 'edited' },
    publish: { emits: 'published' },
    delete: { emits: 'deleted' },
  },
  rights: {
    read: { anyone: 'published', member: ['published', 'own'] },
    write: { member: 'own' },
  },
});
