import type { Scene } from '#kernel/demo/demo.ts';
import { EDITOR, FIRST_READER, FIRST_WRITER } from './plan.ts';
import { timeOf } from './story-time.ts';

const SUBSTITUTE = FIRST_WRITER;
const WRITER = FIRST_WRITER + 1;

const TITLE = 'What the harbour bridge really cost';

const bodyOf = ({
  paid,
  waiting,
}: {
  readonly paid: string;
  readonly waiting: string;
}): string => `The town has published the accounts of the harbour bridge. We have read all 214 pages, so that you need not.

- Planned: 18.4 million
- Paid so far: ${paid}
- Still open: 2.6 million

${waiting}

The accounts are in the town library, at the desk on the left.`;

const TRUE_FACTS = bodyOf({
  paid: '31.9 million',
  waiting:
    'The greatest single cost is not steel but waiting: for 163 days the cranes stood still, because the town had not applied for a permit.',
});
const FALSE_FACTS = bodyOf({
  paid: '21.9 million',
  waiting:
    'The greatest single cost is steel. For a few days the cranes stood still, because of the weather.',
});
const CONTENT = { title: TITLE, body: TRUE_FACTS, tags: ['cities', 'accounts'] };

/**
 * A writer who is an administrator during the holidays changes facts in another’s article at night. A reader
 * notices; the history shows the actor and the former text, the writer restores it, and the role is revoked.
 */
export const incident = (): { readonly scenes: readonly Scene[]; articleId(): number } => {
  let articleId = 0;
  const edit =
    (by: number, changes: object) =>
    async ({ send }: Parameters<Scene['play']>[0]) =>
      void (await send(by, { type: 'EditArticle', articleId, ...changes }));
  const comment =
    (by: number, text: string, through = {}) =>
    async ({ send }: Parameters<Scene['play']>[0]) =>
      void (await send(by, { type: 'AddComment', articleId, text }, through));
  const roleOfSubstitute =
    (role: string) =>
    async ({ send, idOf }: Parameters<Scene['play']>[0]) =>
      void (await send(EDITOR, { type: 'UpdateUser', userId: idOf(SUBSTITUTE), role }));
  const reading = { client: 'reading-list' };
  const scenes: readonly Scene[] = [
    {
      at: timeOf(17, '09:10'),
      async play({ send }) {
        const draft = { ...CONTENT, title: 'What the bridge cost', tags: ['cities'], cover: null };
        articleId = (await send(WRITER, { type: 'DraftArticle', ...draft })).id;
      },
    },
    { at: timeOf(17, '10:42'), play: edit(WRITER, { title: TITLE, tags: CONTENT.tags }) },
    {
      at: timeOf(17, '11:30'),
      play: async ({ send }) => void (await send(WRITER, { type: 'PublishArticle', articleId })),
    },
    {
      at: timeOf(17, '12:04'),
      play: comment(FIRST_READER + 4, 'I walked past those cranes every morning, and wondered.', reading),
    },
    {
      at: timeOf(18, '19:26'),
      play: comment(FIRST_READER + 5, 'Page 88 is worth the walk to the library.', reading),
    },
    { at: timeOf(20, '16:55'), play: roleOfSubstitute('admin') },
    { at: timeOf(22, '23:41'), play: edit(SUBSTITUTE, { body: FALSE_FACTS }) },
    {
      at: timeOf(23, '07:52'),
      play: comment(
        FIRST_READER + 3,
        'Yesterday it said 31.9 million and 163 days here. Which is it?',
        reading,
      ),
    },
    { at: timeOf(23, '08:20'), play: edit(WRITER, { body: TRUE_FACTS }) },
    { at: timeOf(23, '08:31'), play: roleOfSubstitute('author') },
    {
      at: timeOf(23, '08:47'),
      play: comment(
        WRITER,
        'It is 31.9 million and 163 days, as the accounts say. Somebody changed it overnight; it is restored.',
      ),
    },
  ];
  return { scenes, articleId: () => articleId };
};
