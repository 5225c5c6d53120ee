import { expect, test } from 'vitest';
import { boards, card, remark } from '../../test/toy/boards.ts';
import { definitionsOf } from '../events/definitions.ts';
import { filtersOf, refersTo } from '../registry/event-references.ts';
import { rulesOf } from './given.ts';
import { membershipsOf } from './memberships.ts';
import { followingOf } from './reactions.ts';

const { given } = rulesOf(boards);
const open = { status: 'present', lostUploads: '' } as const;
const boardsWith = (...ids: readonly number[]) => ({
  board: ids.map((id) => ({ ...open, fields: { id, state: id === 11 ? 'archived' : 'open' } })),
});
const written = ['written', { title: 'The door sticks', urgent: false }] as const;
const moved = { boardId: 9, formerBoardId: 8 };

test('the event has both parents, and the state the new one', () => {
  const sentence = given(card, written).beside(boardsWith(8, 9));
  sentence.when('move', { boardId: 9 }).yields(['moved', moved]);
  expect(given(card, written, ['moved', moved]).state).toMatchObject({
    fields: { board: 9, movedAt: expect.any(String) },
  });
});

test('a move to the same parent changes nothing', () => {
  given(remark, ['made', { text: 'Since May' }])
    .when('move', { cardId: 8 })
    .changesNothing();
});

test('the invariants hold below the new parent', () => {
  given(card, written)
    .beside(boardsWith(8, 11))
    .when('move', { boardId: 11 })
    .refuses('card_not_on_open_board');
});

test('the end after a move names the new parent', () => {
  given(card, written, ['moved', moved])
    .beside(boardsWith(9))
    .when('remove')
    .yields(['removed', { boardId: 9 }]);
});

test('followers of either parent get the event', () => {
  const ofBoards = filtersOf(boards).get('boardId');
  const event = { stream: 'card-5' as never, data: { cardId: 5, ...moved } };
  expect(ofBoards && [8, 9, 10].map((id) => refersTo(ofBoards, id, event))).toEqual([true, true, false]);
});

test('it ends with the parent that it has then, so its reaction follows the reference', () => {
  const kinds = membershipsOf(boards).map(({ kind }) => kind);
  expect(kinds).not.toContain('card');
  expect(
    followingOf(boards)
      ?.leads.get('card.moved')
      ?.map(({ idIn }) => idIn(moved, 'user:1')),
  ).toEqual([9]);
});

test('the schema of the event demands both parents', () => {
  const { schema, example } = definitionsOf(boards).find(({ type }) => type === 'remark.moved') ?? {};
  expect(Object.keys(example ?? {})).toEqual(['remarkId', 'cardId', 'authorId', 'formerCardId']);
  expect(schema?.safeParse({ remarkId: 1, cardId: 2, authorId: 3 }).success).toBe(false);
});
