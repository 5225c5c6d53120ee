import { expect, test } from 'vitest';
import { openMessages } from './messages.ts';

const stream =
  'id: a-1\ndata: {"type":"article.published"}\n\n:\n\nid: a-2\n\nretry: 700\n\nevent: problem\ndata: {"code":"invalid_token"}\n\n';
const messages = [
  { id: 'a-1', data: '{"type":"article.published"}' },
  { id: 'a-2' },
  { retryMs: 700 },
  { event: 'problem', data: '{"code":"invalid_token"}' },
];

test('messages are the same however the text is split', () => {
  for (const size of [1, 2, 7, stream.length]) {
    const take = openMessages();
    const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, index) =>
      stream.slice(index * size, (index + 1) * size),
    );
    expect(pieces.flatMap((piece) => [...take(piece)])).toEqual(messages);
  }
});

test('a message cut off before its empty line is dropped', () => {
  expect(openMessages()('id: a-1\ndata: {}')).toEqual([]);
});

test('a colon within a value stays', () => {
  expect(openMessages()('data: {"at":"12:30"}\n\n')).toEqual([{ data: '{"at":"12:30"}' }]);
});
