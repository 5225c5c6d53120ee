import { expect, test } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { boards } from '../../test/toy/boards.ts';
import { idsIn } from './visible-data.ts';

test('the ids of a move are those of both parents', () => {
  const data = { cardId: 3, boardId: 2, formerBoardId: 1, authorId: 9 };
  expect(
    idsIn(
      boards,
      { type: 'card.moved', stream: 'card-3' as StreamName },
      { ...data, title: 'The door sticks' },
    ),
  ).toEqual(data);
});
