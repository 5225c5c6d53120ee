import { expect, test } from 'vitest';
import { createChannelPair } from '../../test/channel-pair.ts';
import { type Answers, type Channel, openChannel } from './channel.ts';

type Sums = { readonly add: { readonly asked: readonly number[]; readonly answered: number } };

const open = (answers: Answers<Sums>): { readonly channel: Channel<Sums>; disconnect(): void } => {
  const [one, other, { disconnect }] = createChannelPair();
  openChannel<Sums, Sums>(other, answers);
  return { channel: openChannel<Sums, Sums>(one, answers), disconnect };
};
const add = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

test('each request gets its response, in whichever order they come', async () => {
  const { channel } = open({ add: async (asked) => add(asked) });
  expect(
    await Promise.all([
      channel.ask('add', [1, 2]),
      channel.ask('add', [Number.NaN]),
      channel.ask('add', [4]),
    ]),
  ).toEqual([3, Number.NaN, 4]);
});

test('a failure at the other end fails the request', async () => {
  const { channel } = open({
    add() {
      throw new Error('too many');
    },
  });
  await expect(channel.ask('add', [1])).rejects.toThrow('too many');
});

test('a request without a response times out, and fails at once if the other end goes', async () => {
  const { channel, disconnect } = open({ add: () => new Promise(() => {}) });
  await expect(channel.ask('add', [1], 20)).rejects.toThrow('no answer to add within 20 ms');
  const asked = channel.ask('add', [1]);
  disconnect();
  await expect(asked).rejects.toThrow('the other process has ended');
  await expect(channel.ask('add', [1])).rejects.toThrow('the other process has ended');
});
